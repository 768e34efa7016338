//! A live stream, in the clear or with a key, over a path that the input controls: it drops, duplicates, corrupts, truncates
//! and forges datagrams.
//! Nothing panics or hangs. The receiver delivers no more packets than arrived nor, if none was modified, than were
//! sent.
#![no_main]

#[path = "../../lab/tests/live/keys.rs"]
mod keys;
#[path = "../../lab/tests/live/tap.rs"]
mod tap;

use core::net::SocketAddr;

use libfuzzer_sys::fuzz_target;
use keys::Keys;
use thalweg_core::law::redundancy::{Choice, Law, fixed::Fixed, none};
use thalweg_core::law::redundancy::geneva::{Geneva, Parameters};
use thalweg_core::session::live::receiver;
use thalweg_core::session::live::sender::{self, Breaker, SourceId};
use tap::Tap;
use thalweg_core::session::live::{End, Latency, Media, Playout};
use thalweg_core::session::{MAX_DATAGRAM, Session};
use thalweg_core::time::{Span, Time};
use thalweg_core::units::{Rate, Seconds};

/// More transmissions than this in one step mean an endless loop.
const MANY: usize = 10_000;

fuzz_target!(|data: &[u8]| {
    let Some((&[kind, rates, law], script)) = data.split_first_chunk::<3>() else { return };
    let (receiver_address, here) = (SocketAddr::from(([192, 0, 2, 1], 6000)), SocketAddr::from(([192, 0, 2, 2], 5000)));
    let mut now = Time::ZERO;
    let mut keys = (kind & 128 != 0).then(|| Keys::new(1));
    let mut receiver = Keys::receiver(keys.as_mut(), receiving(kind, here), now, 1);
    let to = if calls(kind) { here } else { receiver_address };
    let mut sender = Keys::sender(keys.as_mut(), sending([kind, rates, law], to), now, 2);
    let (mut tap, mut script) = (Tap::default(), script.iter().copied());
    let (mut given, mut heard, mut out, mut is_true) = (0, 0, 0, true);
    while let Some(step) = script.next() {
        now += Span::from_micros(u64::from(step >> 4) * 700);
        sender.handle_media(now, &[step; 188][..usize::from(step >> 1) + 1]);
        given += 1;
        let there = carry(&mut sender, &mut receiver, (End::Sender, here), now, (&mut tap, &mut script));
        let back = carry(&mut receiver, &mut sender, (End::Receiver, receiver_address), now, (&mut tap, &mut script));
        heard += there.datagrams;
        is_true &= there.is_true && back.is_true;
        while receiver.poll_media(now).is_some() {
            out += 1;
            // Each is a source packet that arrived, or one that was recovered with a repair packet of its own.
            assert!(out <= heard, "{out} of {heard} that came");
        }
        assert!(!is_true || out <= given, "{out} of {given} that went in");
    }
});

/// The datagrams that one end has received from the other.
struct Arrived {
    datagrams: u64,
    /// True if all of them arrived unmodified.
    is_true: bool,
}

/// Returns whether the receiver calls.
fn calls(kind: u8) -> bool {
    kind & 32 != 0
}

fn receiving(kind: u8, sender: SocketAddr) -> receiver::Config {
    let playout = if kind & 1 == 0 { Playout::Asap } else { Playout::Constant };
    let call = calls(kind).then_some(sender);
    let latency = if kind & 64 == 0 { Span::from_millis(30).into() } else { Latency::Auto };
    receiver::Config { latency, playout, call, ..receiver::Config::default() }
}

/// GENEVA with constants outside the paper's: the shortest block, the longest, no window, a large one.
fn law(draw: u8) -> Geneva {
    let paper = Parameters::default();
    let syn = [paper.syn.0, 1e-4, 1.0, 0.02][usize::from(draw & 3)];
    let (fwnd_min, fwnd_max) = [(8.0, 60.0), (0.0, 60.0), (0.0, 0.0), (200.0, 1000.0)][usize::from(draw >> 2 & 3)];
    let p_max = if draw & 16 == 0 { paper.p_max } else { 0.5 };
    Geneva::new(Parameters { syn: Seconds(syn), fwnd_min, fwnd_max, p_max, ..paper })
        .expect("values within their ranges")
}

fn sending([kind, rates, draw]: [u8; 3], to: SocketAddr) -> sender::Config {
    sender::Config {
        to,
        listens: calls(kind),
        fec_to: None,
        media: Media::Opaque,
        repair: match kind >> 1 & 3 {
            0 => Fixed::new(5).into(),
            1 => none::None.into(),
            2 => Law::new(&"auto".parse::<Choice>().expect("it is in the registry"), &()).expect("its defaults"),
            _ => Law::Geneva(law(draw)),
        },
        latency: match draw >> 5 & 3 {
            0 => Span::from_millis(30).into(),
            1 => Span::from_millis(5).into(),
            _ => Latency::Auto,
        },
        rate: ["", "tfrc", "cubic", "fixed:1mbit"][usize::from(rates >> 6 & 3)].parse().ok(),
        max_rate: [None, Some(Rate::from_bps(64_000)), Some(Rate::from_mbps(1)), Some(Rate::from_mbps(100))]
            [usize::from(rates & 3)],
        block: [None, Some(Span::ZERO), Some(Span::from_millis(5)), Some(Span::from_secs(1))]
            [usize::from(rates >> 2 & 3)],
        source_id: if kind & 8 == 0 { SourceId::Explicit } else { SourceId::Plain },
        breaker: [Breaker::RepairFirst, Breaker::Rfc8083, Breaker::Off, Breaker::RepairFirst]
            [usize::from(rates >> 4 & 3)],
        answer_timeout: (kind & 16 != 0).then_some(Span::from_secs(10)),
    }
}

/// Delivers one end's datagrams to the other, as modified by the script.
fn carry<F: Session, T: Session>(
    from: &mut F,
    to: &mut T,
    (end, address): (End, SocketAddr),
    now: Time,
    (tap, script): (&mut Tap, &mut impl Iterator<Item = u8>),
) -> Arrived {
    let mut arrived = Arrived { datagrams: 0, is_true: true };
    while from.poll_event().is_some() {}
    if from.poll_timeout().is_some_and(|at| at <= now) {
        from.handle_timeout(now);
    }
    let mut buf = [0; MAX_DATAGRAM];
    for sent in 0.. {
        assert!(sent < MANY, "sends for ever");
        let Some(transmit) = from.poll_transmit(now, &mut buf) else { break };
        let datagram = &mut buf[..transmit.len];
        tap.read(datagram);
        let fate = script.next().unwrap_or(0);
        let at = usize::from(script.next().filter(|_| fate > 127).unwrap_or(0)) % datagram.len().max(1);
        arrived.datagrams += match fate {
            128..=159 => 0,
            160..=175 => 2,
            _ => 1,
        };
        arrived.is_true &= fate < 176;
        match fate {
            0..=127 => drop(to.handle_datagram(now, address, datagram)),
            128..=159 => {}
            160..=175 => (0..2).for_each(|_| drop(to.handle_datagram(now, address, datagram))),
            176..=207 => {
                // Half of them are modified by an attacker that has read the secret on the path.
                match fate & 1 {
                    0 => datagram[at] ^= fate,
                    _ => tap.change(end, datagram, |datagram| datagram[at] ^= fate),
                }
                drop(to.handle_datagram(now, address, datagram));
            }
            208..=223 => drop(to.handle_datagram(now, address, &datagram[..at])),
            224..=239 => {
                let made_up: Vec<u8> = script.by_ref().take(at).collect();
                drop(to.handle_datagram(now, address, &made_up));
            }
            240.. => drop(to.handle_datagram(now, SocketAddr::from(([198, 51, 100, fate], 9)), datagram)),
        }
    }
    arrived
}
