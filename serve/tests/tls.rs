//! A server under TLS on loopback, and clients that abuse it. The tests of the program use `curl`.

use std::fs;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::thread;
use std::time::Duration;

use rustls::{ClientConnection, StreamOwned};
use thalweg_serve::Limits;
use thalweg_serve::law::Choice;

use crate::common::{Stage, parts, video};

/// Checks that a connection of its own gets the whole video.
fn assert_video_is_served(mut stream: StreamOwned<ClientConnection, TcpStream>) {
    write!(stream, "GET /video.webm HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").expect("a request");
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).expect("an answer, and an end that TLS tells");
    let (head, content) = parts(bytes);
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
    assert!(content == video(3_000_000));
}

#[test]
fn video_is_served_under_tls_and_counted_separately() {
    let stage = Stage::secure("tls-whole", Choice::Paced, Limits::default());
    assert_video_is_served(stage.connect_tls());
    // The HTTP/3 service is announced (RFC 7838 §3).
    let mut stream = stage.connect_tls();
    write!(stream, "HEAD /video.webm HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").expect("a request");
    let mut head = String::new();
    stream.read_to_string(&mut head).expect("an answer");
    assert!(head.contains(&format!("alt-svc: h3=\":{}\"\r\n", stage.local().port())), "{head}");
    assert_eq!((stage.value("tls_requests_total"), stage.value("requests_total")), (2.0, 2.0));
    stage.wait_until("end", |stage| stage.value("tls_connections") == 0.0 && stage.value("connections") == 0.0);
    assert_eq!(stage.value("failed_handshakes_total"), 0.0);
}

#[test]
fn plain_http_is_answered_and_invalid_handshakes_are_closed() {
    let stage = Stage::secure("tls-nonsense", Choice::Paced, Limits::default());
    let (head, content) = stage.get("GET /video.webm HTTP/1.1");
    assert!(head.starts_with("HTTP/1.1 400 ") && head.contains("connection: close\r\n"), "{head}");
    assert_eq!(content, b"this port uses TLS; use https://\n");
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
        let mut response = Vec::new();
        // An alert at most, and a close or a reset.
        let _ = stream.read_to_end(&mut response);
        assert!(response.is_empty() || response[0] == 21, "{what}: {response:?}");
    }
    stage.wait_until("count", |stage| stage.value("failed_handshakes_total") == 7.0);
    stage.wait_until("end", |stage| stage.value("connections") == 0.0);
    assert_video_is_served(stage.connect_tls());
}

#[test]
fn silent_and_stalled_clients_are_closed() {
    let brief = Duration::from_secs(1);
    let stage = Stage::secure("tls-slow", Choice::System, Limits { request: brief, stall: brief, ..Limits::default() });
    fs::write(stage.folder.join("long.webm"), vec![7; 40_000_000]).expect("a file");
    let silent = stage.connect();
    let mut half_hello = stage.connect();
    half_hello.write_all(b"\x16\x03\x01\x02\x00\x01").expect("half a hello");
    let mut stalled = stage.connect_tls();
    write!(stalled, "GET /long.webm HTTP/1.1\r\nHost: a\r\n\r\n").expect("a request");
    let mut idle = stage.connect_tls();
    idle.conn.complete_io(&mut idle.sock).expect("a handshake");
    stage.wait_until("connections", |stage| stage.value("connections_total") == 4.0);
    stage.wait_until("end of the connections", |stage| stage.value("connections") == 0.0);
    assert_eq!((stage.value("failed_handshakes_total"), stage.value("stalled_connections_total")), (2.0, 1.0));
    drop((silent, half_hello, stalled, idle));
    assert_video_is_served(stage.connect_tls());
}

#[test]
fn vanished_clients_leave_their_places_to_waiting_ones() {
    let stage = Stage::secure("tls-gone", Choice::Paced, Limits { connections: 20, ..Limits::default() });
    fs::write(stage.folder.join("long.webm"), vec![7; 40_000_000]).expect("a file");
    for turn in 0..60 {
        let mut stream = stage.connect_tls();
        match turn % 3 {
            0 => drop(stream.conn.write_tls(&mut stream.sock)),
            1 => drop(write!(stream, "GET /long.webm HTTP/1.1\r\nHost: a\r\n\r\n")),
            _ => {
                write!(stream, "GET /long.webm HTTP/1.1\r\nHost: a\r\n\r\n").expect("a request");
                stream.read_exact(&mut [0; 1000]).expect("a video");
            }
        }
    }
    assert_video_is_served(stage.connect_tls());
    let waiting: Vec<_> = (0..20).map(|_| stage.connect()).collect();
    stage.wait_until("all places", |stage| stage.value("connections") == 20.0);
    let late = stage.connect_tls();
    let late = thread::spawn(|| assert_video_is_served(late));
    thread::sleep(Duration::from_millis(100));
    assert!(!late.is_finished(), "there is no place");
    drop(waiting);
    late.join().expect("a place is free");
    stage.wait_until("end of all", |stage| stage.value("connections") == 0.0 && stage.value("playing") == 0.0);
}
