//! A stream between two processes while something happens to the way between them.

mod common;

use std::net::UdpSocket;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use common::relay::Relay;
use common::stream::{LATENCY, expect_everything_in_order, sink, source};
use common::{PATIENCE, Running};

/// A stream over a way that can be bent.
struct Bent {
    send: Running,
    recv: Running,
    relay: Relay,
    /// What puts media in, and what takes it.
    source: UdpSocket,
    sink: UdpSocket,
}

impl Bent {
    fn start() -> Bent {
        let (sink, output) = sink("127.0.0.1:0");
        let recv = Running::start(&["recv", "--listen", "127.0.0.1:0", "--latency", LATENCY, "--output", &output]);
        let relay = Relay::start(&recv.address("listening", "address"));
        let to = relay.near().to_string();
        // Short blocks: what goes in is expected out long before the latency is over.
        let input = ["--input", "udp://127.0.0.1:0", "--block", "10ms"];
        let send = Running::start(&[&["send", "--to", &to, "--latency", LATENCY], &input[..]].concat());
        let source = source(&send);
        let bent = Bent { send, recv, relay, source, sink };
        bent.expect_everything();
        bent
    }

    fn expect_everything(&self) {
        expect_everything_in_order(&self.source, &self.sink);
    }

    /// Sends `mark` until it comes out, and once more `mark + 1`, behind which nothing waits.
    fn expect_after_losses(&self, mark: u8) {
        let send = |mark| self.source.send(&[mark; 100]).expect("loopback takes it");
        let mut buffer = [0; 2048];
        let started = Instant::now();
        self.sink.set_read_timeout(Some(Duration::from_millis(20))).expect("a timeout");
        while self.sink.recv(&mut buffer).is_err() || buffer[0] != mark {
            assert!(started.elapsed() < PATIENCE, "nothing comes out");
            send(mark);
        }
        self.sink.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        send(mark + 1);
        while buffer[0] != mark + 1 {
            self.sink.recv(&mut buffer).expect("what went in comes out");
        }
    }
}

#[test]
fn a_sender_whose_address_changes_is_found_again() {
    let bent = Bent::start();
    for mark in [200, 210] {
        bent.relay.move_sender();
        let from = bent.relay.far().to_string();
        // The receiver asks the old address first, and goes by the new one once that has shown the secret.
        bent.expect_after_losses(mark);
        assert_eq!(bent.recv.event("moved")["from"], from.as_str());
        bent.expect_everything();
    }
}

#[test]
fn a_receiver_whose_address_changes_is_found_again() {
    let bent = Bent::start();
    bent.relay.move_receiver();
    let to = bent.relay.near().to_string();
    // The sender learns of it from a report, and goes there once the secret is shown.
    bent.expect_after_losses(200);
    assert_eq!(bent.send.event("moved")["to"], to.as_str());
    bent.expect_everything();
}

#[test]
fn a_second_without_feedback_loses_nothing_and_raises_no_window() {
    let bent = Bent::start();
    bent.relay.cut(true);
    let started = Instant::now();
    while started.elapsed() < Duration::from_secs(1) {
        bent.expect_everything();
        std::thread::sleep(Duration::from_millis(100));
    }
    let number = |row: &serde_json::Value, key: &str| row[key].as_f64();
    let before = bent.send.wait_for("a row of the dark time", |row| number(row, "delivered_packets_total").is_some());
    bent.relay.cut(false);
    bent.expect_everything();
    let later = bent.send.wait_for("reports after it", |row| {
        assert_ne!(row["event"], "silent");
        number(row, "delivered_packets_total") > number(&before, "delivered_packets_total").map(|before| before + 50.0)
    });
    assert_eq!(number(&later, "lost_packets_total"), Some(0.0));
}

/// Puts media in until the sender says that nobody is there, and returns how long before a receiver was heard last, by
/// the clock of its rows.
fn silent_after(bent: &Bent) -> f64 {
    let (over, source) = (AtomicBool::new(false), &bent.source);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                source.send(&[9; 1000]).expect("loopback takes it");
                std::thread::sleep(Duration::from_millis(5));
            }
        });
        let (mut delivered, mut heard) = (None, 0.0);
        let silent = bent.send.wait_for("silence", |row| {
            let now = row["delivered_packets_total"].as_f64();
            if now.is_some() && now != delivered {
                (delivered, heard) = (now, row["t"].as_f64().expect("a time"));
            }
            row["event"] == "silent"
        });
        over.store(true, Ordering::Relaxed);
        silent["t"].as_f64().expect("a time") - heard
    })
}

/// Ten seconds is how long a receiver that only falls silent is waited for.
const PATIENT: f64 = 8.0;

#[test]
fn a_receiver_whose_output_breaks_says_goodbye() {
    let recv = ["recv", "--listen", "127.0.0.1:0", "--latency", LATENCY, "--output", "-"];
    let mut recv = Running::start(&recv);
    // Behind a relay nobody hears of a closed port.
    let relay = Relay::start(&recv.address("listening", "address"));
    let to = relay.near().to_string();
    let send = Running::start(&["send", "--to", &to, "--latency", LATENCY, "--input", "udp://127.0.0.1:0"]);
    let source = source(&send);
    drop(recv.child.stdout.take());
    let (sink, _) = sink("127.0.0.1:0");
    let mut bent = Bent { send, recv, relay, source, sink };
    let after = silent_after(&bent);
    assert!(after < PATIENT, "{after} s");
    assert_eq!(bent.recv.end().code(), Some(1));
}

#[test]
fn a_receiver_that_is_hung_up_on_says_goodbye() {
    let mut bent = Bent::start();
    common::signal(&bent.recv.child, rustix::process::Signal::HUP);
    let after = silent_after(&bent);
    assert!(after < PATIENT, "{after} s");
    bent.recv.succeeds();
}

#[test]
fn a_receiver_that_is_killed_leaves_a_closed_port_and_gets_no_more() {
    let (sink, output) = sink("127.0.0.1:0");
    let mut recv = Running::start(&["recv", "--listen", "127.0.0.1:0", "--latency", LATENCY, "--output", &output]);
    let to = recv.address("listening", "address");
    let send = Running::start(&["send", "--to", &to, "--latency", LATENCY, "--input", "udp://127.0.0.1:0"]);
    let source = source(&send);
    expect_everything_in_order(&source, &sink);
    recv.child.kill().expect("it still runs");
    recv.end();
    let relay = Relay::start(&to);
    let bent = Bent { send, recv, relay, source, sink };
    let after = silent_after(&bent);
    assert!(after < PATIENT, "{after} s");
}

/// Three in ten are held back, a fifth comes twice, and of one in fifty two bytes are others.
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
fn a_stream_goes_on_to_its_end_through_reordering_copies_and_damage() {
    const COUNT: u32 = 1500;
    let path = std::env::temp_dir().join(format!("thalweg-bad-{}.toml", std::process::id()));
    std::fs::write(&path, BAD).expect("a temporary file");
    let (sink, output) = sink("127.0.0.1:0");
    // What repair made of a damaged packet's block waits for the packets themselves: reordering alone holds them up.
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
        // A receiver begins with what comes first: nothing is to overtake it.
        std::thread::sleep(Duration::from_millis(if number == 0 { 100 } else { 1 }));
    }
    let came = collecting.join().expect("what came");
    let number = |datagram: &[u8]| u32::from_be_bytes(*datagram.last_chunk().expect("four bytes"));
    let intact: Vec<u32> =
        came.iter().filter(|it| it.len() == 600 && contents(number(it)) == **it).map(|it| number(it)).collect();
    assert!(intact.is_sorted_by(|one, next| one < next), "in order, and once");

    // A fifth of 1500, less ten deviations of a binomial.
    recv.wait_for("copies", |row| row["duplicate_packets_total"].as_f64() > Some(145.0));
    emulate.interrupt();
    assert!(emulate.end().success());
    let last: serde_json::Value = serde_json::from_str(&emulate.last_line()).expect("JSON");
    let damaged = last["forward"]["elements"]["corrupt"]["changed_packets_total"].as_u64().expect("a count");
    // A damaged packet harms itself, and where its number was hit the one whose number it has now; no others.
    let missing = u64::from(COUNT) - intact.len() as u64;
    assert!(
        damaged > 10 && missing <= 2 * damaged,
        "{missing} of {COUNT} are not as they were, {damaged} were damaged"
    );
    assert!(intact.last() >= Some(&(COUNT - 50)), "{:?}", intact.last());
}
