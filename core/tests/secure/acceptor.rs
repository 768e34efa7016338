//! Admission by the acceptor, and its cost.

use thalweg_core::session::MAX_DATAGRAM;
use thalweg_core::session::secure::{Acceptor, Association, Config, Ending, Entropy, Event, Key, receiver};
use thalweg_core::time::{Span, Time};
use thalweg_core::wire::Error;

use crate::secure::network::{Faults, Network, at, own, shared};

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

fn acceptor(key: &Key) -> Acceptor {
    Acceptor::new(Config::default(), key, Entropy::new([9; 32])).unwrap()
}

/// The hello with the cookie that the acceptor gives to `from`.
fn with_cookie(acceptor: &mut Acceptor, now: Time, from: &str, hello: &[u8]) -> Vec<u8> {
    let mut buf = [0; MAX_DATAGRAM];
    let reply = acceptor.handle_datagram(now, at(from), hello, &mut buf).unwrap();
    assert!(reply.association.is_none());
    let mut hello = hello.to_vec();
    hello[10..18].copy_from_slice(&buf[10..reply.transmit.len]);
    hello
}

#[test]
fn client_with_another_key_is_refused() {
    let [ours, theirs] = own();
    let unknown_key = Key::own(
        &mut Entropy::new([7; 32]),
        match &ours {
            Key::Static { peers, .. } => peers.clone(),
            Key::Shared(_) => unreachable!("made as a static key"),
        },
    );
    let (one, two) = (shared(1), shared(2));
    for keys in [[&one, &two], [&unknown_key, &theirs], [&one, &theirs], [&ours, &two]] {
        let mut network = Network::new(Config::default(), keys, Faults::default(), 1);
        network.run(Span::from_secs(20));
        assert_eq!(network.events, [vec![Event::Ended(Ending::Refused)], vec![]]);
        assert!(network.associations.is_empty());
        assert_eq!(network.acceptor.accepted_clients(), 0);
        assert!(network.acceptor.rejected() > 0);
    }
    let line = Ending::Refused.to_string();
    assert!(line.contains("key files") && line.contains("overloaded"), "{line}");
}

#[test]
fn missing_server_is_reported_after_ten_seconds() {
    let key = shared(1);
    let mut network = Network::new(Config::default(), [&key, &key], Faults { is_cut: true, ..Faults::default() }, 1);
    network.run(Span::from_millis(9_999));
    assert!(network.events[0].is_empty());
    network.run(Span::from_millis(1));
    assert_eq!(network.events[0], [Event::Ended(Ending::NoAnswer)]);
    assert_eq!(network.log.len(), 12, "hellos at 0, 0.25, 0.75, 1.75 s and every second");
}

#[test]
fn unsupported_version_is_refused_and_ends_the_initiator() {
    let key = shared(1);
    let mut network = Network::new(Config::default(), [&key, &key], Faults::default(), 1);
    let mut buf = [0; MAX_DATAGRAM];
    let transmit = network.client.poll_transmit(network.now, &mut buf).unwrap();
    let mut hello = buf[..transmit.len].to_vec();
    hello[1] = 77;
    let client_at = network.client_at;
    let reply = network.acceptor.handle_datagram(network.now, client_at, &hello, &mut buf).unwrap();
    assert_eq!((reply.transmit.len, reply.association.is_none()), (10, true));
    assert_eq!(network.acceptor.rejected(), 1);
    let mut out = [0; MAX_DATAGRAM];
    // A refusal that names our own version makes no sense.
    let refused = network.client.handle_datagram(network.now, network.server_at, &buf[..10], &mut out);
    assert_eq!(refused, Err(Error::Malformed));
    // As an older responder would answer.
    buf[1] = 0;
    network.client.handle_datagram(network.now, network.server_at, &buf[..10], &mut out).unwrap();
    assert_eq!(network.client.poll_event(), Some(Event::Ended(Ending::Version(0))));
    assert!(network.client.is_over());
}

#[test]
fn tampered_hello_fails_the_handshake() {
    // Version and id are bound into the handshake. Both ends speak version 1, so the id is changed here, as a forger
    // would change the version.
    let key = shared(1);
    let mut acceptor = acceptor(&key);
    let good = hello(&key, 1);
    let mut renamed = good.clone();
    renamed[2] ^= 1;
    let renamed = with_cookie(&mut acceptor, Time::ZERO, "192.0.2.9:1", &renamed);
    let mut buf = [0; MAX_DATAGRAM];
    let outcome = acceptor.handle_datagram(Time::ZERO, at("192.0.2.9:1"), &renamed, &mut buf);
    assert_eq!(outcome.map(|_| ()), Err(Error::Forged), "the id in the clear is bound too");
    assert_eq!(acceptor.rejected(), 1);
    // A client with the key is not counted as rejected, nor is a hello without a cookie.
    let good = with_cookie(&mut acceptor, Time::ZERO, "192.0.2.9:1", &good);
    assert!(acceptor.handle_datagram(Time::ZERO, at("192.0.2.9:1"), &good, &mut buf).is_ok());
    assert_eq!(acceptor.rejected(), 1);
}

#[test]
fn ten_thousand_unknown_clients_hold_no_state_and_are_not_amplified() {
    let (key, other) = (shared(1), shared(2));
    let mut acceptor = acceptor(&key);
    let mut now = Time::ZERO;
    for client in 0..10_000u64 {
        let from = format!("10.{}.{}.7:{}", client >> 8, client & 255, 1024 + client);
        let mut buf = [0; MAX_DATAGRAM];
        // One in a hundred also proves its address, with a key that is not ours.
        let client_hello = hello(if client % 100 == 0 { &other } else { &key }, client);
        let reply = acceptor.handle_datagram(now, at(&from), &client_hello, &mut buf).unwrap();
        assert!(reply.transmit.len * 10 < client_hello.len() && reply.association.is_none());
        if client % 100 == 0 {
            let client_hello = with_cookie(&mut acceptor, now, &from, &client_hello);
            assert_eq!(
                acceptor.handle_datagram(now, at(&from), &client_hello, &mut buf).map(|_| ()),
                Err(Error::Forged)
            );
        }
        now += Span::from_micros(50);
    }
    assert_eq!(acceptor.accepted_clients(), 0);
}

#[test]
fn cookie_is_valid_for_its_address_until_it_expires() {
    let key = shared(1);
    let mut acceptor = acceptor(&key);
    let client_hello = with_cookie(&mut acceptor, Time::ZERO, "192.0.2.9:1", &hello(&key, 1));
    let mut buf = [0; MAX_DATAGRAM];
    let mut is_accepted = |acceptor: &mut Acceptor, now: Time, from: &str, client_hello: &[u8]| {
        acceptor.handle_datagram(now, at(from), client_hello, &mut buf).unwrap().association.is_some()
    };
    assert!(!is_accepted(&mut acceptor, Time::ZERO, "192.0.2.9:2", &client_hello), "another port");
    assert!(!is_accepted(&mut acceptor, Time::ZERO + Span::from_secs(20), "192.0.2.9:1", &client_hello), "too late");
    let mut forged = client_hello.clone();
    forged[17] ^= 1;
    assert!(!is_accepted(&mut acceptor, Time::ZERO, "192.0.2.9:1", &forged), "forged");
    assert!(is_accepted(&mut acceptor, Time::ZERO, "192.0.2.9:1", &client_hello));
}

#[test]
fn repeated_hello_gets_the_same_answer_and_no_second_association() {
    let key = shared(1);
    let mut acceptor = acceptor(&key);
    let from = "192.0.2.9:1";
    let client_hello = with_cookie(&mut acceptor, Time::ZERO, from, &hello(&key, 1));
    let (mut first, mut again) = ([0; MAX_DATAGRAM], [0; MAX_DATAGRAM]);
    let reply = acceptor.handle_datagram(Time::ZERO, at(from), &client_hello, &mut first).unwrap();
    let mut association = reply.association.unwrap();
    let later = Time::ZERO + Span::from_secs(9);
    let reply = acceptor.handle_datagram(later, at(from), &client_hello, &mut again).unwrap();
    assert!(reply.association.is_none());
    assert_eq!(first, again);
    // After the life of the cookie the acceptor has forgotten the first hello, and the half-open association has ended.
    let late = Time::ZERO + Span::from_secs(30);
    let fresh = with_cookie(&mut acceptor, late, "192.0.2.9:2", &hello(&key, 2));
    acceptor.handle_datagram(late, at("192.0.2.9:2"), &fresh, &mut again).unwrap();
    assert_eq!(acceptor.accepted_clients(), 1);
    assert_eq!(association.poll_timeout(), Some(Time::ZERO + Span::from_secs(10)));
    association.handle_timeout(Time::ZERO + Span::from_secs(10));
    assert_eq!(association.poll_event(), Some(Event::Ended(Ending::Silent)));
    assert!(association.is_over());
}

#[test]
fn key_checks_are_rate_limited() {
    let (key, other) = (shared(1), shared(2));
    let mut acceptor = acceptor(&key);
    let client_hello = with_cookie(&mut acceptor, Time::ZERO, "192.0.2.9:1", &hello(&other, 1));
    let mut buf = [0; MAX_DATAGRAM];
    // 10 000 within half a second: the allowance saved up over a second, and that of half a second.
    let checked = (0..10_000u64).filter(|number| {
        let now = Time::ZERO + Span::from_micros(50 * number);
        acceptor
            .handle_datagram(now, at("192.0.2.9:1"), &client_hello, &mut buf)
            .is_err_and(|error| error == Error::Forged)
    });
    let checked = checked.count();
    assert!((1_495..=1_505).contains(&checked), "{checked}");
}

#[test]
fn short_hellos_are_not_answered() {
    let key = shared(1);
    let mut acceptor = acceptor(&key);
    let client_hello = hello(&key, 1);
    let mut buf = [0; MAX_DATAGRAM];
    for len in 0..256 {
        let outcome = acceptor.handle_datagram(Time::ZERO, at("192.0.2.9:1"), &client_hello[..len], &mut buf);
        assert_eq!(outcome.map(|_| ()), Err(Error::Truncated));
    }
    assert_eq!(receiver(&client_hello), Ok(None));
}

#[test]
fn replayed_hello_makes_at_most_one_half_open_association() {
    let key = shared(1);
    let mut acceptor = acceptor(&key);
    let recorded = hello(&key, 1);
    let mut replay = |now: Time, from: &str| {
        // The cookie in the recording is of no use; its sender gets one for its own address.
        let client_hello = with_cookie(&mut acceptor, now, from, &recorded);
        let mut buf = [0; MAX_DATAGRAM];
        let reply = acceptor.handle_datagram(now, at(from), &client_hello, &mut buf).unwrap();
        (reply.association, buf[..reply.transmit.len].to_vec())
    };
    let (association, answer) = replay(Time::ZERO, "192.0.2.9:1");
    assert!(association.is_some());
    let just_before = Time::ZERO + Span::from_millis(19_999);
    let (association, again) = replay(just_before, "192.0.2.66:2");
    assert!(association.is_none(), "within 20 s there is no second one");
    assert_eq!(again, answer);
    let late = Time::ZERO + Span::from_secs(20);
    let (association, other) = replay(late, "192.0.2.66:3");
    assert_ne!(other, answer);
    assert!(replay(late, "192.0.2.66:4").0.is_none(), "nor a third");
    let mut half_open = association.expect("one more");
    let mut buf = [0; MAX_DATAGRAM];
    assert!(half_open.poll_transmit(late, &mut buf).is_none() && half_open.seal(late, b"secret", &mut buf).is_none());
    half_open.handle_timeout(late + Span::from_secs(10));
    assert_eq!(half_open.poll_event(), Some(Event::Ended(Ending::Silent)));
    assert!(half_open.is_over());
}
