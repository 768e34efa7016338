//! A stream between two processes while the path between them changes or fails.

use std::net::UdpSocket;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::common::relay::Relay;
use crate::common::stream::{LATENCY, expect_everything_in_order, sink, source};
use crate::common::{self, Running, TIMEOUT};

/// A stream over a path that the test can change.
struct RelayedStream {
    send: Running,
    recv: Running,
    relay: Relay,
    /// The source of the media; `sink` takes the output.
    source: UdpSocket,
    sink: UdpSocket,
}

impl RelayedStream {
    fn start() -> RelayedStream {
        let (sink, output) = sink("127.0.0.1:0");
        let recv = Running::start(&["recv", "--listen", "127.0.0.1:0", "--latency", LATENCY, "--output", &output]);
        let relay = Relay::start(&recv.address("listening", "address"));
        let to = relay.near().to_string();
        // Short blocks: output is expected long before the latency is over.
        let input = ["--input", "udp://127.0.0.1:0", "--block", "10ms"];
        let send = Running::start(&[&["send", "--to", &to, "--latency", LATENCY], &input[..]].concat());
        let source = source(&send);
        let stream = RelayedStream { send, recv, relay, source, sink };
        stream.expect_everything();
        stream
    }

    fn expect_everything(&self) {
        expect_everything_in_order(&self.source, &self.sink);
    }

    /// Sends `mark` until it is delivered, and then `mark + 1` once, after which nothing is pending.
    fn expect_after_losses(&self, mark: u8) {
        let send = |mark| self.source.send(&[mark; 100]).expect("loopback takes it");
        let mut buffer = [0; 2048];
        let started = Instant::now();
        self.sink.set_read_timeout(Some(Duration::from_millis(20))).expect("a timeout");
        while self.sink.recv(&mut buffer).is_err() || buffer[0] != mark {
            assert!(started.elapsed() < TIMEOUT, "nothing is delivered");
            send(mark);
        }
        self.sink.set_read_timeout(Some(TIMEOUT)).expect("a timeout");
        send(mark + 1);
        while buffer[0] != mark + 1 {
            self.sink.recv(&mut buffer).expect("what was sent arrives");
        }
    }
}

#[test]
fn receiver_follows_a_changed_sender_address() {
    let stream = RelayedStream::start();
    for mark in [200, 210] {
        stream.relay.move_sender();
        let from = stream.relay.far().to_string();
        // The receiver asks the old address first, and switches to the new one once that has proved to have the secret.
        stream.expect_after_losses(mark);
        assert_eq!(stream.recv.event("moved")["from"], from.as_str());
        stream.expect_everything();
    }
}

#[test]
fn sender_follows_a_changed_receiver_address() {
    let stream = RelayedStream::start();
    stream.relay.move_receiver();
    let to = stream.relay.near().to_string();
    // The sender learns the address from a report, and switches to it once that has proved to have the secret.
    stream.expect_after_losses(200);
    assert_eq!(stream.send.event("moved")["to"], to.as_str());
    stream.expect_everything();
}

#[test]
fn one_second_without_feedback_causes_no_loss_and_no_silent_event() {
    let stream = RelayedStream::start();
    stream.relay.cut_reverse(true);
    let started = Instant::now();
    while started.elapsed() < Duration::from_secs(1) {
        stream.expect_everything();
        std::thread::sleep(Duration::from_millis(100));
    }
    let number = |row: &serde_json::Value, key: &str| row[key].as_f64();
    let before = stream.send.wait_for("a row of the dark time", |row| number(row, "delivered_packets_total").is_some());
    stream.relay.cut_reverse(false);
    stream.expect_everything();
    let later = stream.send.wait_for("reports after it", |row| {
        assert_ne!(row["event"], "silent");
        number(row, "delivered_packets_total") > number(&before, "delivered_packets_total").map(|before| before + 50.0)
    });
    assert_eq!(number(&later, "lost_packets_total"), Some(0.0));
}

/// Sets its flag when it is dropped.
struct Ends<'a>(&'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Sends media until the sender reports silence; returns the time since the receiver was last heard, by the clock of
/// the sender's rows.
fn silent_after(stream: &RelayedStream) -> f64 {
    let (over, source) = (AtomicBool::new(false), &stream.source);
    std::thread::scope(|scope| {
        // Also where the wait below panics: the scope would otherwise never end.
        let _ends = Ends(&over);
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                source.send(&[9; 1000]).expect("loopback takes it");
                std::thread::sleep(Duration::from_millis(5));
            }
        });
        let (mut delivered, mut last_report) = (None, 0.0);
        let silent = stream.send.wait_for("silence", |row| {
            let now = row["delivered_packets_total"].as_f64();
            if now.is_some() && now != delivered {
                (delivered, last_report) = (now, row["t"].as_f64().expect("a time"));
            }
            row["event"] == "silent"
        });
        silent["t"].as_f64().expect("a time") - last_report
    })
}

/// Less than the ten seconds for which a sender waits for a receiver that only falls silent.
const SILENCE_LIMIT: f64 = 8.0;

#[test]
fn receiver_with_a_broken_output_says_goodbye() {
    let recv = ["recv", "--listen", "127.0.0.1:0", "--latency", LATENCY, "--output", "-"];
    let mut recv = Running::start(&recv);
    // Behind a relay the sender gets no error from a closed port.
    let relay = Relay::start(&recv.address("listening", "address"));
    let to = relay.near().to_string();
    let send = Running::start(&["send", "--to", &to, "--latency", LATENCY, "--input", "udp://127.0.0.1:0"]);
    let source = source(&send);
    drop(recv.child.stdout.take());
    let (sink, _) = sink("127.0.0.1:0");
    let mut stream = RelayedStream { send, recv, relay, source, sink };
    let after = silent_after(&stream);
    assert!(after < SILENCE_LIMIT, "{after} s");
    assert_eq!(stream.recv.end().code(), Some(1));
}

/// A process that ignores SIGHUP, as under `nohup`, passes that on to `recv`, which then ignores it, too.
#[test]
fn receiver_says_goodbye_on_sighup() {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| u64::from_str_radix(line.strip_prefix("SigIgn:")?.trim(), 16).ok());
    if ignored.is_some_and(|signals| signals & 1 != 0) {
        println!("skipped: SIGHUP is ignored here");
        return;
    }
    let mut stream = RelayedStream::start();
    common::signal(&stream.recv.child, rustix::process::Signal::HUP);
    let after = silent_after(&stream);
    assert!(after < SILENCE_LIMIT, "{after} s");
    stream.recv.succeeds();
}

#[test]
fn sender_stops_at_the_closed_port_of_a_killed_receiver() {
    let (sink, output) = sink("127.0.0.1:0");
    let mut recv = Running::start(&["recv", "--listen", "127.0.0.1:0", "--latency", LATENCY, "--output", &output]);
    let to = recv.address("listening", "address");
    let send = Running::start(&["send", "--to", &to, "--latency", LATENCY, "--input", "udp://127.0.0.1:0"]);
    let source = source(&send);
    expect_everything_in_order(&source, &sink);
    recv.child.kill().expect("it still runs");
    recv.end();
    let relay = Relay::start(&to);
    let stream = RelayedStream { send, recv, relay, source, sink };
    let after = silent_after(&stream);
    assert!(after < SILENCE_LIMIT, "{after} s");
}

/// Three in ten packets are delayed, a fifth are duplicated, and one in fifty has two bytes changed.
const BAD: &str = r#"
seed = 5
forward.element = [
    { kind = "reorder", share = 0.3, by = "4ms" },
    { kind = "duplicate", share = 0.2 },
    { kind = "corrupt", share = 0.02, bytes = 2 },
]
reverse.element = [{ kind = "wire", delay = "1ms" }]
"#;

#[test]
fn stream_survives_reordering_duplication_and_corruption() {
    const COUNT: u32 = 1500;
    let path = std::env::temp_dir().join(format!("thalweg-bad-{}.toml", std::process::id()));
    std::fs::write(&path, BAD).expect("a temporary file");
    let (sink, output) = sink("127.0.0.1:0");
    // Packets recovered with a damaged one wait for the original packets, which only reordering delays.
    let constant = ["--latency", "2s", "--playout", "constant"];
    let recv = Running::start(&[&["recv", "--listen", "127.0.0.1:0", "--output", &output], &constant[..]].concat());
    let to = recv.address("listening", "address");
    let link = path.to_str().expect("UTF-8");
    let mut emulate = Running::start(&["emulate", link, "--listen", "127.0.0.1:0", "--to", &to]);
    let to = emulate.address("listening", "address");
    std::fs::remove_file(&path).expect("it was there");
    let send = Running::start(&["send", "--to", &to, "--latency", "2s", "--input", "udp://127.0.0.1:0"]);
    let source = source(&send);

    let contents = |number: u32| number.to_be_bytes().repeat(150);
    let collecting = std::thread::spawn(move || {
        sink.set_read_timeout(Some(Duration::from_secs(4))).expect("a timeout");
        let mut buffer = [0; 2048];
        std::iter::from_fn(|| sink.recv(&mut buffer).ok().map(|len| buffer[..len].to_vec())).collect::<Vec<_>>()
    });
    for number in 0..COUNT {
        source.send(&contents(number)).expect("loopback takes it");
        // The receiver begins with the first packet that arrives: nothing must overtake it.
        std::thread::sleep(Duration::from_millis(if number == 0 { 100 } else { 1 }));
    }
    let received = collecting.join().expect("what came");
    let number = |datagram: &[u8]| u32::from_be_bytes(*datagram.last_chunk().expect("four bytes"));
    let intact: Vec<u32> =
        received.iter().filter(|it| it.len() == 600 && contents(number(it)) == **it).map(|it| number(it)).collect();
    assert!(intact.is_sorted_by(|one, next| one < next), "in order, and once");

    // A fifth of 1500, less ten deviations of a binomial.
    recv.wait_for("copies", |row| row["duplicate_packets_total"].as_f64() > Some(145.0));
    emulate.interrupt();
    assert!(emulate.end().success());
    let last: serde_json::Value = serde_json::from_str(&emulate.last_line()).expect("JSON");
    let damaged = last["forward"]["elements"]["corrupt"]["changed_packets_total"].as_u64().expect("a count");
    // A damaged packet harms itself and, if its number was changed, the packet that has that number; no others.
    let missing = u64::from(COUNT) - intact.len() as u64;
    assert!(
        damaged > 10 && missing <= 2 * damaged,
        "{missing} of {COUNT} are not as they were, {damaged} were damaged"
    );
    assert!(intact.last() >= Some(&(COUNT - 50)), "{:?}", intact.last());
}
