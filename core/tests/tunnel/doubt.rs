//! "I do not know you": a restarted server says so, and so may anybody.

use std::net::SocketAddr;

use thalweg_core::session::secure::unknown;
use thalweg_core::session::tunnel::{Event, Tunnel, Why};
use thalweg_core::session::{MAX_DATAGRAM, Session};
use thalweg_core::time::Span;

use crate::pair::{Pair, config, here, there};

/// A pair whose client has said something sealed, and the id by which it names its server (docs/wire.md).
fn under_way() -> (Pair, [u8; 8]) {
    let mut pair = Pair::new();
    let id = pair.client.open(pair.now).expect("room");
    pair.client.write(id, &[1; 1000]);
    pair.run(Span::from_secs(1));
    let sealed = pair.seen.iter().find(|datagram| datagram[0] == 5).expect("sealed");
    let id = sealed[2..10].try_into().expect("eight bytes");
    (pair, id)
}

fn denial(id: [u8; 8]) -> Vec<u8> {
    [&[6, 1], id.as_slice()].concat()
}

/// What the server says to who sends `bytes` from `from`.
fn said(server: &mut Tunnel, pair_now: thalweg_core::time::Time, from: SocketAddr, bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut buf = [0; MAX_DATAGRAM];
    let _ = server.handle_datagram(pair_now, from, bytes);
    let mut said = Vec::new();
    while let Some(transmit) = server.poll_transmit(pair_now, &mut buf) {
        assert_eq!(transmit.to, from);
        said.push(buf[..transmit.len].to_vec());
    }
    said
}

#[test]
fn a_server_that_begins_anew_says_whom_it_does_not_know_in_less_than_was_said() {
    let (mut pair, id) = under_way();
    let sealed = pair.seen.iter().find(|datagram| datagram[0] == 5).expect("sealed").clone();
    let mut server = Tunnel::serve(config(), &pair.key, pair.entropy.fork()).expect("in range");
    let told = said(&mut server, pair.now, here(), &sealed);
    assert_eq!(told, [denial(id)]);
    assert!(told[0].len() < sealed.len());
    assert_eq!(unknown(&told[0]), Some(u64::from_be_bytes(id)));
    // It is no news to who says it, and asks for no answer.
    assert!(said(&mut server, pair.now, here(), &told[0]).is_empty());
    // Not all the world: a hundred a second, and a second's worth at once.
    let count: usize = (0..1000).map(|_| said(&mut server, pair.now, here(), &sealed).len()).sum();
    assert!(count <= 100, "{count}");
    let later = pair.now + Span::from_secs(1);
    let count: usize = (0..1000).map(|_| said(&mut server, later, here(), &sealed).len()).sum();
    assert!((90..=100).contains(&count), "{count}");
    pair.events.clear();
}

/// Who sees the id may repeat it as often as he likes: an end that is there answers, and that is all.
#[test]
fn a_forged_denial_ends_nothing() {
    let (mut pair, id) = under_way();
    for _ in 0..600 {
        pair.client.handle_datagram(pair.now, there(), &denial(id)).expect("it may be so");
        pair.run(Span::from_millis(50));
    }
    // Who has to guess it is not heard.
    let other = denial((u64::from_be_bytes(id) ^ 1).to_be_bytes());
    assert!(pair.client.handle_datagram(pair.now, there(), &other).is_err());
    assert!(pair.server.handle_datagram(pair.now, here(), &denial(id)).is_err());
    assert!(!pair.events.iter().any(|event| matches!(event, Event::Interrupted { .. } | Event::Down { .. })));
    assert!(pair.client.links().all(|link| link.is_up()));
}

#[test]
fn a_client_finds_out_within_seconds_that_its_server_began_anew() {
    let (mut pair, _) = under_way();
    pair.server = Tunnel::serve(config(), &pair.key, pair.entropy.fork()).expect("in range");
    let (mut buf, begin, mut down) = ([0; MAX_DATAGRAM], pair.now, None);
    // It does not answer pings, but says that it does not know who asks: after five idle seconds, and two of doubt.
    while down.is_none() && pair.now < begin + Span::from_secs(14) {
        pair.now += Span::from_millis(10);
        pair.client.handle_timeout(pair.now);
        pair.server.handle_timeout(pair.now);
        while let Some(transmit) = pair.client.poll_transmit(pair.now, &mut buf) {
            let _ = pair.server.handle_datagram(pair.now, here(), &buf[..transmit.len]);
        }
        while let Some(transmit) = pair.server.poll_transmit(pair.now, &mut buf) {
            let _ = pair.client.handle_datagram(pair.now, there(), &buf[..transmit.len]);
        }
        while let Some(event) = pair.client.poll_event() {
            if let Event::Down { why, .. } = event {
                assert_eq!(why, Why::Forgotten);
                down = Some(pair.now);
            }
        }
    }
    let down = down.expect("before the silence of 15 s is over");
    assert!(down.since(begin) < Span::from_secs(8), "{:?}", down.since(begin));
}
