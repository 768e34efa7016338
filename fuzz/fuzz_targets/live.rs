//! A live stream over a path that does whatever the input says: drops, repeats, damages, cuts and makes up datagrams.
//! Nothing panics, nothing hangs, and nobody hands out more than went in.
#![no_main]

use core::net::SocketAddr;

use libfuzzer_sys::fuzz_target;
use thalweg_core::law::redundancy::geneva::{Geneva, Parameters};
use thalweg_core::rng::Rng;
use thalweg_core::session::live::receiver::{self, Receiver};
use thalweg_core::session::live::sender::{self, Breaker, Repair, Sender, SourceId};
use thalweg_core::session::live::{Media, Playout};
use thalweg_core::session::{MAX_DATAGRAM, Session};
use thalweg_core::time::{Span, Time};

/// More than this in one step is a loop without end.
const MANY: usize = 10_000;

fuzz_target!(|data: &[u8]| {
    let Some((&kind, script)) = data.split_first() else { return };
    let (there, here) = (SocketAddr::from(([192, 0, 2, 1], 6000)), SocketAddr::from(([192, 0, 2, 2], 5000)));
    let mut now = Time::ZERO;
    let mut receiver = Receiver::new(receiving(kind), &Rng::new(1));
    let mut sender = Sender::new(sending(kind, there), now, &Rng::new(2));
    let mut script = script.iter().copied();
    while let Some(step) = script.next() {
        now += Span::from_micros(u64::from(step >> 4) * 700);
        sender.handle_media(now, &[step; 188][..usize::from(step >> 1) + 1]);
        carry(&mut sender, &mut receiver, here, now, &mut script);
        carry(&mut receiver, &mut sender, there, now, &mut script);
        assert!((0..MANY).any(|_| receiver.poll_media(now).is_none()));
    }
});

fn receiving(kind: u8) -> receiver::Config {
    let playout = if kind & 1 == 0 { Playout::Asap } else { Playout::Constant };
    receiver::Config { latency: Span::from_millis(30), playout }
}

fn sending(kind: u8, to: SocketAddr) -> sender::Config {
    sender::Config {
        to,
        fec_to: None,
        media: Media::Opaque,
        repair: if kind & 2 == 0 {
            Repair::Static(5)
        } else {
            Repair::Geneva(Geneva::new(Parameters::default()).expect("the paper's constants"))
        },
        latency: Span::from_millis(30),
        max_rate: None,
        block: None,
        source_id: if kind & 4 == 0 { SourceId::Explicit } else { SourceId::Plain },
        breaker: Breaker::RepairFirst,
    }
}

/// Brings what one side sends to the other, as far as the script lets it.
fn carry<F: Session, T: Session>(
    from: &mut F,
    to: &mut T,
    address: SocketAddr,
    now: Time,
    script: &mut impl Iterator<Item = u8>,
) {
    while from.poll_event().is_some() {}
    if from.poll_timeout().is_some_and(|at| at <= now) {
        from.handle_timeout(now);
    }
    let mut buf = [0; MAX_DATAGRAM];
    for sent in 0.. {
        assert!(sent < MANY, "sends for ever");
        let Some(transmit) = from.poll_transmit(now, &mut buf) else { break };
        let datagram = &mut buf[..transmit.len];
        let fate = script.next().unwrap_or(0);
        let at = usize::from(script.next().filter(|_| fate > 127).unwrap_or(0)) % datagram.len().max(1);
        match fate {
            0..=127 => drop(to.handle_datagram(now, address, datagram)),
            128..=159 => {}
            160..=175 => (0..2).for_each(|_| drop(to.handle_datagram(now, address, datagram))),
            176..=207 => {
                datagram[at] ^= fate;
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
}
