//! `thalweg send --listen` and `thalweg recv --call` as two processes on loopback.

use std::net::UdpSocket;

use thalweg_core::session::live::MAX_SEALED_PAYLOAD;

use crate::common::stream::{Stream, expect_in_order, sink};
use crate::common::{Running, key, run, ts};

#[test]
fn a_receiver_that_calls_gets_the_file_unchanged_with_a_key_and_without() {
    let key = key("calls");
    let media = ts::stream(2_000);
    let [original, copy] = ["original", "copy"]
        .map(|name| std::env::temp_dir().join(format!("thalweg-{}-calls-{name}.ts", std::process::id())));
    std::fs::write(&original, &media).expect("a temporary file");
    let [from, to] = [&original, &copy].map(|path| format!("file:{}", path.display()));
    for keyed in [&[][..], &["--key-file", &key]] {
        let receive = [&["--once", "--overwrite", "--output", &to], keyed].concat();
        let mut both = Stream::called(&receive, &[&["--input", &from], keyed].concat());
        both.send.succeeds();
        both.recv.succeeds();
        assert!(std::fs::read(&copy).expect("the copy") == media);
    }
    [original, copy].iter().for_each(|path| std::fs::remove_file(path).expect("it was there"));
}

/// Each receiver has a port of its own; the first is killed.
#[test]
fn the_next_receiver_gets_the_stream_once_the_first_is_gone() {
    let key = key("calls-restart");
    for keyed in [&[][..], &["--key-file", &key]] {
        let (sink, output) = sink("127.0.0.1:0");
        let send = [&["send", "--listen", "127.0.0.1:0", "--input", "udp://127.0.0.1:0"], keyed].concat();
        let send = Running::start(&send);
        let opening = send.event("sending");
        let [from, input] = ["from", "input_address"].map(|name| opening[name].as_str().expect("an address"));
        let receive = || Running::start(&[&["recv", "--call", from, "--output", &output], keyed].concat());
        let source = UdpSocket::bind("127.0.0.1:0").expect("a free port");
        source.connect(input).expect("loopback has a way");

        let first = receive();
        send.event("connected");
        expect_in_order(&source, &sink, MAX_SEALED_PAYLOAD);
        let second = receive();
        second.event("busy");
        drop(first);
        second.event("started");
        send.event("connected");
        expect_in_order(&source, &sink, MAX_SEALED_PAYLOAD);
    }
}

#[test]
fn either_end_says_that_it_waits_and_how_the_other_is_started() {
    let send = Running::start(&["send", "--listen", "127.0.0.1:0", "--input", "udp://127.0.0.1:0"]);
    let from = send.address("sending", "from");
    assert_eq!(send.event("waiting")["command"], format!("thalweg recv --call {from} --output file:out.ts"));
    drop(send);
    let recv = Running::start(&["recv", "--call", &from, "--output", "-"]);
    assert_eq!(recv.event("waiting")["command"], format!("thalweg send --listen {from} --input -"));
}

#[test]
fn a_sender_that_nobody_calls_ends_after_its_timeout() {
    let (code, _, stderr) =
        run(&["send", "--listen", "127.0.0.1:0", "--input", "file:../assets/clip.ts", "--timeout", "2s"]);
    assert_eq!(code, 1, "{stderr}");
    assert!(stderr.starts_with("waiting for a receiver to call on 127.0.0.1:"), "{stderr}");
    assert!(stderr.lines().last().is_some_and(|line| line.contains("no receiver called")), "{stderr}");
}

#[test]
fn a_receiver_with_another_key_is_named_and_ends() {
    let [ours, theirs] = ["ours", "theirs"].map(|name| key(&format!("calls-{name}")));
    let send =
        Running::start(&["send", "--listen", "127.0.0.1:0", "--input", "udp://127.0.0.1:0", "--key-file", &ours]);
    let to = send.address("sending", "from");
    let (code, _, stderr) = run(&["recv", "--call", &to, "--output", "-", "--key-file", &theirs]);
    assert_eq!(code, 1, "{stderr}");
    let line = stderr.lines().last().unwrap_or_default();
    assert!(line.starts_with(&format!("thalweg: receiving from {to}: ")) && line.contains("refuses"), "{line}");
    assert!(send.event("other_key")["from"].is_string());
}
