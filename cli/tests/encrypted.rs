//! `thalweg send` and `thalweg recv` with a key.

use thalweg_core::session::live::MAX_SEALED_PAYLOAD;

use crate::common::stream::{Stream, expect_in_order, sink, source};
use crate::common::{Running, key, run};

/// The line with which `args` must fail.
fn failure(args: &[&str]) -> String {
    let (code, _, stderr) = run(args);
    assert_eq!(code, 1, "{stderr}");
    let line = stderr.lines().last().unwrap_or_default();
    assert!(line.starts_with("thalweg: sending to "), "{stderr}");
    line.to_owned()
}

const INPUT: [&str; 2] = ["--input", "file:../assets/clip.ts"];

#[test]
fn every_datagram_arrives_unchanged_and_in_order_with_a_key() {
    let key = key("live");
    for repair in ["none", "geneva"] {
        let (sink, output) = sink("127.0.0.1:0");
        let input = ["--input", "udp://127.0.0.1:0", "--repair", repair, "--key-file", &key];
        let stream = Stream::start(&["--output", &output, "--key-file", &key], &input);
        let source = source(&stream.send);
        expect_in_order(&source, &sink, MAX_SEALED_PAYLOAD);
        for side in [&stream.send, &stream.recv] {
            side.wait_for("figures", |row| row["encrypted"] == 1);
        }
        source.send(&[7; MAX_SEALED_PAYLOAD + 1]).expect("loopback takes it");
        let warning = stream.send.event("warning");
        assert!(warning["text"].as_str().is_some_and(|text| text.contains("the maximum is 1365")), "{warning}");
    }
}

#[test]
fn without_a_key_the_first_event_says_so() {
    let recv = Running::start(&["recv", "--listen", "127.0.0.1:0", "--output", "-"]);
    assert_eq!(recv.event("listening")["encryption"], "none");
    recv.wait_for("figures", |row| row["encrypted"] == 0);
}

#[test]
fn a_key_on_one_side_alone_or_another_one_is_named_at_both_ends() {
    let [ours, theirs] = ["ours", "theirs"].map(|name| key(&format!("live-{name}")));
    let keyed = ["--key-file", &theirs];
    for (receiver, sender, event, words) in [
        (&["--key-file", &ours][..], &keyed[..], "other_key", "do both key files match"),
        (&["--key-file", &ours], &["--timeout", "2s"], "unencrypted", "Or does it have a key?"),
        (&[], &["--timeout", "2s", "--key-file", &ours], "encrypted", "another key, or none?"),
    ] {
        let recv = Running::start(&[&["recv", "--listen", "127.0.0.1:0", "--output", "-"], receiver].concat());
        let to = recv.address("listening", "address");
        let line = failure(&[&["send", "--to", &to], &INPUT[..], sender].concat());
        assert!(line.contains(&to) && line.contains(words), "{line}");
        assert!(recv.event(event)["from"].is_string());
    }
}

#[test]
fn a_receiver_that_restarts_gets_the_encrypted_stream_again() {
    let key = key("live-restart");
    let (sink, output) = sink("127.0.0.1:0");
    let receive = |listen: &str| Running::start(&["recv", "--listen", listen, "--output", &output, "--key-file", &key]);
    let recv = receive("127.0.0.1:0");
    let to = recv.address("listening", "address");
    let send = Running::start(&["send", "--input", "udp://127.0.0.1:0", "--to", &to, "--key-file", &key]);
    let source = source(&send);
    expect_in_order(&source, &sink, MAX_SEALED_PAYLOAD);
    drop(recv);
    let _recv = receive(&to);
    send.event("connected");
    expect_in_order(&source, &sink, MAX_SEALED_PAYLOAD);
}
