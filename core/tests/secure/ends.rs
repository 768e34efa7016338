//! What two honest ends go through.

use std::collections::BTreeSet;

use thalweg_core::session::secure::{Config, Ending, Event, Limits, Reason};
use thalweg_core::time::Span;
use thalweg_core::wire::Error;

use crate::world::{Faults, World, at, ms, own, shared};

const BAD: Faults = Faults { loss: 0.2, twice: 0.05, corrupt: 0.02, jitter: Span::from_millis(50), is_cut: false };

fn text(number: u32) -> Vec<u8> {
    let mut text = number.to_be_bytes().to_vec();
    text.resize(8 + number as usize % 1100, number as u8);
    text
}

/// Both talk, 1000 a second each way.
fn talk(world: &mut World, numbers: std::ops::Range<u32>) {
    for number in numbers {
        assert!(world.say(&text(number)) && world.reply(&text(number)));
        world.run(ms(1));
    }
}

/// Everything that was heard was said, and nothing twice; how much it was.
fn heard(world: &World) -> [usize; 2] {
    world.heard.each_ref().map(|heard| {
        let distinct: BTreeSet<&Vec<u8>> = heard.iter().collect();
        assert_eq!(distinct.len(), heard.len(), "nothing twice");
        for it in heard {
            assert_eq!(*it, text(u32::from_be_bytes(*it.first_chunk().unwrap())), "nothing changed");
        }
        heard.len()
    })
}

#[test]
fn both_kinds_of_key_open_the_door() {
    let [ours, theirs] = own();
    let secret = shared(1);
    for keys in [[&secret, &secret], [&ours, &theirs]] {
        let mut world = World::new(Config::default(), keys, Faults::default(), 1);
        world.run(ms(100));
        assert_eq!(world.events, [[Event::Established], [Event::Established]]);
        talk(&mut world, 0..100);
        world.run(ms(100));
        assert_eq!(heard(&world), [100, 100]);
        assert!(world.errors.is_empty());
        let longest = world.log.iter().map(|packet| packet.bytes.len()).max();
        assert_eq!(longest, Some(1200), "the hello");
    }
}

#[test]
fn a_bad_path_loses_datagrams_and_nothing_else() {
    for seed in 1..6 {
        let mut world = World::established(Config::default(), BAD, seed);
        talk(&mut world, 0..4000);
        world.run(ms(200));
        // What arrives unharmed is heard: 1 - (1 - q)(1 - 0.05 q) of all, with q = 0.8 x 0.98, and five standard errors.
        let q: f64 = 0.8 * 0.98;
        let p = 1.0 - (1.0 - q) * (1.0 - 0.05 * q);
        for count in heard(&world) {
            let error = (p * (1.0 - p) / 4000.0).sqrt();
            assert!((count as f64 / 4000.0 - p).abs() < 5.0 * error, "{count} of 4000, expected {p:.3}");
        }
        assert!(world.errors["not authentic"] > 0 && world.errors["repeated"] > 0, "{:?}", world.errors);
        assert!(!world.events.iter().flatten().any(|event| matches!(event, Event::Ended(_) | Event::Moved { .. })));
    }
}

#[test]
fn keys_change_under_load_and_nothing_that_arrives_is_lost() {
    let limits = Limits { packets: 2000, age: Span::from_secs(60), grace: Span::from_secs(2) };
    let config = Config { limits, ..Config::default() };
    let jitter = Faults { jitter: ms(300), ..Faults::default() };
    let mut world = World::established(config, jitter, 3);
    talk(&mut world, 0..20_000);
    world.run(ms(500));
    assert_eq!(heard(&world), [20_000, 20_000]);
    for events in &world.events {
        let epochs: Vec<&Event> = events.iter().filter(|event| matches!(event, Event::Rekeyed { .. })).collect();
        assert!(epochs.len() >= 5, "{epochs:?}");
        for (at, event) in epochs.iter().enumerate() {
            assert_eq!(**event, Event::Rekeyed { epoch: at as u32 + 1 });
        }
    }
    // The same on a path that also loses the messages of the handshakes.
    let limits = Limits { packets: 4000, ..limits };
    let mut world = World::established(Config { limits, ..config }, Faults { loss: 0.15, ..jitter }, 4);
    talk(&mut world, 0..20_000);
    heard(&world);
    assert!(world.events.iter().all(|events| events.contains(&Event::Rekeyed { epoch: 3 })));
}

#[test]
fn static_keys_agree_on_new_ones_too_even_where_datagrams_are_short() {
    let limits = Limits { packets: 500, age: Span::from_secs(60), grace: Span::from_secs(2) };
    let config = Config { datagram: 256, limits, ..Config::default() };
    let [ours, theirs] = own();
    let mut world = World::new(config, [&ours, &theirs], Faults::default(), 9);
    world.run(ms(100));
    talk(&mut world, 0..2000);
    world.run(ms(100));
    assert_eq!(heard(&world), [2000, 2000]);
    assert!(world.events.iter().all(|events| events.contains(&Event::Rekeyed { epoch: 3 })));
    // What the association says by itself fits the path as well.
    let own_words = world.log.iter().filter(|packet| packet.bytes[0] < 5);
    assert_eq!(own_words.map(|packet| packet.bytes.len()).max(), Some(256));
}

#[test]
fn old_keys_open_what_is_late_and_then_nothing_more() {
    let limits = Limits { packets: 100, age: Span::from_secs(60), grace: Span::from_secs(2) };
    let mut world = World::established(Config { limits, ..Config::default() }, Faults::default(), 12);
    world.faults.is_cut = true;
    for number in 0..2 {
        assert!(world.say(&text(number)) && world.reply(&text(number)));
    }
    let late = world.log[world.log.len() - 4..].to_vec();
    world.faults.is_cut = false;
    talk(&mut world, 2..120);
    world.run(ms(200));
    for events in &world.events {
        assert_eq!(events.last(), Some(&Event::Rekeyed { epoch: 1 }));
    }
    assert_eq!([world.deliver(&late[0]), world.deliver(&late[1])], [Ok(()), Ok(())]);
    assert_eq!(heard(&world), [119, 119]);
    world.run(Span::from_secs(2));
    assert_eq!([world.deliver(&late[2]), world.deliver(&late[3])], [Err(Error::Unknown); 2]);
}

#[test]
fn an_idle_association_changes_keys_with_age_and_lives_for_an_hour() {
    let mut world = World::established(Config::default(), Faults { loss: 0.3, ..Faults::default() }, 5);
    world.run(Span::from_secs(3600));
    assert!(world.client.is_established() && world.server().is_established());
    // Every two minutes, and a while until it is due.
    let epochs = world.events[0].iter().filter(|event| matches!(event, Event::Rekeyed { .. })).count();
    assert!((28..=30).contains(&epochs), "{epochs}");
    // A ping and a pong every ten seconds, those that were lost, and four datagrams for new keys.
    assert!(world.log.len() < 3600, "{} datagrams", world.log.len());
}

#[test]
fn a_blackout_shorter_than_the_idle_time_is_survived_and_a_longer_one_ends_both() {
    let mut world = World::established(Config::default(), Faults::default(), 6);
    world.faults.is_cut = true;
    world.run(Span::from_secs(20));
    world.faults.is_cut = false;
    world.run(Span::from_secs(1));
    talk(&mut world, 0..10);
    world.run(ms(100));
    assert_eq!(heard(&world), [10, 10]);
    world.faults.is_cut = true;
    world.run(Span::from_secs(31));
    for events in &world.events {
        assert_eq!(events.last(), Some(&Event::Ended(Ending::Silent)));
    }
    assert!(world.client.is_over() && world.inside.is_empty());
    assert_eq!(world.client.poll_timeout(), None);
}

#[test]
fn a_close_tells_the_other_end_why() {
    for seed in 0..20 {
        let loss = if seed == 0 { 0.0 } else { 0.1 };
        let mut world = World::established(Config::default(), Faults { loss, ..Faults::default() }, 10 + seed);
        world.client.close(world.now, Reason::Stopped);
        assert!(!world.say(b"too late"));
        world.run(Span::from_secs(2));
        assert_eq!(world.events[0].last(), Some(&Event::Ended(Ending::Closed(Reason::Stopped))));
        assert_eq!(world.events[1].last(), Some(&Event::Ended(Ending::ClosedByPeer(Reason::Stopped))));
        assert!(world.client.is_over() && world.inside.is_empty());
    }
}

#[test]
fn both_may_close_at_once() {
    let mut world = World::established(Config::default(), Faults::default(), 11);
    let now = world.now;
    world.client.close(now, Reason::Done);
    world.server().close(now, Reason::Overload);
    world.run(ms(100));
    assert_eq!(world.events[0].last(), Some(&Event::Ended(Ending::Closed(Reason::Done))));
    assert_eq!(world.events[1].last(), Some(&Event::Ended(Ending::Closed(Reason::Overload))));
    assert!(world.client.is_over() && world.inside.is_empty());
}

#[test]
fn a_client_that_moves_is_followed_once_it_has_proved_its_address() {
    let mut world = World::established(Config::default(), Faults { jitter: ms(30), ..Faults::default() }, 7);
    talk(&mut world, 0..100);
    let (before, moved) = (world.log.len(), at("198.51.100.9:6000"));
    world.client_at = moved;
    talk(&mut world, 100..1000);
    world.run(ms(200));
    assert_eq!(world.server().peer(), moved);
    assert_eq!(world.events[1].iter().filter(|event| matches!(event, Event::Moved { .. })).count(), 1);
    // Before the proof nothing but challenges went to the new address, no more than had come from there.
    let (mut came, mut went) = (0, 0);
    for packet in &world.log[before..] {
        if packet.from == moved {
            came += packet.bytes.len();
        } else if packet.to == moved {
            let is_challenge = packet.bytes.len() == 43;
            if !is_challenge {
                break;
            }
            went += packet.bytes.len();
            assert!(went <= came);
        }
    }
    assert!(went > 0);
    let [to_client, _] = heard(&world);
    // What left until the challenge had gone there and back, 150 ms at most, is lost.
    assert!((850..1000).contains(&to_client), "{to_client}");
}

#[test]
fn keys_that_nobody_renews_are_worn_out() {
    let limits = Limits { packets: 1000, age: Span::from_secs(60), grace: Span::from_secs(2) };
    let mut world = World::established(Config { limits, ..Config::default() }, Faults::default(), 8);
    world.faults.is_cut = true;
    let sealed = (0..5000).filter(|number| world.say(&text(*number))).count();
    // Beside these there were a ping, and the request for new keys is not made before time passes.
    assert!((1990..=2000).contains(&sealed), "{sealed}");
    world.run(ms(1));
    assert_eq!(world.events[0].last(), Some(&Event::Ended(Ending::WornOut)));
}
