//! Sealing and opening allocate no memory.

use allocation_counter::measure;
use thalweg_core::session::MAX_DATAGRAM;
use thalweg_core::session::secure::{Acceptor, Association, Config, Entropy, Event, Key};
use thalweg_core::time::{Span, Time};

fn ends() -> [Association; 2] {
    let (here, there) = ("192.0.2.2:5000".parse().unwrap(), "192.0.2.1:7000".parse().unwrap());
    let mut entropy = Entropy::new([1; 32]);
    let key = Key::shared(&mut entropy);
    let mut initiator = Association::initiate(Config::default(), &key, there, Time::ZERO, entropy.fork()).unwrap();
    let mut acceptor = Acceptor::new(Config::default(), &key, entropy.fork()).unwrap();
    let (mut buf, mut answer, mut out) = ([0; MAX_DATAGRAM], [0; MAX_DATAGRAM], [0; MAX_DATAGRAM]);
    loop {
        let transmit = initiator.poll_transmit(Time::ZERO, &mut buf).expect("a hello");
        let reply = acceptor.handle_datagram(Time::ZERO, here, &buf[..transmit.len], &mut answer).unwrap();
        initiator.handle_datagram(Time::ZERO, there, &answer[..reply.transmit.len], &mut out).unwrap();
        if let Some(mut responder) = reply.association {
            let transmit = initiator.poll_transmit(Time::ZERO, &mut buf).expect("a ping");
            responder.handle_datagram(Time::ZERO, here, &buf[..transmit.len], &mut out).unwrap();
            assert_eq!(responder.poll_event(), Some(Event::Established));
            return [initiator, responder];
        }
    }
}

#[test]
fn sealing_and_opening_a_datagram_allocates_nothing() {
    let start = measure(|| drop(ends()));
    assert!(start.count_total > 10, "the allocator counts");
    let [mut initiator, mut responder] = ends();
    let (here, there) = (responder.peer(), initiator.peer());
    let (plain, mut buf, mut out) = ([7; 1165], [0; MAX_DATAGRAM], [0; MAX_DATAGRAM]);
    let mut now = Time::ZERO;
    let steady = measure(|| {
        for _ in 0..10_000 {
            now += Span::from_micros(100);
            let sent = initiator.seal(now, &plain, &mut buf).unwrap();
            assert_eq!(responder.handle_datagram(now, here, &buf[..sent.len], &mut out), Ok(Some(&plain[..])));
            let sent = responder.seal(now, &plain[..10], &mut buf).unwrap();
            assert_eq!(initiator.handle_datagram(now, there, &buf[..sent.len], &mut out), Ok(Some(&plain[..10])));
            while responder.poll_transmit(now, &mut buf).is_some() {}
            while initiator.poll_transmit(now, &mut buf).is_some() {}
        }
    });
    assert_eq!(steady.count_total, 0, "{} bytes", steady.bytes_total);
}

#[test]
fn unauthenticated_hellos_leave_no_memory_allocated() {
    let mut entropy = Entropy::new([1; 32]);
    let (key, other) = (Key::shared(&mut entropy), Key::shared(&mut entropy));
    let mut acceptor = Acceptor::new(Config::default(), &key, entropy.fork()).unwrap();
    let there = "192.0.2.1:7000".parse().unwrap();
    let mut initiator = Association::initiate(Config::default(), &other, there, Time::ZERO, entropy.fork()).unwrap();
    let (mut hello, mut buf) = ([0; MAX_DATAGRAM], [0; MAX_DATAGRAM]);
    let len = initiator.poll_transmit(Time::ZERO, &mut hello).unwrap().len;
    let allocated = measure(|| {
        for client in 0..10_000u16 {
            let from = ([10, 0, (client >> 8) as u8, client as u8], 1024 + client).into();
            let reply = acceptor.handle_datagram(Time::ZERO, from, &hello[..len], &mut buf).unwrap();
            if client % 100 == 0 {
                // With a good cookie and a wrong key: checked, and forgotten.
                let mut again = hello;
                again[10..18].copy_from_slice(&buf[10..reply.transmit.len]);
                assert!(acceptor.handle_datagram(Time::ZERO, from, &again[..len], &mut buf).is_err());
            }
        }
    });
    assert_eq!((allocated.bytes_current, allocated.count_current), (0, 0));
}
