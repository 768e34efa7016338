//! Faults of the path and of the peer while connections are open.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;

use crate::common::Running;
use crate::common::relay::Relay;
use crate::tunnel::stage::{Tunnel, connect, echo, is_long, key, open, program};

/// Sends `text`, and expects it back.
fn expect_echo(stream: &mut TcpStream, text: &[u8]) {
    stream.write_all(text).expect("room");
    let mut got = vec![0; text.len()];
    stream.read_exact(&mut got).expect("an echo");
    assert_eq!(got, text);
}

#[test]
fn connection_survives_an_address_change() {
    let key = key("moved");
    let target = program("127.0.0.1:0", echo);
    let serve = ["tunnel", "serve", "--listen", "127.0.0.1:0", "--to", &target, "--key-file", &key];
    let serve = Running::start(&serve);
    let relay = Relay::start(&serve.address("listening", "address"));
    let (_connect, local) = connect(&relay.near().to_string(), &key, &[]);
    let mut stream = open(&local);
    expect_echo(&mut stream, b"before");
    for text in [b"after".as_slice(), b"and again"] {
        relay.move_sender();
        expect_echo(&mut stream, text);
        assert_eq!(serve.event("moved")["from"], relay.far().to_string().as_str());
    }
}

/// Kills one endpoint; the other must report it, and reset the open connections.
fn expect_report_and_reset(killed: impl Fn(&mut Tunnel) -> &mut Running, name: &str) {
    let mut tunnel = Tunnel::with(name, &program("127.0.0.1:0", echo), None, &["--patience", "2s"]);
    let mut stream = tunnel.open();
    expect_echo(&mut stream, b"hello");
    killed(&mut tunnel).child.kill().expect("it runs");
    let left = if name == "killed-serve" { &tunnel.connect } else { &tunnel.serve };
    left.event("interrupted");
    let why = left.event("down")["why"].as_str().expect("a reason").to_owned();
    assert!(why.contains("silent"), "{why}");
    left.event("reset");
    if name == "killed-serve" {
        assert_eq!(stream.read(&mut [0; 10]).map_err(|error| error.kind()), Err(ErrorKind::ConnectionReset));
    }
}

#[test]
fn killed_server_resets_connections_in_time() {
    if is_long() {
        expect_report_and_reset(|tunnel| &mut tunnel.serve, "killed-serve");
    }
}

#[test]
fn killed_client_resets_connections_in_time() {
    if is_long() {
        expect_report_and_reset(|tunnel| &mut tunnel.connect, "killed-connect");
    }
}

#[test]
fn stopped_server_closes_the_tunnel_immediately() {
    let mut tunnel = Tunnel::start("stopped", &program("127.0.0.1:0", echo));
    let mut stream = tunnel.open();
    expect_echo(&mut stream, b"hello");
    tunnel.serve.interrupt();
    tunnel.serve.succeeds();
    assert_eq!(stream.read(&mut [0; 10]).map_err(|error| error.kind()), Err(ErrorKind::ConnectionReset));
    let why = tunnel.connect.event("down")["why"].as_str().expect("a reason").to_owned();
    assert!(why.contains("closed by the peer"), "{why}");
    tunnel.connect.interrupt();
    tunnel.connect.succeeds();
}
