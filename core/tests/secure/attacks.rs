//! Attacks from the path: replays, copies from another address, changed datagrams.

use proptest::prelude::*;
use thalweg_core::session::secure::{Config, Event, OVERHEAD};
use thalweg_core::time::Span;
use thalweg_core::wire::Error;

use crate::secure::network::{Faults, Network, Packet, at, ms};

#[test]
fn replayed_datagrams_are_refused() {
    let mut network = Network::established(Config::default(), Faults::default(), 1);
    for _ in 0..100 {
        assert!(network.client_send(b"pay ten") && network.server_send(b"paid"));
        network.run(ms(10));
    }
    network.run(ms(100));
    let (received, log) = (network.received.clone(), network.log.clone());
    let unknown_peer = at("203.0.113.66:666");
    for packet in &log {
        for from in [packet.from, unknown_peer] {
            let outcome = network.deliver(&Packet { from, ..packet.clone() });
            let is_hello = packet.bytes[0] == 1;
            assert!(is_hello || outcome == Err(Error::Repeated), "{outcome:?}");
        }
    }
    let sent = network.log.len();
    network.run(ms(100));
    assert_eq!(network.received, received);
    let to_unknown_peer: usize =
        network.log[sent..].iter().filter(|packet| packet.to == unknown_peer).map(|it| it.bytes.len()).sum();
    assert_eq!(to_unknown_peer, 0, "no challenge");
    assert_eq!(network.associations.len(), 1);
}

#[test]
fn overtaking_copies_from_another_address_do_not_move_the_peer() {
    let mut network = Network::established(Config::default(), Faults::default(), 2);
    let (genuine, attacker) = (network.client_at, at("203.0.113.66:666"));
    for _ in 0..200 {
        assert!(network.client_send(b"here I am"));
        let copy = Packet { from: attacker, ..network.log.last().unwrap().clone() };
        network.deliver(&copy).unwrap();
        assert!(network.server_send(b"and here am I"));
        network.run(ms(10));
    }
    network.run(Span::from_secs(1));
    assert_eq!(network.server().peer(), genuine);
    assert!(!network.events[1].iter().any(|event| matches!(event, Event::Moved { .. })));
    // Challenges and no data, of no more bytes than the attacker has sent.
    let to_attacker: Vec<usize> =
        network.log.iter().filter(|packet| packet.to == attacker).map(|it| it.bytes.len()).collect();
    assert!(!to_attacker.is_empty() && to_attacker.iter().all(|len| *len == 43));
    assert!(to_attacker.iter().sum::<usize>() <= 200 * (OVERHEAD + 9));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn changed_datagrams_are_never_opened(
        seed in 1..200u64,
        changes in prop::collection::vec((0..1200usize, 1..=255u8, 0..1300usize), 1..60),
    ) {
        let mut network = Network::established(Config::default(), Faults::default(), seed);
        let mut sent_count = 0;
        for (at, mask, len) in changes {
            prop_assert!(network.client_send(&vec![7; len]) && network.server_send(&vec![8; len]));
            sent_count += 1;
            let both = network.log[network.log.len() - 2..].to_vec();
            for packet in both {
                let mut changed = packet.clone();
                let at = at % changed.bytes.len();
                changed.bytes[at] ^= mask;
                prop_assert!(network.deliver(&changed).is_err());
                changed = packet;
                changed.bytes.truncate(at);
                prop_assert!(network.deliver(&changed).is_err());
            }
            network.run(ms(1));
        }
        network.run(ms(100));
        prop_assert_eq!((network.received[0].len(), network.received[1].len()), (sent_count, sent_count));
    }
}
