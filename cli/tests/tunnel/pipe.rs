//! `thalweg pipe`: the input of one side is the output of the other, and both know when it was complete.

use std::io::{ErrorKind, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::spawn;

use crate::common::{Running, run, wait_until};
use crate::tunnel::noise::Noise;
use crate::tunnel::stage::{HARSH, behind, is_long, key};

/// Both ends of a pipe, and a path between them.
struct Pipe {
    serve: Running,
    connect: Running,
    _path: Option<Running>,
}

impl Pipe {
    fn start(name: &str, path: Option<&str>, more: &[&str]) -> Pipe {
        let key = key(name);
        let serve = ["pipe", "serve", "--listen", "127.0.0.1:0", "--key-file", &key];
        let serve = Running::start(&[&serve, more].concat());
        let server = serve.address("listening", "address");
        let (path, server) = behind(name, path, server);
        let connect = Running::start(&[&["pipe", "connect", &server, "--key-file", &key], more].concat());
        Pipe { serve, connect, _path: path }
    }
}

/// Writes to one end's standard input, and ends it.
fn feed(end: &mut Running, seed: u64, len: u64) -> std::thread::JoinHandle<()> {
    let mut input = end.child.stdin.take().expect("piped");
    spawn(move || Noise::new(seed).write(&mut input, len).expect("it reads"))
}

/// Expects the same bytes at the other end's standard output.
fn drain(end: &mut Running, seed: u64, len: u64) -> std::thread::JoinHandle<()> {
    let mut output = end.child.stdout.take().expect("piped");
    spawn(move || Noise::new(seed).expect(&mut output, len))
}

/// Transfers both ways at once, to the end.
fn both_ways(mut pipe: Pipe, there: u64, back: u64) {
    let threads = [
        feed(&mut pipe.connect, 1, there),
        drain(&mut pipe.serve, 1, there),
        feed(&mut pipe.serve, 2, back),
        drain(&mut pipe.connect, 2, back),
    ];
    for thread in threads {
        thread.join().expect("all bytes, and the end");
    }
    for end in [&mut pipe.connect, &mut pipe.serve] {
        assert_eq!(end.event("down")["why"], "all has arrived");
        end.succeeds();
    }
}

#[test]
fn a_pipe_carries_both_ways_and_ends_with_both_inputs() {
    both_ways(Pipe::start("plain", None, &[]), 2_000_000, 1_000_000);
}

/// The pipe is over before a row of figures is due, and the last row is complete nonetheless.
#[test]
fn last_row_of_a_short_pipe_counts_all_packets() {
    const LEN: u64 = 2_000_000;
    let mut pipe = Pipe::start("short", None, &[]);
    feed(&mut pipe.serve, 2, 0).join().expect("the end of an input");
    let threads = [feed(&mut pipe.connect, 1, LEN), drain(&mut pipe.serve, 1, LEN)];
    threads.into_iter().for_each(|thread| thread.join().expect("all bytes, and the end"));
    let [near, far] = [&mut pipe.connect, &mut pipe.serve].map(|end| {
        assert!(end.end().success());
        let line = end.last_line();
        serde_json::from_str::<serde_json::Value>(&line).expect("a row")
    });
    // No packet has more than the 1200 bytes of --mtu.
    for (row, name) in [(&near, "new_packets_total"), (&far, "innovative_packets_total")] {
        assert!(row[name].as_u64() >= Some(LEN / 1200), "{name}: {row}");
    }
    for name in ["rtt_seconds", "delay_p50_seconds", "delay_p99_seconds", "useless_ratio"] {
        assert!(near[name].as_f64() >= Some(0.0), "{name}: {near}");
    }
}

#[test]
fn pipe_without_input_succeeds() {
    both_ways(Pipe::start("nothing", None, &[]), 0, 0);
}

#[test]
fn bytes_are_unchanged_over_a_lossy_path() {
    both_ways(Pipe::start("pipe-lossy", Some(HARSH), &["--rate", "fixed:20mbit"]), 200_000, 200_000);
}

#[test]
fn sixty_four_mebibytes_through_a_harsh_path_are_identical() {
    if is_long() {
        both_ways(Pipe::start("pipe-harsh", Some(HARSH), &[]), 64 << 20, 0);
    }
}

#[test]
fn end_of_one_input_is_forwarded_before_the_other_ends() {
    let mut pipe = Pipe::start("early", None, &[]);
    feed(&mut pipe.connect, 1, 1000).join().expect("it reads");
    drain(&mut pipe.serve, 1, 1000).join().expect("all, and the end");
    assert!(pipe.serve.child.try_wait().expect("a child").is_none());
    let mut input = pipe.serve.child.stdin.take().expect("piped");
    input.write_all(b"late").expect("it reads");
    drop(input);
    let mut text = String::new();
    pipe.connect.child.stdout.take().expect("piped").read_to_string(&mut text).expect("text");
    assert_eq!(text, "late");
    pipe.connect.succeeds();
    pipe.serve.succeeds();
}

#[test]
fn second_client_is_refused_while_the_pipe_is_in_use() {
    let key = key("taken");
    let serve = Running::start(&["pipe", "serve", "--listen", "127.0.0.1:0", "--key-file", &key]);
    let server = serve.address("listening", "address");
    let _first = Running::start(&["pipe", "connect", &server, "--key-file", &key]);
    serve.event("opened");
    let (code, _, stderr) = run(&["pipe", "connect", &server, "--key-file", &key]);
    assert_eq!(code, 1);
    let lines: Vec<&str> = stderr.lines().filter(|line| line.contains("this pipe is in use")).collect();
    assert!(lines.len() == 1 && lines[0].starts_with("thalweg: "), "{stderr}");
    assert!(!stderr.contains("reach"), "{stderr}");
}

#[test]
fn stopped_endpoint_fails_both() {
    let mut pipe = Pipe::start("stop", None, &[]);
    pipe.serve.event("opened");
    pipe.connect.interrupt();
    assert_eq!(pipe.connect.end().code(), Some(1));
    assert_eq!(pipe.serve.end().code(), Some(1));
    let line = pipe.serve.rest().pop().expect("a last line");
    assert!(line.contains("stopped"), "{line}");
}

#[test]
fn closed_output_fails_both_endpoints() {
    let mut pipe = Pipe::start("gone", None, &[]);
    drop(pipe.serve.child.stdout.take());
    let mut input = pipe.connect.child.stdin.take().expect("piped");
    let written = Noise::new(1).write(&mut input, 100 << 20);
    assert!(written.is_err(), "it goes on reading");
    assert_eq!((pipe.serve.end().code(), pipe.connect.end().code()), (Some(1), Some(1)));
    let line = pipe.serve.rest().pop().expect("a last line");
    assert!(line.contains("broken pipe"), "{line}");
}

#[test]
fn killed_peer_is_reported_as_silent_in_time() {
    if is_long() {
        let mut pipe = Pipe::start("killed", None, &["--patience", "2s"]);
        let (mut input, mut output) = (pipe.connect.child.stdin.take(), pipe.serve.child.stdout.take());
        let writer = spawn(move || Noise::new(1).write(input.as_mut().expect("piped"), u64::MAX).expect_err("no end"));
        let arrived = Arc::new(AtomicU64::new(0));
        let count = arrived.clone();
        // A part, but each byte of it once and in its place.
        let reader = spawn(move || Noise::new(1).recognise(output.as_mut().expect("piped"), &count));
        wait_until("bytes", || arrived.load(Ordering::Relaxed) > 1_000_000);
        pipe.connect.child.kill().expect("it runs");
        assert_eq!(pipe.serve.end().code(), Some(1));
        assert_eq!(reader.join().expect("what was written, as far as it came"), Ok(()));
        assert_eq!(writer.join().expect("a writer").kind(), ErrorKind::BrokenPipe);
        let line = pipe.serve.rest().pop().expect("a last line");
        assert!(line.contains("silent"), "{line}");
    }
}
