//! The law on a path without queues: its choices, the real code, losses of a two-state channel, a deadline.

use std::collections::VecDeque;

use super::super::Coded;
use super::super::gilbert_elliott::GilbertElliott;
use super::*;
use crate::code::rlc::{Config, Decoder, Density, Encoder, RepairId};
use crate::rng::Rng;

/// A channel of two states: probabilities from good to bad and back, and of a loss in the bad state.
#[derive(Clone, Copy, Debug)]
struct Losses {
    into: f64,
    out: f64,
    bad: f64,
}

const BURSTS: Losses = Losses { into: 0.005, out: 0.3, bad: 0.7 };
const LONG_BURSTS: Losses = Losses { into: 0.02, out: 0.3, bad: 0.7 };
const INDEPENDENT: Losses = Losses { into: 0.05, out: 0.95, bad: 1.0 };

/// 10 Mb/s in packets of 1316 bytes.
const SLOT: Span = Span::from_micros(1053);
/// Ideal feedback has time for more repair than it takes on sockets, whose price is higher.
const PRICE: f64 = 0.0006;
const ROUND_TRIP: Span = Span::from_millis(100);
/// Three later packets show a loss.
const NOTICE: Span = Span::from_micros(100_000 + 3 * 1053);
/// Opportunities for repair per original.
const CHANCES: u64 = 2;
const CODE: Config = Config { window: 4095, buffer: 8192, longest: 1 };

#[derive(Debug)]
struct Outcome {
    /// Originals that were not there in time, and all of them.
    late: u64,
    of: u64,
    /// Packets beside media, per original.
    overhead: f64,
}

struct Sender {
    law: Deadline,
    window: Window,
    losses: GilbertElliott,
    code: Encoder,
    key: u16,
    /// Packets whose outcome is not known, with the time of departure and whether they are lost.
    in_flight: VecDeque<(Time, Coded, bool)>,
}

impl Sender {
    fn learn(&mut self, now: Time) {
        while let Some((_, packet, is_lost)) = self.in_flight.front().copied().filter(|(at, ..)| *at + NOTICE <= now) {
            self.in_flight.pop_front();
            self.losses.outcome(is_lost);
            if is_lost { self.window.lost(&packet) } else { self.window.arrived(&packet) }
        }
        self.losses.in_flight(self.in_flight.len() as u32);
    }

    fn choose(&mut self, now: Time, budget: Span) -> Option<Coded> {
        self.window.release(now, budget);
        let channel = self.losses.channel(self.in_flight.len() as u32);
        let path = Path { channel, notice: NOTICE, again: NOTICE, budget, slot: SLOT };
        self.law.choose(&View { now, queue: &self.window, path }).packet(self.window.queue())
    }
}

/// Sends `originals` originals, of use until `latency` after their arrival without delay.
fn run(losses: Losses, latency: Span, originals: u64, seed: u64) -> Outcome {
    let mut rng = Rng::new(seed).fork("losses");
    let mut sender = Sender {
        law: Deadline::new(Parameters { price: PRICE }).expect("in range"),
        window: Window::new(0),
        losses: GilbertElliott::new(0.01, 2000.0).expect("in range").with_gap(2),
        code: Encoder::new(CODE).expect("in range"),
        key: 0,
        in_flight: VecDeque::new(),
    };
    let mut receiver = Decoder::new(CODE).expect("in range");
    let mut arriving: VecDeque<(Time, Coded, u16, Vec<u8>)> = VecDeque::new();
    let (mut is_bad, mut repairs, mut late) = (false, 0, 0);
    let (start, budget) = (Time::ZERO + Span::from_secs(1), latency.saturating_sub(SLOT));
    // The law knows nothing of the path at first.
    let warm = originals / 10;
    for original in 0..originals {
        sender.window.push(start + SLOT * original);
        sender.code.push(&[original as u8]).expect("its buffer holds the window");
        for nth in 0..=CHANCES {
            let now = start + SLOT * original + SLOT * nth / (CHANCES + 1);
            sender.learn(now);
            let new = Coded { first: original, last: original, p_useless: 0.0 };
            let Some(packet) = (if nth == 0 { Some(new) } else { sender.choose(now, budget) }) else { continue };
            sender.window.sent(now, &packet);
            is_bad = rng.chance(if is_bad { 1.0 - losses.out } else { losses.into });
            let is_lost = is_bad && rng.chance(losses.bad);
            sender.in_flight.push_back((now, packet, is_lost));
            sender.key = sender.key.wrapping_add(1);
            repairs += u64::from(nth > 0 && original >= warm);
            if !is_lost {
                let mut symbol = vec![0; 3];
                let id = RepairId { first: packet.first, last: packet.last, key: sender.key, density: Density::FULL };
                sender.code.repair(&id, &mut symbol).expect("all of the window is kept");
                arriving.push_back((now + ROUND_TRIP / 2, packet, sender.key, symbol));
            }
        }
        sender.code.forget(sender.window.queue().b());
        // At the receiver, now.
        let now = start + SLOT * original;
        while let Some((_, packet, key, symbol)) = arriving.pop_front_if(|(at, ..)| *at <= now) {
            let id = RepairId { first: packet.first, last: packet.last, key, density: Density::FULL };
            let _ = if packet.is_uncoded() {
                receiver.handle_original(packet.first, &[packet.first as u8])
            } else {
                receiver.handle_repair(&id, &symbol)
            };
        }
        let due = now - ROUND_TRIP / 2 - latency;
        let expired = due.since(start).as_nanos() / SLOT.as_nanos();
        while let Some((number, symbol)) = receiver.poll_original() {
            assert_eq!(symbol, [number as u8]);
        }
        while receiver.edge() < expired && due > start {
            late += u64::from(receiver.edge() >= warm);
            let next = receiver.edge() + 1;
            receiver.skip(next);
            while receiver.poll_original().is_some() {}
        }
    }
    let of = originals - warm - ((latency + ROUND_TRIP / 2).as_nanos() / SLOT.as_nanos());
    Outcome { late, of, overhead: repairs as f64 / (originals - warm) as f64 }
}

/// A bar of live streams against SRT 1.5.1 on the same channel, round trip 100 ms, 10 Mb/s.
struct Bar {
    name: &'static str,
    losses: Losses,
    /// The time for repair, ms: SRT's latency and 5, by which it delivers later than that.
    latency: u64,
    /// The most loss after repair, and the most bytes beyond the media, of which RTP and payload IDs take [`HEADERS`].
    loss: f64,
    bytes: f64,
    /// The length of the run: rare events, each of which makes many originals late, need a longer one.
    originals: u64,
}

/// Long bursts at 45 ms are not among them: there the bytes are bounded by the rate that repair may have, not by its worth.
const BARS: [Bar; 9] = [
    bar("bursts", BURSTS, 45, 5.9e-4 / 4.0, 0.40, 400_000),
    bar("bursts", BURSTS, 85, 5.9e-4 / 10.0, 0.30, 400_000),
    bar("bursts", BURSTS, 125, 1.2e-4 / 10.0, 0.08, 100_000),
    bar("bursts", BURSTS, 205, 1.3e-4 / 10.0, 0.08, 100_000),
    bar("independent", INDEPENDENT, 45, 5.3e-4 / 10.0, 0.32, 400_000),
    bar("independent", INDEPENDENT, 125, 2.3e-3 / 20.0, 0.18, 100_000),
    bar("independent", INDEPENDENT, 205, 2.1e-3 / 20.0, 0.18, 100_000),
    bar("long bursts", LONG_BURSTS, 85, 4.4e-3 / 8.0, 0.42, 100_000),
    bar("long bursts", LONG_BURSTS, 125, 2.2e-3 / 8.0, 0.18, 100_000),
];

const fn bar(name: &'static str, losses: Losses, latency: u64, loss: f64, bytes: f64, originals: u64) -> Bar {
    Bar { name, losses, latency, loss, bytes, originals }
}

const HEADERS: f64 = 0.015;

/// The largest number of losses that 95 of 100 samples with `mean` losses do not exceed (Poisson).
fn limit(mean: f64) -> u64 {
    let (mut term, mut sum, mut n) = (libm::exp(-mean), 0.0, 0);
    loop {
        sum += term;
        if sum >= 0.95 {
            return n;
        }
        n += 1;
        term *= mean / n as f64;
    }
}

#[test]
fn law_meets_the_bars_of_live_streams_over_ideal_feedback() {
    let mut fails = false;
    for Bar { name, losses, latency, loss, bytes, originals } in BARS {
        let Outcome { late, of, overhead } = run(losses, Span::from_millis(latency), originals, 1);
        // A burst loses three packets on average, which count as one.
        let most = 3 * limit(loss * of as f64 / 3.0);
        println!("{name}, {latency} ms: {late} of {of} late, at most {most}; {:.1} % of repair", overhead * 100.0);
        fails |= overhead > bytes - HEADERS || late > most;
    }
    assert!(!fails);
}
