//! A stream between two processes while something happens to the way between them.

mod common;

use std::net::UdpSocket;
use std::time::{Duration, Instant};

use common::relay::Relay;
use common::stream::{LATENCY, expect_everything_in_order, sink};
use common::{PATIENCE, Running};

/// A stream over a way that can be bent.
struct Bent {
    send: Running,
    recv: Running,
    relay: Relay,
    /// Where media goes in, and where it comes out.
    input: String,
    sink: UdpSocket,
}

impl Bent {
    fn start() -> Bent {
        let (sink, output) = sink("127.0.0.1:0");
        let recv = Running::start(&["recv", "--listen", "127.0.0.1:0", "--latency", LATENCY, "--output", &output]);
        let relay = Relay::start(&recv.address("listening", "address"));
        let to = relay.near().to_string();
        let send = Running::start(&["send", "--to", &to, "--latency", LATENCY, "--input", "udp://127.0.0.1:0"]);
        let input = send.address("sending", "input_address");
        send.event("connected");
        let bent = Bent { send, recv, relay, input, sink };
        bent.expect_everything();
        bent
    }

    fn expect_everything(&self) {
        expect_everything_in_order(&self.input, &self.sink);
    }

    /// Sends `mark` until it comes out, and once more `mark + 1`, behind which nothing waits.
    fn expect_after_losses(&self, mark: u8) {
        let source = UdpSocket::bind("127.0.0.1:0").expect("a free port");
        let send = |mark| source.send_to(&[mark; 100], &*self.input).expect("loopback takes it");
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
fn a_sender_whose_address_changes_loses_nothing() {
    let bent = Bent::start();
    for _ in 0..2 {
        bent.relay.move_sender();
        let from = bent.relay.far().to_string();
        bent.expect_everything();
        assert_eq!(bent.recv.event("moved")["from"], from.as_str());
        bent.expect_everything();
    }
}

#[test]
fn a_receiver_whose_address_changes_is_found_again() {
    let bent = Bent::start();
    bent.relay.move_receiver();
    let to = bent.relay.near().to_string();
    // The sender learns of it from a report, and goes there once the token is back.
    bent.expect_after_losses(200);
    assert_eq!(bent.send.event("moved")["to"], to.as_str());
    bent.expect_everything();
}

#[test]
fn five_seconds_without_feedback_lose_nothing_and_raise_no_window() {
    let bent = Bent::start();
    bent.relay.cut(true);
    let started = Instant::now();
    while started.elapsed() < Duration::from_secs(5) {
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
