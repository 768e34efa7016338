//! Bytes that pass through a tunnel unchanged.

use std::fs;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};

use crate::common::{Running, run, scrape};
use crate::tunnel::noise::Noise;
use crate::tunnel::stage::{HARSH, Tunnel, connect, echo, echo_at_end, file, key, open, program};

/// Sends `len` bytes to a program that sends them back.
fn expect_round_trip(tunnel: &Tunnel, seed: u64, len: u64) {
    exchange(tunnel.open(), seed, len);
}

fn exchange(mut stream: TcpStream, seed: u64, len: u64) {
    let mut writer = stream.try_clone().expect("a copy");
    let sent = std::thread::spawn(move || {
        Noise::new(seed).write(&mut writer, len).expect("the tunnel takes all");
        writer.shutdown(Shutdown::Write).expect("a connection");
    });
    Noise::new(seed).expect(&mut stream, len);
    sent.join().expect("all was sent");
}

#[test]
fn connections_carry_bytes_both_ways() {
    let tunnel = Tunnel::start("both", &program("127.0.0.1:0", echo));
    expect_round_trip(&tunnel, 1, 3_000_000);
    expect_round_trip(&tunnel, 2, 1);
    expect_round_trip(&tunnel, 3, 0);
}

#[test]
fn connections_carry_bytes_over_ipv6() {
    let tunnel = Tunnel::start("v6", &program("[::1]:0", echo));
    expect_round_trip(&tunnel, 1, 100_000);
}

#[test]
fn each_keystroke_is_echoed_before_the_next() {
    let tunnel = Tunnel::start("keys", &program("127.0.0.1:0", echo));
    let mut stream = tunnel.open();
    for key in 0..50 {
        stream.write_all(&[key]).expect("room for a byte");
        let mut got = [0];
        stream.read_exact(&mut got).expect("an echo");
        assert_eq!(got, [key]);
    }
}

#[test]
fn bytes_are_unchanged_over_a_lossy_path() {
    let tunnel = Tunnel::with("lossy", &program("127.0.0.1:0", echo_at_end), Some(HARSH), &["--rate", "fixed:20mbit"]);
    expect_round_trip(&tunnel, 4, 300_000);
    let row = tunnel.connect.wait_for("figures", |row| row["lost_packets_total"].as_u64() > Some(20));
    assert!(row["new_packets_total"].as_u64() > row["lost_packets_total"].as_u64(), "{row}");
    let delay = |name: &str| row[name].as_f64().unwrap_or_else(|| panic!("{name}: {row}"));
    // The path loses a fifth, each packet independently, so that bursts have 1 / (1 - 0.2) packets, estimated from some
    // hundred.
    assert!((0.07..0.4).contains(&delay("gilbert_loss_ratio")), "{row}");
    assert!((1.0..2.0).contains(&delay("loss_burst_packets")), "{row}");
    assert!(delay("delay_p50_seconds") > 0.0 && delay("delay_p50_seconds") <= delay("delay_p99_seconds"), "{row}");
}

#[test]
fn unmeasured_values_are_null() {
    let tunnel = Tunnel::start("idle", &program("127.0.0.1:0", echo));
    let row = tunnel.connect.wait_for("figures", |row| row["links"] == 1);
    for name in ["loss_ratio", "gilbert_loss_ratio", "loss_burst_packets", "rtt_seconds", "useless_ratio"] {
        assert!(row[name].is_null(), "{name}: {row}");
    }
    expect_round_trip(&tunnel, 1, 100_000);
    let row = tunnel.connect.wait_for("figures", |row| row["rtt_seconds"].is_number());
    assert!(["loss_ratio", "gilbert_loss_ratio", "useless_ratio"].iter().all(|name| row[name].is_number()), "{row}");
}

#[test]
fn delays_are_exported_as_a_histogram() {
    let (key, target) = (key("scraped"), program("127.0.0.1:0", echo));
    let args = ["tunnel", "serve", "--listen", "127.0.0.1:0", "--to", &target, "--key-file", &key, "--metrics", "0"];
    let serve = Running::start(&args);
    let listening = serve.event("listening");
    let at = |key: &str| listening[key].as_str().expect("an address").to_owned();
    let (_connect, local) = connect(&at("address"), &key, &[]);
    exchange(open(&local), 6, 300_000);
    let page = scrape(&at("metrics"));
    assert!(page.contains("# TYPE thalweg_delay_seconds histogram\n"), "{page}");
    let value = |name: &str| -> f64 {
        let line = page.lines().find_map(|line| line.strip_prefix(&format!("thalweg_delay_seconds_{name}")));
        line.and_then(|line| line.rsplit(' ').next()?.parse().ok()).unwrap_or_else(|| panic!("no {name}: {page}"))
    };
    let count = value("count");
    // No original holds more than a datagram, and most of them are known to have arrived once all has.
    assert!(count > 300_000.0 / 1_200.0 / 2.0, "{count}");
    assert_eq!(value("bucket{side=\"tunnel\",le=\"+Inf\"}"), count);
    assert!(value("bucket{side=\"tunnel\",le=\"0.001\"}") <= value("bucket{side=\"tunnel\",le=\"60\"}"));
    assert!(value("sum") > 0.0 && value("sum") < 60.0 * count);
}

/// A file of a static key, and its public key.
fn own(name: &str, peers: &[&str]) -> (String, String) {
    let path = file(name).to_str().expect("a name").to_owned();
    let peers: Vec<&str> = peers.iter().flat_map(|peer| ["--peer", peer]).collect();
    let (code, printed, _) = run(&[&["keygen", "--static", path.as_str()], peers.as_slice()].concat());
    assert_eq!(code, 0);
    (path, printed.trim().strip_prefix("peer ").expect("a line for the other side").to_owned())
}

#[test]
fn static_keys_carry_bytes_and_refuse_an_unknown_key() {
    let (near, near_public) = own("near.key", &[]);
    let (far, far_public) = own("far.key", &[&near_public]);
    let (other, _) = own("other.key", &[&far_public]);
    let text = fs::read_to_string(&near).expect("a key file") + "peer " + &far_public + "\n";
    fs::write(&near, text).expect("our own");
    let target = program("127.0.0.1:0", echo);
    let serve = Running::start(&["tunnel", "serve", "--listen", "127.0.0.1:0", "--to", &target, "--key-file", &far]);
    let server = serve.address("listening", "address");
    let (connect, local) = connect(&server, &near, &[]);
    exchange(open(&local), 7, 300_000);
    for (end, others) in [(&serve, &near_public), (&connect, &far_public)] {
        assert_eq!(end.event("up")["peer"].as_str(), Some(others.as_str()), "as keygen has printed it");
    }
    let (code, _, stderr) = run(&["pipe", "connect", &server, "--key-file", &other]);
    assert_eq!(code, 1);
    assert!(stderr.lines().last().is_some_and(|line| line.contains("do both key files match")), "{stderr}");
    exchange(open(&local), 8, 1_000);
}
