//! Laws that were added by a file of their own and three lines in that of their family, on sockets and in the lab.

use std::fs;
use std::io::{Read, Write};
use std::path::Path;
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::common::{self, Running, run};

/// Sends 600 datagrams through `send` and `recv` with the options `laws`, and returns the first row of `send` in which
/// `metric` is above 100.
fn live(laws: &[&str], metric: &str) -> Value {
    let recv = Running::start(&["recv", "--listen", "127.0.0.1:0", "--output", "udp://127.0.0.1:9"]);
    let to = recv.address("listening", "address");
    let send = Running::start(&[&["send", "--to", &to, "--input", "udp://127.0.0.1:0"], laws].concat());
    let source = common::stream::source(&send);
    thread::scope(|scope| {
        let sends = scope.spawn(|| {
            for _ in 0..600 {
                source.send(&[7; 1000]).expect("loopback takes it");
                thread::sleep(Duration::from_millis(2));
            }
        });
        let row = send.wait_for("100 packets", |row| row[metric].as_f64() > Some(100.0));
        sends.join().expect("the source ends");
        row
    })
}

#[test]
fn added_law_repairs_a_live_stream_on_sockets() {
    let row = live(&["--repair", "toy", "--set", "least=5"], "repair_packets_total");
    assert_eq!(row["repair_window_packets"].as_f64(), Some(5.0), "{row}");
}

/// A window of ten packets carries this stream on loopback; a rate law makes `wanted_rate_bps` known.
#[test]
fn added_window_bounds_a_live_stream_on_sockets() {
    let row = live(&["--rate", "toy"], "source_packets_total");
    assert!(row["wanted_rate_bps"].as_f64() > Some(0.0), "{row}");
}

#[test]
fn added_law_runs_in_the_lab_in_its_own_stream_and_in_a_session() {
    for scheme in ["toy", "live-toy"] {
        let set = format!("scheme={scheme}");
        let settings =
            ["--set", &set, "--set", "n_tcp=4", "--set", "warmup_s=7", "--set", "duration_s=9", "--seeds", "1"];
        let (code, out, line) = run(&[&["lab", "run", "geneva-s1"], &settings[..]].concat());
        assert_eq!((code, line.as_str()), (0, ""), "{scheme}");
        assert!(out.contains("stream"), "{out}");
    }
    let (code, _, line) = run(&["lab", "run", "geneva-s1", "--set", "scheme=no-toy"]);
    assert!(code != 0 && line.contains("geneva") && line.contains("toy"), "{code}: {line}");
}

#[test]
fn added_window_and_schedule_run_in_the_lab() {
    let short = ["--set", "n_tcp=4", "--set", "duration_s=20", "--seeds", "1"];
    let (code, _, line) = run(&[&["lab", "run", "geneva-s1", "--set", "tcp=toy"], &short[..]].concat());
    assert_eq!((code, line.as_str()), (0, ""));
    let tunnel = ["lab", "run", "tunnel", "--set", "scheme=toy", "--set", "rate=toy", "--set", "cipher=aes"];
    let (code, _, line) = run(&[&tunnel[..], &["--set", "duration_s=10", "--seeds", "1"]].concat());
    assert_eq!((code, line.as_str()), (0, ""));
    let (code, help, _) = run(&["tunnel", "serve", "--help"]);
    assert!(code == 0 && help.contains("toy (a window that never changes)"), "{help}");
}

/// The window law by its adapter, and the schedule; all bytes arrive at the other end.
#[test]
fn added_window_and_schedule_run_in_a_tunnel_on_sockets() {
    let key = Path::new(env!("CARGO_TARGET_TMPDIR")).join("toy-key");
    let _ = fs::remove_file(&key);
    let key = key.to_str().expect("UTF-8");
    assert_eq!(run(&["keygen", key]).0, 0);
    let laws = ["--key-file", key, "--rate", "toy", "--schedule", "toy"];
    let mut serve = Running::start(&[&["pipe", "serve", "--listen", "127.0.0.1:0"], &laws[..]].concat());
    let server = serve.address("listening", "address");
    let mut connect = Running::start(&[&["pipe", "connect", &server], &laws[..]].concat());
    drop(serve.child.stdin.take());
    let written = vec![42; 100_000];
    connect.child.stdin.take().expect("piped").write_all(&written).expect("it reads");
    let mut read = Vec::new();
    serve.child.stdout.take().expect("piped").read_to_end(&mut read).expect("its output");
    assert!(read == written, "{} bytes", read.len());
    serve.succeeds();
    connect.succeeds();
}

#[test]
fn replay_runs_the_added_law() {
    let (code, help, _) = run(&["replay", "--help"]);
    assert!(code == 0 && help.contains("as many packets as were lost before"), "{help}");
}
