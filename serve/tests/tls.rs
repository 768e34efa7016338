//! A server under TLS on loopback, and clients that abuse it. `curl` asks it in the tests of the program.

mod common;

use std::fs;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::thread;
use std::time::Duration;

use rustls::{ClientConnection, StreamOwned};
use thalweg_serve::Limits;
use thalweg_serve::law::Choice;

use crate::common::{Stage, film, parts};

/// The whole film over a connection of its own.
fn all_is_well(mut stream: StreamOwned<ClientConnection, TcpStream>) {
    write!(stream, "GET /film.webm HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").expect("a request");
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).expect("an answer, and an end that TLS tells");
    let (head, content) = parts(bytes);
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
    assert!(content == film(3_000_000));
}

#[test]
fn a_film_comes_whole_under_tls_and_is_counted_apart() {
    let stage = Stage::secure("tls-whole", Choice::Paced, Limits::default());
    all_is_well(stage.connect_tls());
    // Where HTTP/3 is (RFC 7838 §3).
    let mut stream = stage.connect_tls();
    write!(stream, "HEAD /film.webm HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").expect("a request");
    let mut head = String::new();
    stream.read_to_string(&mut head).expect("an answer");
    assert!(head.contains(&format!("alt-svc: h3=\":{}\"\r\n", stage.server.local().port())), "{head}");
    assert_eq!((stage.value("tls_requests_total"), stage.value("requests_total")), (2.0, 2.0));
    stage.wait_until("end", |stage| stage.value("tls_connections") == 0.0 && stage.value("connections") == 0.0);
    assert_eq!(stage.value("failed_handshakes_total"), 0.0);
}

#[test]
fn who_speaks_http_to_it_is_told_and_who_speaks_nonsense_is_not_listened_to() {
    let stage = Stage::secure("tls-nonsense", Choice::Paced, Limits::default());
    let (head, content) = stage.get("GET /film.webm HTTP/1.1");
    assert!(head.starts_with("HTTP/1.1 400 ") && head.contains("connection: close\r\n"), "{head}");
    assert_eq!(content, b"this port speaks TLS: ask with https://\n");
    let mut long = vec![22, 3, 1, 0xff, 0xff];
    long.extend([1; 70_000]);
    for (what, hello) in [
        ("nothing, and the end", &b""[..]),
        ("no TLS", b"\0\x01\x02"),
        ("another service", b"\x80ssh"),
        ("a record of nonsense", b"\x16\x03\x01\x00\x05nonsense"),
        ("a handshake that is none", b"\x16\x03\x01\x00\x04\x02\x00\x00\x00"),
        ("a record that is too long", &long),
    ] {
        let mut stream = stage.connect();
        let _ = stream.write_all(hello);
        let _ = stream.shutdown(Shutdown::Write);
        let mut said = Vec::new();
        // An alert at most, and the end or a reset.
        let _ = stream.read_to_end(&mut said);
        assert!(said.is_empty() || said[0] == 21, "{what}: {said:?}");
    }
    stage.wait_until("count", |stage| stage.value("failed_handshakes_total") == 7.0);
    stage.wait_until("end", |stage| stage.value("connections") == 0.0);
    all_is_well(stage.connect_tls());
}

#[test]
fn who_says_nothing_half_a_hello_or_reads_nothing_is_given_up() {
    let brief = Duration::from_secs(1);
    let stage = Stage::secure("tls-slow", Choice::System, Limits { request: brief, stall: brief, ..Limits::default() });
    fs::write(stage.folder.join("long.webm"), vec![7; 40_000_000]).expect("a file");
    let says_nothing = stage.connect();
    let mut says_half = stage.connect();
    says_half.write_all(b"\x16\x03\x01\x02\x00\x01").expect("half a hello");
    let mut reads_nothing = stage.connect_tls();
    write!(reads_nothing, "GET /long.webm HTTP/1.1\r\nHost: a\r\n\r\n").expect("a request");
    let mut asks_nothing = stage.connect_tls();
    asks_nothing.conn.complete_io(&mut asks_nothing.sock).expect("a handshake");
    stage.wait_until("connections", |stage| stage.value("connections_total") == 4.0);
    stage.wait_until("end of the connections", |stage| stage.value("connections") == 0.0);
    assert_eq!((stage.value("failed_handshakes_total"), stage.value("stalled_connections_total")), (2.0, 1.0));
    drop((says_nothing, says_half, reads_nothing, asks_nothing));
    all_is_well(stage.connect_tls());
}

#[test]
fn who_vanishes_in_a_handshake_or_a_film_is_forgotten_and_others_wait_for_a_place() {
    let stage = Stage::secure("tls-gone", Choice::Paced, Limits { connections: 20, ..Limits::default() });
    fs::write(stage.folder.join("long.webm"), vec![7; 40_000_000]).expect("a file");
    for turn in 0..60 {
        let mut stream = stage.connect_tls();
        match turn % 3 {
            0 => drop(stream.conn.write_tls(&mut stream.sock)),
            1 => drop(write!(stream, "GET /long.webm HTTP/1.1\r\nHost: a\r\n\r\n")),
            _ => {
                write!(stream, "GET /long.webm HTTP/1.1\r\nHost: a\r\n\r\n").expect("a request");
                stream.read_exact(&mut [0; 1000]).expect("a film");
            }
        }
    }
    all_is_well(stage.connect_tls());
    let waiting: Vec<_> = (0..20).map(|_| stage.connect()).collect();
    stage.wait_until("all places", |stage| stage.value("connections") == 20.0);
    let late = stage.connect_tls();
    let late = thread::spawn(|| all_is_well(late));
    thread::sleep(Duration::from_millis(100));
    assert!(!late.is_finished(), "there is no place");
    drop(waiting);
    late.join().expect("a place is free");
    stage.wait_until("end of all", |stage| stage.value("connections") == 0.0 && stage.value("playing") == 0.0);
}
