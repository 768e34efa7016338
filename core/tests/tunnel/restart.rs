//! "Unknown association": a restarted server says so, and so may any attacker.

use std::net::SocketAddr;

use thalweg_core::session::secure::unknown;
use thalweg_core::session::tunnel::{Event, Tunnel, Why};
use thalweg_core::session::{MAX_DATAGRAM, Session};
use thalweg_core::time::Span;

use crate::tunnel::pair::{Pair, config, here, there};

/// A pair whose client has sent a sealed datagram, and the id by which this names the server (docs/wire.md).
fn established_pair() -> (Pair, [u8; 8]) {
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

/// The server's replies to `bytes` from `from`.
fn replies(server: &mut Tunnel, pair_now: thalweg_core::time::Time, from: SocketAddr, bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut buf = [0; MAX_DATAGRAM];
    let _ = server.handle_datagram(pair_now, from, bytes);
    let mut replies = Vec::new();
    while let Some(transmit) = server.poll_transmit(pair_now, &mut buf) {
        assert_eq!(transmit.to, from);
        replies.push(buf[..transmit.len].to_vec());
    }
    replies
}

#[test]
fn restarted_server_denies_unknown_associations_without_amplification() {
    let (mut pair, id) = established_pair();
    let sealed = pair.seen.iter().find(|datagram| datagram[0] == 5).expect("sealed").clone();
    let mut server = Tunnel::serve(config(), &pair.key, pair.entropy.fork()).expect("in range");
    let denials = replies(&mut server, pair.now, here(), &sealed);
    assert_eq!(denials, [denial(id)]);
    assert!(denials[0].len() < sealed.len());
    assert_eq!(unknown(&denials[0]), Some(u64::from_be_bytes(id)));
    // The denial is not answered when it is sent back to its author.
    assert!(replies(&mut server, pair.now, here(), &denials[0]).is_empty());
    // Denials are limited to a hundred a second, with a second's worth at once.
    let count: usize = (0..1000).map(|_| replies(&mut server, pair.now, here(), &sealed).len()).sum();
    assert!(count <= 100, "{count}");
    let later = pair.now + Span::from_secs(1);
    let count: usize = (0..1000).map(|_| replies(&mut server, later, here(), &sealed).len()).sum();
    assert!((90..=100).contains(&count), "{count}");
    pair.events.clear();
}

/// An attacker that sees the id may repeat the denial without limit: an end that is alive answers a ping, and nothing
/// ends.
#[test]
fn forged_denial_does_not_end_the_association() {
    let (mut pair, id) = established_pair();
    for _ in 0..600 {
        pair.client.handle_datagram(pair.now, there(), &denial(id)).expect("it may be so");
        pair.run(Span::from_millis(50));
    }
    // A denial with a guessed id is refused.
    let other = denial((u64::from_be_bytes(id) ^ 1).to_be_bytes());
    assert!(pair.client.handle_datagram(pair.now, there(), &other).is_err());
    assert!(pair.server.handle_datagram(pair.now, here(), &denial(id)).is_err());
    assert!(!pair.events.iter().any(|event| matches!(event, Event::Interrupted { .. } | Event::Down { .. })));
    assert!(pair.client.links().all(|link| link.is_up()));
}

#[test]
fn client_detects_a_restarted_server_within_seconds() {
    let (mut pair, _) = established_pair();
    pair.server = Tunnel::serve(config(), &pair.key, pair.entropy.fork()).expect("in range");
    let (mut buf, begin, mut down) = ([0; MAX_DATAGRAM], pair.now, None);
    // The new server answers no pings, but denies the association: after five idle seconds, and two without an answer.
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
