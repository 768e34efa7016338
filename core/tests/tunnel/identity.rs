//! The identity of the peer with which a link came up.

use thalweg_core::session::secure::{Entropy, Key, PublicKey};
use thalweg_core::session::tunnel::Event;
use thalweg_core::time::Span;

use crate::tunnel::pair::{Pair, config};

/// The key in the first event of a pair's server.
fn client_key(mut pair: Pair) -> Option<PublicKey> {
    pair.run(Span::from_secs(1));
    match pair.events[..] {
        [Event::Up { key, .. }, ..] => key,
        _ => panic!("{:?}", pair.events),
    }
}

#[test]
fn server_learns_the_public_key_of_its_client() {
    let mut entropy = Entropy::new([6; 32]);
    let mut own = || match Key::own(&mut entropy, vec![]) {
        Key::Static { secret, .. } => (secret, Key::Static { secret, peers: vec![] }.public()),
        Key::Shared(_) => unreachable!("made as a static key"),
    };
    let [(server, of_server), (client, of_client), (_, of_other)] = [own(), own(), own()];
    let digits = |line: &str| Key::public_from(line.strip_prefix("peer ").expect("a line")).expect("digits");
    let client = Key::Static { secret: client, peers: vec![digits(&of_server)] };
    let server = Key::Static { secret: server, peers: vec![digits(&of_other), digits(&of_client)] };
    let key = client_key(Pair::between(config(), [&client, &server], Entropy::new([7; 32]))).expect("a key of its own");
    assert_eq!(format!("peer {key}"), of_client);
}

#[test]
fn shared_key_identifies_no_peer() {
    assert_eq!(client_key(Pair::new()), None);
}
