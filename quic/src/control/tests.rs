use std::time::Duration;

use super::*;

const MTU: u16 = 1200;

/// A connection whose acknowledgements arrive when the test says so.
struct Connection {
    control: TcpStream,
    began: Instant,
}

impl Connection {
    fn new(rate: Rate) -> Connection {
        let began = Instant::now();
        let config = TcpStreamConfig { rate, variant: Variant::default() };
        Connection { control: TcpStream::new(config, began, MTU), began }
    }

    fn at(&self, ms: u64) -> Instant {
        self.began + Duration::from_millis(ms)
    }

    /// An ACK frame at `now` for `packets` full packets sent at `sent`; the sender is limited by its window.
    fn acknowledge(&mut self, now: u64, sent: u64, packets: u32) {
        for _ in 0..packets {
            self.control.take(self.at(sent), u64::from(MTU));
        }
        let now = self.at(now);
        self.control.on_end_acks(now, 0, false, None);
    }

    fn lose(&mut self, now: u64, sent: u64, persistent: bool) {
        let (now, sent) = (self.at(now), self.at(sent));
        self.control.on_congestion_event(now, sent, persistent, u64::from(MTU));
    }

    /// The window in whole packets.
    fn window(&self) -> u64 {
        self.control.window() / u64::from(MTU)
    }
}

/// 1155 bytes of video a packet are 9240 bits: at 100 ms, 9.24 Mb/s are 100 packets a round trip.
fn hundred() -> Rate {
    Rate::from_bps(9_240_000)
}

#[test]
fn window_reaches_the_ceiling_then_grows_a_packet_per_round() {
    let mut connection = Connection::new(hundred());
    // RFC 9002 §7.2: ten packets of at most 1200 bytes.
    assert_eq!((connection.window(), connection.control.initial_window()), (10, 12_000));
    connection.acknowledge(100, 0, 10);
    assert_eq!(connection.window(), 20, "slow start doubles");
    connection.acknowledge(200, 100, 20);
    connection.acknowledge(300, 200, 40);
    connection.acknowledge(400, 300, 80);
    // lwnd is at ceil(9.24 Mb/s 100 ms / 1155 B) = 100; dwnd grew by one, as the round ended with an empty queue.
    assert_eq!(connection.window(), 101);
    assert!(connection.control.law().delay_on());
    connection.acknowledge(500, 400, 50);
    assert_eq!(connection.window(), 102);
    connection.acknowledge(510, 410, 50);
    assert_eq!(connection.window(), 102, "the second frame of a round ends none");
}

#[test]
fn packets_lost_together_halve_the_window_once() {
    let mut connection = Connection::new(hundred());
    for (now, packets) in [(100, 10), (200, 20), (300, 40), (400, 80)] {
        connection.acknowledge(now, now - 100, packets);
    }
    connection.lose(500, 405, false);
    assert_eq!(connection.window(), 50, "half of lwnd, and nothing of dwnd");
    connection.lose(510, 450, false);
    connection.lose(520, 500, false);
    assert_eq!(connection.window(), 50, "these were on their way when the first was found");
    connection.acknowledge(530, 430, 10);
    assert_eq!(connection.window(), 50, "and what was, grows nothing");
    connection.lose(650, 510, false);
    assert_eq!(connection.window(), 25, "sent after it: a second loss");
}

#[test]
fn persistent_congestion_reduces_the_window_to_two_packets() {
    let mut connection = Connection::new(hundred());
    for (now, packets) in [(100, 10), (200, 20), (300, 40)] {
        connection.acknowledge(now, now - 100, packets);
    }
    connection.lose(1000, 350, true);
    // RFC 9002 §7.6.2: the minimum window; §7.2: two packets.
    assert_eq!(connection.window(), 2);
    assert_eq!(connection.control.metrics().ssthresh, Some(40 * 1200), "half of 80, not lowered twice");
}

#[test]
fn app_limited_sender_does_not_grow_the_window() {
    let mut connection = Connection::new(hundred());
    for _ in 0..10 {
        connection.control.take(connection.at(0), u64::from(MTU));
    }
    let now = connection.at(100);
    connection.control.on_end_acks(now, 0, true, None);
    assert_eq!(connection.window(), 10);
}

#[test]
fn small_packets_grow_the_window_by_their_bytes() {
    let mut connection = Connection::new(hundred());
    for _ in 0..10 {
        connection.control.take(connection.at(0), 300);
    }
    let now = connection.at(100);
    connection.control.on_end_acks(now, 0, false, None);
    assert_eq!(connection.window(), 12, "3000 bytes are two segments and a half");
    connection.control.take(connection.at(10), 600);
    let now = connection.at(110);
    connection.control.on_end_acks(now, 0, false, None);
    assert_eq!(connection.window(), 13, "and the other half");
}

#[test]
fn rate_set_on_a_copy_applies_to_the_original() {
    let mut connection = Connection::new(hundred());
    for (now, packets) in [(100, 10), (200, 20), (300, 40), (400, 80)] {
        connection.acknowledge(now, now - 100, packets);
    }
    let copy = TcpStream::of(&connection.control).expect("a controller of ours");
    copy.play(Rate::from_bps(2 * hundred().as_bps()));
    assert_eq!(connection.control.law().cap(), Some(100), "not before an acknowledgement");
    connection.acknowledge(500, 400, 60);
    assert_eq!(connection.control.law().cap(), Some(200));
    assert!(connection.window() > 150, "lwnd doubles on, below the new ceiling: {}", connection.window());
}

#[test]
fn larger_mtu_lowers_the_ceiling_in_packets() {
    let mut connection = Connection::new(hundred());
    connection.acknowledge(100, 0, 10);
    connection.control.on_mtu_update(1452);
    // 924 kbit a round trip, 1407 bytes of video a packet: 82.1.
    assert_eq!(connection.control.law().cap(), Some(83));
}
