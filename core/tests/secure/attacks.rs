//! What somebody on the path can try.

use proptest::prelude::*;
use thalweg_core::session::secure::{Config, Event, OVERHEAD};
use thalweg_core::time::Span;
use thalweg_core::wire::Error;

use crate::world::{Faults, Packet, World, at, ms};

#[test]
fn whatever_is_replayed_is_heard_by_nobody() {
    let mut world = World::established(Config::default(), Faults::default(), 1);
    for _ in 0..100 {
        assert!(world.say(b"pay ten") && world.reply(b"paid"));
        world.run(ms(10));
    }
    world.run(ms(100));
    let (heard, log) = (world.heard.clone(), world.log.clone());
    let stranger = at("203.0.113.66:666");
    for packet in &log {
        for from in [packet.from, stranger] {
            let outcome = world.deliver(&Packet { from, ..packet.clone() });
            let is_hello = packet.bytes[0] == 1;
            assert!(is_hello || outcome == Err(Error::Repeated), "{outcome:?}");
        }
    }
    let sent = world.log.len();
    world.run(ms(100));
    assert_eq!(world.heard, heard);
    let to_stranger: usize =
        world.log[sent..].iter().filter(|packet| packet.to == stranger).map(|it| it.bytes.len()).sum();
    assert_eq!(to_stranger, 0, "no challenge");
    assert_eq!(world.inside.len(), 1);
}

#[test]
fn a_copy_that_overtakes_from_another_address_moves_nothing() {
    let mut world = World::established(Config::default(), Faults::default(), 2);
    let (genuine, thief) = (world.client_at, at("203.0.113.66:666"));
    for _ in 0..200 {
        assert!(world.say(b"here I am"));
        let copy = Packet { from: thief, ..world.log.last().unwrap().clone() };
        world.deliver(&copy).unwrap();
        assert!(world.reply(b"and here am I"));
        world.run(ms(10));
    }
    world.run(Span::from_secs(1));
    assert_eq!(world.server().peer(), genuine);
    assert!(!world.events[1].iter().any(|event| matches!(event, Event::Moved { .. })));
    // Challenges and no data, of no more bytes than the thief has sent.
    let to_thief: Vec<usize> = world.log.iter().filter(|packet| packet.to == thief).map(|it| it.bytes.len()).collect();
    assert!(!to_thief.is_empty() && to_thief.iter().all(|len| *len == 43));
    assert!(to_thief.iter().sum::<usize>() <= 200 * (OVERHEAD + 9));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn nothing_that_was_changed_is_ever_opened(
        seed in 1..200u64,
        changes in prop::collection::vec((0..1200usize, 1..=255u8, 0..1300usize), 1..60),
    ) {
        let mut world = World::established(Config::default(), Faults::default(), seed);
        let mut said = 0;
        for (at, mask, len) in changes {
            prop_assert!(world.say(&vec![7; len]) && world.reply(&vec![8; len]));
            said += 1;
            let both = world.log[world.log.len() - 2..].to_vec();
            for packet in both {
                let mut changed = packet.clone();
                let at = at % changed.bytes.len();
                changed.bytes[at] ^= mask;
                prop_assert!(world.deliver(&changed).is_err());
                changed = packet;
                changed.bytes.truncate(at);
                prop_assert!(world.deliver(&changed).is_err());
            }
            world.run(ms(1));
        }
        world.run(ms(100));
        prop_assert_eq!((world.heard[0].len(), world.heard[1].len()), (said, said));
    }
}
