//! Who is let in, and what it costs.

use thalweg_core::session::MAX_DATAGRAM;
use thalweg_core::session::secure::{Association, Config, Door, Ending, Entropy, Event, Key, receiver};
use thalweg_core::time::{Span, Time};
use thalweg_core::wire::Error;

use crate::world::{Faults, World, at, own, shared};

/// The hello of an initiator with `key`, its cookie zero.
fn hello(key: &Key, seed: u64) -> Vec<u8> {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_be_bytes());
    let entropy = Entropy::new(bytes);
    let mut initiator =
        Association::initiate(Config::default(), key, at("192.0.2.1:7000"), Time::ZERO, entropy).unwrap();
    let mut buf = [0; MAX_DATAGRAM];
    let transmit = initiator.poll_transmit(Time::ZERO, &mut buf).unwrap();
    buf[..transmit.len].to_vec()
}

fn door(key: &Key) -> Door {
    Door::new(Config::default(), key, Entropy::new([9; 32])).unwrap()
}

/// The hello with the cookie that the door gives to `from`.
fn with_cookie(door: &mut Door, now: Time, from: &str, hello: &[u8]) -> Vec<u8> {
    let mut buf = [0; MAX_DATAGRAM];
    let reply = door.handle_datagram(now, at(from), hello, &mut buf).unwrap();
    assert!(reply.association.is_none());
    let mut hello = hello.to_vec();
    hello[10..18].copy_from_slice(&buf[10..reply.transmit.len]);
    hello
}

#[test]
fn another_key_is_not_let_in_and_told_so() {
    let [ours, theirs] = own();
    let nobody = Key::own(
        &mut Entropy::new([7; 32]),
        match &ours {
            Key::Static { peers, .. } => peers.clone(),
            Key::Shared(_) => unreachable!("made as a static key"),
        },
    );
    let (one, two) = (shared(1), shared(2));
    for keys in [[&one, &two], [&nobody, &theirs], [&one, &theirs], [&ours, &two]] {
        let mut world = World::new(Config::default(), keys, Faults::default(), 1);
        world.run(Span::from_secs(20));
        assert_eq!(world.events, [vec![Event::Ended(Ending::Refused)], vec![]]);
        assert!(world.inside.is_empty());
        assert_eq!(world.door.guests(), 0);
        assert!(world.door.rejected() > 0);
    }
    let line = Ending::Refused.to_string();
    assert_eq!(line, "the other end answers, but lets nobody in: do both key files match, and is it overloaded?");
}

#[test]
fn nobody_at_home_is_told_within_ten_seconds() {
    let key = shared(1);
    let mut world = World::new(Config::default(), [&key, &key], Faults { is_cut: true, ..Faults::default() }, 1);
    world.run(Span::from_millis(9_999));
    assert!(world.events[0].is_empty());
    world.run(Span::from_millis(1));
    assert_eq!(world.events[0], [Event::Ended(Ending::NoAnswer)]);
    assert_eq!(world.log.len(), 12, "hellos at 0, 0.25, 0.75, 1.75 s and every second");
}

#[test]
fn another_version_is_answered_once_and_ends_the_initiator() {
    let key = shared(1);
    let mut world = World::new(Config::default(), [&key, &key], Faults::default(), 1);
    let mut buf = [0; MAX_DATAGRAM];
    let transmit = world.client.poll_transmit(world.now, &mut buf).unwrap();
    let mut hello = buf[..transmit.len].to_vec();
    hello[1] = 77;
    let client_at = world.client_at;
    let reply = world.door.handle_datagram(world.now, client_at, &hello, &mut buf).unwrap();
    assert_eq!((reply.transmit.len, reply.association.is_none()), (10, true));
    assert_eq!(world.door.rejected(), 1);
    let mut out = [0; MAX_DATAGRAM];
    // Of our own version it makes no sense.
    let refused = world.client.handle_datagram(world.now, world.server_at, &buf[..10], &mut out);
    assert_eq!(refused, Err(Error::Malformed));
    // As an older responder would say it.
    buf[1] = 0;
    world.client.handle_datagram(world.now, world.server_at, &buf[..10], &mut out).unwrap();
    assert_eq!(world.client.poll_event(), Some(Event::Ended(Ending::Version(0))));
    assert!(world.client.is_over());
}

#[test]
fn a_version_that_was_changed_on_its_way_makes_no_key() {
    // Both speak version 1, but the initiator's hello is bound to another: what a forger would have to do.
    let key = shared(1);
    let mut door = door(&key);
    let good = hello(&key, 1);
    let mut renamed = good.clone();
    renamed[2] ^= 1;
    let renamed = with_cookie(&mut door, Time::ZERO, "192.0.2.9:1", &renamed);
    let mut buf = [0; MAX_DATAGRAM];
    let outcome = door.handle_datagram(Time::ZERO, at("192.0.2.9:1"), &renamed, &mut buf);
    assert_eq!(outcome.map(|_| ()), Err(Error::Forged), "the id in the clear is bound too");
    assert_eq!(door.rejected(), 1);
    // One with the key is none of them, nor is a hello without a cookie.
    let good = with_cookie(&mut door, Time::ZERO, "192.0.2.9:1", &good);
    assert!(door.handle_datagram(Time::ZERO, at("192.0.2.9:1"), &good, &mut buf).is_ok());
    assert_eq!(door.rejected(), 1);
}

#[test]
fn ten_thousand_strangers_hold_no_state_and_get_less_than_they_send() {
    let (key, other) = (shared(1), shared(2));
    let mut door = door(&key);
    let mut now = Time::ZERO;
    for stranger in 0..10_000u64 {
        let from = format!("10.{}.{}.7:{}", stranger >> 8, stranger & 255, 1024 + stranger);
        let mut buf = [0; MAX_DATAGRAM];
        // One in a hundred goes as far as to prove its address, with a key that is not ours.
        let knock = hello(if stranger % 100 == 0 { &other } else { &key }, stranger);
        let reply = door.handle_datagram(now, at(&from), &knock, &mut buf).unwrap();
        assert!(reply.transmit.len * 10 < knock.len() && reply.association.is_none());
        if stranger % 100 == 0 {
            let knock = with_cookie(&mut door, now, &from, &knock);
            assert_eq!(door.handle_datagram(now, at(&from), &knock, &mut buf).map(|_| ()), Err(Error::Forged));
        }
        now += Span::from_micros(50);
    }
    assert_eq!(door.guests(), 0);
}

#[test]
fn a_cookie_is_good_for_nobody_else_and_not_for_long() {
    let key = shared(1);
    let mut door = door(&key);
    let knock = with_cookie(&mut door, Time::ZERO, "192.0.2.9:1", &hello(&key, 1));
    let mut buf = [0; MAX_DATAGRAM];
    let mut is_let_in = |door: &mut Door, now: Time, from: &str, knock: &[u8]| {
        door.handle_datagram(now, at(from), knock, &mut buf).unwrap().association.is_some()
    };
    assert!(!is_let_in(&mut door, Time::ZERO, "192.0.2.9:2", &knock), "another port");
    assert!(!is_let_in(&mut door, Time::ZERO + Span::from_secs(20), "192.0.2.9:1", &knock), "too late");
    let mut forged = knock.clone();
    forged[17] ^= 1;
    assert!(!is_let_in(&mut door, Time::ZERO, "192.0.2.9:1", &forged), "forged");
    assert!(is_let_in(&mut door, Time::ZERO, "192.0.2.9:1", &knock));
}

#[test]
fn a_hello_that_comes_again_gets_the_same_answer_and_no_second_association() {
    let key = shared(1);
    let mut door = door(&key);
    let from = "192.0.2.9:1";
    let knock = with_cookie(&mut door, Time::ZERO, from, &hello(&key, 1));
    let (mut first, mut again) = ([0; MAX_DATAGRAM], [0; MAX_DATAGRAM]);
    let reply = door.handle_datagram(Time::ZERO, at(from), &knock, &mut first).unwrap();
    let mut association = reply.association.unwrap();
    let later = Time::ZERO + Span::from_secs(9);
    let reply = door.handle_datagram(later, at(from), &knock, &mut again).unwrap();
    assert!(reply.association.is_none());
    assert_eq!(first, again);
    // After the life of the cookie the door knows nothing of either, and the half-open association has ended.
    let late = Time::ZERO + Span::from_secs(30);
    let fresh = with_cookie(&mut door, late, "192.0.2.9:2", &hello(&key, 2));
    door.handle_datagram(late, at("192.0.2.9:2"), &fresh, &mut again).unwrap();
    assert_eq!(door.guests(), 1);
    assert_eq!(association.poll_timeout(), Some(Time::ZERO + Span::from_secs(10)));
    association.handle_timeout(Time::ZERO + Span::from_secs(10));
    assert_eq!(association.poll_event(), Some(Event::Ended(Ending::Silent)));
    assert!(association.is_over());
}

#[test]
fn a_flood_of_keys_to_check_is_bounded() {
    let (key, other) = (shared(1), shared(2));
    let mut door = door(&key);
    let knock = with_cookie(&mut door, Time::ZERO, "192.0.2.9:1", &hello(&other, 1));
    let mut buf = [0; MAX_DATAGRAM];
    // 10 000 within half a second: what was saved up in a second, and what half a second allows.
    let checked = (0..10_000u64).filter(|number| {
        let now = Time::ZERO + Span::from_micros(50 * number);
        door.handle_datagram(now, at("192.0.2.9:1"), &knock, &mut buf).is_err_and(|error| error == Error::Forged)
    });
    let checked = checked.count();
    assert!((1_495..=1_505).contains(&checked), "{checked}");
}

#[test]
fn what_is_too_short_to_be_answered_is_not() {
    let key = shared(1);
    let mut door = door(&key);
    let knock = hello(&key, 1);
    let mut buf = [0; MAX_DATAGRAM];
    for len in 0..256 {
        let outcome = door.handle_datagram(Time::ZERO, at("192.0.2.9:1"), &knock[..len], &mut buf);
        assert_eq!(outcome.map(|_| ()), Err(Error::Truncated));
    }
    assert_eq!(receiver(&knock), Ok(None));
}

#[test]
fn a_recorded_hello_from_another_port_is_answered_alike_and_later_makes_one_association_that_ends_unproved() {
    let key = shared(1);
    let mut door = door(&key);
    let recorded = hello(&key, 1);
    let mut say = |now: Time, from: &str| {
        // The cookie in the recording is of no use; who says it gets his own.
        let knock = with_cookie(&mut door, now, from, &recorded);
        let mut buf = [0; MAX_DATAGRAM];
        let reply = door.handle_datagram(now, at(from), &knock, &mut buf).unwrap();
        (reply.association, buf[..reply.transmit.len].to_vec())
    };
    let (association, answer) = say(Time::ZERO, "192.0.2.9:1");
    assert!(association.is_some());
    let just_before = Time::ZERO + Span::from_millis(19_999);
    let (association, again) = say(just_before, "192.0.2.66:2");
    assert!(association.is_none(), "within 20 s there is no second one");
    assert_eq!(again, answer);
    let late = Time::ZERO + Span::from_secs(20);
    let (association, other) = say(late, "192.0.2.66:3");
    assert_ne!(other, answer);
    assert!(say(late, "192.0.2.66:4").0.is_none(), "nor a third");
    let mut half_open = association.expect("one more");
    let mut buf = [0; MAX_DATAGRAM];
    assert!(half_open.poll_transmit(late, &mut buf).is_none() && half_open.seal(late, b"secret", &mut buf).is_none());
    half_open.handle_timeout(late + Span::from_secs(10));
    assert_eq!(half_open.poll_event(), Some(Event::Ended(Ending::Silent)));
    assert!(half_open.is_over());
}
