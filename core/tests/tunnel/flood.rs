//! Datagrams from unauthenticated peers: random ones, changed ones, old ones, hellos with another key.

use std::net::SocketAddr;

use allocation_counter::measure;
use thalweg_core::rng::Rng;
use thalweg_core::session::secure::{Association, Config, Key};
use thalweg_core::session::tunnel::Event;
use thalweg_core::session::{MAX_DATAGRAM, Session};
use thalweg_core::time::Span;

use crate::tunnel::forge::forge;
use crate::tunnel::pair::{Pair, there};

/// The number of datagrams: ten million in the long tier.
fn count() -> u32 {
    if std::env::var_os("THALWEG_TEST_ALL").is_some() { 10_000_000 } else { 50_000 }
}

/// Sends a hello with a good cookie and another key.
fn send_hellos(pair: &mut Pair, from: SocketAddr) {
    let other = Key::shared(&mut pair.entropy);
    let (mut buf, mut plain) = ([0; MAX_DATAGRAM], [0; MAX_DATAGRAM]);
    let entropy = pair.entropy.fork();
    let mut client = Association::initiate(Config::default(), &other, there(), pair.now, entropy).expect("a key");
    for _ in 0..2 {
        let Some(transmit) = client.poll_transmit(pair.now, &mut buf) else { return };
        let _ = pair.server.handle_datagram(pair.now, from, &buf[..transmit.len]);
        while let Some(transmit) = pair.server.poll_transmit(pair.now, &mut buf) {
            if transmit.to == from {
                let _ = client.handle_datagram(pair.now, there(), &buf[..transmit.len], &mut plain);
            }
        }
    }
}

#[test]
fn live_session_survives_a_flood_from_unknown_peers() {
    let mut pair = Pair::new();
    let id = pair.client.open(pair.now).expect("room");
    pair.client.write(id, &[1; 5000]);
    pair.run(Span::from_secs(1));
    assert_eq!(pair.received[&id].len(), 5000);
    pair.events.clear();
    let (mut rng, mut forged, mut buf) = (Rng::new(11), Vec::with_capacity(MAX_DATAGRAM), [0; MAX_DATAGRAM]);
    let seen = pair.seen.clone();
    let mut written = 0_u64;
    let flood = measure(|| {
        for nth in 0..count() {
            forge(&mut rng, &seen, &mut forged);
            let from = SocketAddr::from(((rng.u32()).to_be_bytes(), rng.u32() as u16));
            let _ = pair.server.handle_datagram(pair.now, from, &forged);
            while let Some(transmit) = pair.server.poll_transmit(pair.now, &mut buf) {
                assert!(transmit.to != from || transmit.len <= forged.len(), "more is said than was asked");
            }
            if nth % 5000 == 0 {
                send_hellos(&mut pair, from);
            }
            if nth % 1000 == 0 {
                // The live session sends a counter.
                pair.client.write(id, &written.to_be_bytes());
                written += 1;
                pair.run(Span::from_millis(10));
                let received = std::mem::take(pair.received.get_mut(&id).expect("open"));
                let expected = if nth == 0 { 5000 } else { 0 };
                assert_eq!(received[expected..], (written - 1).to_be_bytes(), "at once, and nothing else");
                assert!(pair.events.iter().all(|event| matches!(event, Event::Readable(_))), "{:?}", pair.events);
                pair.events.clear();
                pair.others.clear();
            }
        }
        pair.run(Span::from_secs(30));
        pair.others = Vec::new();
    });
    assert!(pair.events.is_empty(), "{:?}", pair.events);
    assert_eq!(pair.server.links().count(), 1);
    assert!(flood.bytes_current < 64 << 10, "{} bytes are kept", flood.bytes_current);
    assert!(flood.bytes_max < 1 << 20, "{} bytes at once", flood.bytes_max);
}
