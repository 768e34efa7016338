//! Decisions of the law of live repair ([`Deadline`]) in a stream through bursts of losses.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use thalweg_core::law::schedule::deadline::{Deadline, Parameters, Path, Window};
use thalweg_core::law::schedule::gilbert_elliott::GilbertElliott;
use thalweg_core::law::schedule::{Coded, Schedule, View};
use thalweg_core::rng::Rng;
use thalweg_core::time::{Span, Time};
use thalweg_core::units::{Bytes, Rate};

/// Media in a packet.
const PACKET: Bytes = Bytes(1316);
const ROUND_TRIP: Span = Span::from_millis(100);
/// Gilbert-Elliott's probabilities: into a burst, out of it, and of a loss in it.
const BURSTS: (f64, f64, f64) = (0.005, 0.3, 0.7);
/// Opportunities for repair for each original, as in a session.
const CHANCES: u64 = 2;
/// Loss of the unknown path, and outcomes over which it is averaged, as in a session.
const PRIOR: (f64, f64) = (0.01, 2000.0);

/// Decisions of a stream.
#[derive(Clone, Copy, Debug)]
pub struct Decisions {
    /// All decisions.
    pub count: u32,
    /// The time of one, on average.
    pub mean: Duration,
    /// Packets of repair, per original.
    pub repair: f64,
}

/// Sends media at `rate` for `seconds`, of use for repair until `budget` after its production.
pub fn decide(rate: Rate, budget: Span, seconds: u64) -> Decisions {
    let slot = rate.time_for(PACKET);
    let notice = ROUND_TRIP + slot * 3;
    let mut law = Deadline::new(Parameters::default()).expect("the defaults");
    let mut losses = GilbertElliott::new(PRIOR.0, PRIOR.1).expect("constants in range");
    let (mut window, mut rng, mut is_bad) = (Window::new(0), Rng::new(1), false);
    let mut in_flight: VecDeque<(Time, Coded, bool)> = VecDeque::new();
    let (mut spent, mut count, mut repairs) = (Duration::ZERO, 0, 0);
    let originals = Span::from_secs(seconds).as_nanos() / slot.as_nanos();
    for original in 0..originals {
        for nth in 0..=CHANCES {
            let now = Time::ZERO + slot * original + slot * nth / (CHANCES + 1);
            while let Some((_, packet, is_lost)) = in_flight.pop_front_if(|(at, ..)| *at + notice <= now) {
                losses.outcome(is_lost);
                if is_lost { window.lost(&packet) } else { window.arrived(&packet) }
            }
            let packet = if nth == 0 {
                window.push(now);
                Some(Coded { first: original, last: original, p_useless: 0.0 })
            } else {
                window.release(now, budget);
                losses.in_flight(in_flight.len() as u32);
                let channel = losses.channel(in_flight.len() as u32);
                let path = Path { channel, notice, again: notice, budget, slot };
                let began = Instant::now();
                let decision = law.choose(&View { now, queue: &window, path });
                spent += began.elapsed();
                count += 1;
                decision.packet(window.queue())
            };
            let Some(packet) = packet else { continue };
            repairs += u64::from(nth > 0);
            window.sent(now, &packet);
            let (into, out, lost) = BURSTS;
            is_bad = rng.chance(if is_bad { 1.0 - out } else { into });
            in_flight.push_back((now, packet, is_bad && rng.chance(lost)));
        }
    }
    Decisions { count, mean: spent / count.max(1), repair: repairs as f64 / originals as f64 }
}
