//! The life of an association between two honest ends.

use std::collections::BTreeSet;

use thalweg_core::session::secure::{Config, Ending, Event, Limits, Reason};
use thalweg_core::time::Span;
use thalweg_core::wire::Error;

use crate::secure::network::{Faults, Network, at, ms, own, shared};

const BAD: Faults = Faults { loss: 0.2, twice: 0.05, corrupt: 0.02, jitter: Span::from_millis(50), is_cut: false };

fn text(number: u32) -> Vec<u8> {
    let mut text = number.to_be_bytes().to_vec();
    text.resize(8 + number as usize % 1100, number as u8);
    text
}

/// Both ends send 1000 datagrams a second each.
fn talk(network: &mut Network, numbers: std::ops::Range<u32>) {
    for number in numbers {
        assert!(network.client_send(&text(number)) && network.server_send(&text(number)));
        network.run(ms(1));
    }
}

/// Checks that all that was received was sent, and nothing was received twice; returns the number of datagrams by end.
fn received(network: &Network) -> [usize; 2] {
    network.received.each_ref().map(|received| {
        let distinct: BTreeSet<&Vec<u8>> = received.iter().collect();
        assert_eq!(distinct.len(), received.len(), "nothing twice");
        for it in received {
            assert_eq!(*it, text(u32::from_be_bytes(*it.first_chunk().unwrap())), "nothing changed");
        }
        received.len()
    })
}

#[test]
fn shared_and_static_keys_establish_associations() {
    let [ours, theirs] = own();
    let secret = shared(1);
    for keys in [[&secret, &secret], [&ours, &theirs]] {
        let mut network = Network::new(Config::default(), keys, Faults::default(), 1);
        network.run(ms(100));
        assert_eq!(network.events, [[Event::Established], [Event::Established]]);
        talk(&mut network, 0..100);
        network.run(ms(100));
        assert_eq!(received(&network), [100, 100]);
        assert!(network.errors.is_empty());
        let longest = network.log.iter().map(|packet| packet.bytes.len()).max();
        assert_eq!(longest, Some(1200), "the hello");
    }
}

#[test]
fn impaired_path_loses_only_datagrams() {
    for seed in 1..6 {
        let mut network = Network::established(Config::default(), BAD, seed);
        talk(&mut network, 0..4000);
        network.run(ms(200));
        // Datagrams that arrive unharmed are delivered: 1 - (1 - q)(1 - 0.05 q) of all, with q = 0.8 x 0.98, within
        // five standard errors.
        let q: f64 = 0.8 * 0.98;
        let p = 1.0 - (1.0 - q) * (1.0 - 0.05 * q);
        for count in received(&network) {
            let error = (p * (1.0 - p) / 4000.0).sqrt();
            assert!((count as f64 / 4000.0 - p).abs() < 5.0 * error, "{count} of 4000, expected {p:.3}");
        }
        assert!(network.errors["not authentic"] > 0 && network.errors["repeated"] > 0, "{:?}", network.errors);
        assert!(!network.events.iter().flatten().any(|event| matches!(event, Event::Ended(_) | Event::Moved { .. })));
    }
}

#[test]
fn rekeying_under_load_loses_no_datagram() {
    let limits = Limits { packets: 2000, age: Span::from_secs(60), grace: Span::from_secs(2) };
    let config = Config { limits, ..Config::default() };
    let jitter = Faults { jitter: ms(300), ..Faults::default() };
    let mut network = Network::established(config, jitter, 3);
    talk(&mut network, 0..20_000);
    network.run(ms(500));
    assert_eq!(received(&network), [20_000, 20_000]);
    for events in &network.events {
        let epochs: Vec<&Event> = events.iter().filter(|event| matches!(event, Event::Rekeyed { .. })).collect();
        assert!(epochs.len() >= 5, "{epochs:?}");
        for (at, event) in epochs.iter().enumerate() {
            assert_eq!(**event, Event::Rekeyed { epoch: at as u32 + 1 });
        }
    }
    // The same on a path that also loses handshake messages.
    let limits = Limits { packets: 4000, ..limits };
    let mut network = Network::established(Config { limits, ..config }, Faults { loss: 0.15, ..jitter }, 4);
    talk(&mut network, 0..20_000);
    received(&network);
    assert!(network.events.iter().all(|events| events.contains(&Event::Rekeyed { epoch: 3 })));
}

#[test]
fn static_keys_rekey_with_short_datagrams() {
    let limits = Limits { packets: 500, age: Span::from_secs(60), grace: Span::from_secs(2) };
    let config = Config { datagram: 256, limits, ..Config::default() };
    let [ours, theirs] = own();
    let mut network = Network::new(config, [&ours, &theirs], Faults::default(), 9);
    network.run(ms(100));
    talk(&mut network, 0..2000);
    network.run(ms(100));
    assert_eq!(received(&network), [2000, 2000]);
    assert!(network.events.iter().all(|events| events.contains(&Event::Rekeyed { epoch: 3 })));
    // The datagrams of the association itself fit the path as well.
    let control_packets = network.log.iter().filter(|packet| packet.bytes[0] < 5);
    assert_eq!(control_packets.map(|packet| packet.bytes.len()).max(), Some(256));
}

#[test]
fn old_keys_open_late_datagrams_until_the_grace_ends() {
    let limits = Limits { packets: 100, age: Span::from_secs(60), grace: Span::from_secs(2) };
    let mut network = Network::established(Config { limits, ..Config::default() }, Faults::default(), 12);
    network.faults.is_cut = true;
    for number in 0..2 {
        assert!(network.client_send(&text(number)) && network.server_send(&text(number)));
    }
    let late = network.log[network.log.len() - 4..].to_vec();
    network.faults.is_cut = false;
    talk(&mut network, 2..120);
    network.run(ms(200));
    for events in &network.events {
        assert_eq!(events.last(), Some(&Event::Rekeyed { epoch: 1 }));
    }
    assert_eq!([network.deliver(&late[0]), network.deliver(&late[1])], [Ok(()), Ok(())]);
    assert_eq!(received(&network), [119, 119]);
    network.run(Span::from_secs(2));
    assert_eq!([network.deliver(&late[2]), network.deliver(&late[3])], [Err(Error::Unknown); 2]);
}

#[test]
fn idle_association_rekeys_by_age_and_lives_for_an_hour() {
    let mut network = Network::established(Config::default(), Faults { loss: 0.3, ..Faults::default() }, 5);
    network.run(Span::from_secs(3600));
    assert!(network.client.is_established() && network.server().is_established());
    // One change every two minutes, and a little later each time.
    let epochs = network.events[0].iter().filter(|event| matches!(event, Event::Rekeyed { .. })).count();
    assert!((28..=30).contains(&epochs), "{epochs}");
    // A ping and a pong every ten seconds, repetitions of lost ones, and four datagrams for new keys.
    assert!(network.log.len() < 3600, "{} datagrams", network.log.len());
}

#[test]
fn outage_ends_the_association_only_beyond_the_idle_timeout() {
    let mut network = Network::established(Config::default(), Faults::default(), 6);
    network.faults.is_cut = true;
    network.run(Span::from_secs(20));
    network.faults.is_cut = false;
    network.run(Span::from_secs(1));
    talk(&mut network, 0..10);
    network.run(ms(100));
    assert_eq!(received(&network), [10, 10]);
    network.faults.is_cut = true;
    network.run(Span::from_secs(31));
    for events in &network.events {
        assert_eq!(events.last(), Some(&Event::Ended(Ending::Silent)));
    }
    assert!(network.client.is_over() && network.associations.is_empty());
    assert_eq!(network.client.poll_timeout(), None);
}

#[test]
fn close_reports_its_reason_to_the_peer() {
    for seed in 0..20 {
        let loss = if seed == 0 { 0.0 } else { 0.1 };
        let mut network = Network::established(Config::default(), Faults { loss, ..Faults::default() }, 10 + seed);
        network.client.close(network.now, Reason::Stopped);
        assert!(!network.client_send(b"too late"));
        network.run(Span::from_secs(2));
        assert_eq!(network.events[0].last(), Some(&Event::Ended(Ending::Closed(Reason::Stopped))));
        assert_eq!(network.events[1].last(), Some(&Event::Ended(Ending::ClosedByPeer(Reason::Stopped))));
        assert!(network.client.is_over() && network.associations.is_empty());
    }
}

#[test]
fn both_ends_may_close_at_once() {
    let mut network = Network::established(Config::default(), Faults::default(), 11);
    let now = network.now;
    network.client.close(now, Reason::Done);
    network.server().close(now, Reason::Overload);
    network.run(ms(100));
    assert_eq!(network.events[0].last(), Some(&Event::Ended(Ending::Closed(Reason::Done))));
    assert_eq!(network.events[1].last(), Some(&Event::Ended(Ending::Closed(Reason::Overload))));
    assert!(network.client.is_over() && network.associations.is_empty());
}

#[test]
fn client_migrates_once_its_new_address_is_validated() {
    let mut network = Network::established(Config::default(), Faults { jitter: ms(30), ..Faults::default() }, 7);
    talk(&mut network, 0..100);
    let (before, moved) = (network.log.len(), at("198.51.100.9:6000"));
    network.client_at = moved;
    talk(&mut network, 100..1000);
    network.run(ms(200));
    assert_eq!(network.server().peer(), moved);
    assert_eq!(network.events[1].iter().filter(|event| matches!(event, Event::Moved { .. })).count(), 1);
    // Before the proof only challenges were sent to the new address, of no more bytes than had arrived from there.
    let (mut bytes_in, mut bytes_out) = (0, 0);
    for packet in &network.log[before..] {
        if packet.from == moved {
            bytes_in += packet.bytes.len();
        } else if packet.to == moved {
            let is_challenge = packet.bytes.len() == 43;
            if !is_challenge {
                break;
            }
            bytes_out += packet.bytes.len();
            assert!(bytes_out <= bytes_in);
        }
    }
    assert!(bytes_out > 0);
    let [to_client, _] = received(&network);
    // Datagrams that left before the challenge was answered, within 150 ms, are lost.
    assert!((850..1000).contains(&to_client), "{to_client}");
}

#[test]
fn keys_never_renewed_reach_their_packet_limit() {
    let limits = Limits { packets: 1000, age: Span::from_secs(60), grace: Span::from_secs(2) };
    let mut network = Network::established(Config { limits, ..Config::default() }, Faults::default(), 8);
    network.faults.is_cut = true;
    let sealed = (0..5000).filter(|number| network.client_send(&text(*number))).count();
    // Besides these a ping was sent, and the request for new keys is not made before time passes.
    assert!((1990..=2000).contains(&sealed), "{sealed}");
    network.run(ms(1));
    assert_eq!(network.events[0].last(), Some(&Event::Ended(Ending::WornOut)));
}
