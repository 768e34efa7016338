//! Clients that complete a handshake and say nothing more: the number of their places in the lobby, and the time in
//! each.

use thalweg_core::session::secure::{Association, Config, Entropy};
use thalweg_core::session::tunnel;
use thalweg_core::session::{MAX_DATAGRAM, Session};
use thalweg_core::time::Span;

use crate::tunnel::pair::{Pair, config, there};

/// Sends a hello from a port, and the same with its cookie; returns the number of answers.
fn send_hellos(pair: &mut Pair, port: u16) -> usize {
    let from = ([198, 51, 100, 7], port).into();
    let (mut buf, mut plain, mut answers) = ([0; MAX_DATAGRAM], [0; MAX_DATAGRAM], 0);
    let entropy: Entropy = pair.entropy.fork();
    let mut client = Association::initiate(Config::default(), &pair.key, there(), pair.now, entropy).expect("a key");
    for _ in 0..2 {
        let Some(transmit) = client.poll_transmit(pair.now, &mut buf) else { break };
        let _ = pair.server.handle_datagram(pair.now, from, &buf[..transmit.len]);
        while let Some(transmit) = pair.server.poll_transmit(pair.now, &mut buf) {
            if transmit.to == from {
                answers += 1;
                let _ = client.handle_datagram(pair.now, there(), &buf[..transmit.len], &mut plain);
            }
        }
    }
    answers
}

#[test]
fn half_open_associations_are_limited_and_expire_after_ten_seconds() {
    let few = tunnel::Config { links: 3, ..config() };
    let mut pair = Pair::with(few);
    pair.run(Span::from_secs(1));
    pair.events.clear();
    for port in 1..=70 {
        assert_eq!(send_hellos(&mut pair, port), 2, "a cookie and an answer for {port}");
    }
    assert_eq!(send_hellos(&mut pair, 71), 0, "not even a cookie");
    // A client with a link does not notice.
    let id = pair.client.open(pair.now).expect("room");
    pair.client.write(id, b"inside");
    pair.run(Span::from_secs(1));
    assert_eq!(pair.received[&id], b"inside");
    pair.run(Span::from_millis(8_990));
    assert_eq!(send_hellos(&mut pair, 72), 0, "ten seconds are not over");
    pair.run(Span::from_millis(20));
    assert_eq!(send_hellos(&mut pair, 73), 2);
    assert_eq!(pair.server.links().count(), 1);
}
