//! Copa on a path without packets.

use std::collections::VecDeque;

use super::super::path::shown;
use super::*;

/// A sender that always has data, and a link that serves one segment after the other. Copa's cycle results from the
/// round trip until the sender learns of a queue, so it is modeled here.
struct Line {
    law: Copa,
    /// The round trip of the empty path.
    rtt: Span,
    /// The time that the link takes for a segment.
    service: Span,
    now: Time,
    release: Time,
    /// The time at which the link has served all segments sent.
    free: Time,
    /// The send time of each segment, and the time of its acknowledgement; none if it is lost on the way to the link.
    in_flight: VecDeque<(Time, Option<Time>)>,
    /// The interval at which the sender polls for acknowledgements.
    turn: Span,
    /// The number of segments of which one is lost; none are if zero.
    lossy: u64,
    /// Packets that find the link busy are lost.
    policed: bool,
    sent: u64,
    srtt: Option<Span>,
    delivered: u64,
}

impl Line {
    /// A path of 50 ms that holds `bdp` segments, for a law that starts with `iw`.
    fn new(bdp: u64, iw: u32) -> Line {
        let rtt = ms(50);
        let mut line = Line {
            law: Copa::new(Start { iw, ..Start::default() }),
            rtt,
            service: rtt / bdp,
            now: Time::ZERO,
            release: Time::ZERO,
            free: Time::ZERO,
            in_flight: VecDeque::new(),
            turn: Span::from_nanos(1),
            lossy: 0,
            policed: false,
            sent: 0,
            srtt: None,
            delivered: 0,
        };
        line.send();
        line
    }

    fn send(&mut self) {
        while (self.in_flight.len() as f64) < libm::floor(self.law.cwnd()) {
            let sent = self.release.max(self.now);
            self.release = sent + self.law.gap().unwrap_or_default();
            self.sent += 1;
            let lost = self.lossy > 0 && self.sent.is_multiple_of(self.lossy) || self.policed && self.free > sent;
            if !lost {
                self.free = self.free.max(sent) + self.service;
            }
            let turn = self.turn.as_nanos();
            let acked_at = Time::from_nanos((self.free + self.rtt).as_nanos().next_multiple_of(turn));
            self.in_flight.push_back((sent, (!lost).then_some(acked_at)));
        }
    }

    /// Acknowledges the next segment; those before it are lost.
    fn ack(&mut self) {
        let mut lost = 0;
        let (sent, acked) = loop {
            match self.in_flight.pop_front().expect("a window has two segments at least") {
                (sent, Some(acked)) => break (sent, acked),
                _ => lost += 1,
            }
            self.send();
        };
        self.now = self.now.max(acked);
        let rtt = self.now.since(sent);
        let srtt = self.srtt.map_or(rtt, |srtt| (srtt * 7 + rtt) / 8);
        self.srtt = Some(srtt);
        self.delivered += 1;
        let acked = Acked {
            now: self.now,
            newly: 1,
            flight: self.in_flight.len() as u32 + 1,
            rtt: Some(rtt),
            srtt: Some(srtt),
            round_end: false,
            window_limited: true,
        };
        self.law.on_repair_ack(&acked, lost);
        self.send();
    }

    fn run_until(&mut self, end: Time) {
        while self.now < end {
            self.ack();
        }
    }

    /// Segments in flight beyond the capacity of the empty path.
    fn waiting(&self) -> f64 {
        self.in_flight.len() as f64 - self.rtt.as_secs_f64() / self.service.as_secs_f64()
    }
}

fn ms(millis: u64) -> Span {
    Span::from_millis(millis)
}

fn secs(secs: u64) -> Time {
    Time::ZERO + Span::from_secs(secs)
}

#[test]
fn slow_start_doubles_until_the_target_and_steps_back_one_round_trip() {
    let mut line = Line::new(100, 10);
    let mut most = 0.0_f64;
    while line.law.slow_start {
        most = most.max(line.law.cwnd());
        line.ack();
        // One segment more for each acknowledged: the window doubles once it is acknowledged.
        if line.law.slow_start {
            assert_eq!(line.law.cwnd(), 10.0 + line.delivered as f64);
        }
    }
    // The first packet that met a queue left when the window was that of the path: the sender learns of it a round trip
    // later, and uses it half a round trip after that (RTTstanding), 2^1.5 windows later.
    assert!((100.0..=288.0).contains(&most), "{most}");
    assert!((line.law.cwnd() - most / 2.0).abs() <= 2.0, "{} of {most}", line.law.cwnd());
    assert!(line.now < Time::ZERO + line.rtt * 6);
}

#[test]
fn the_equilibrium_is_one_over_delta_packets_in_the_queue() {
    for (bdp, iw) in [(20, 60), (42, 10), (100, 10), (100, 400), (1_000, 10)] {
        let mut line = Line::new(bdp, iw);
        // A queue that was never empty is invisible: the flow has met the empty path once.
        line.law.rtt_min.update(Time::ZERO, line.rtt + line.service, LONG);
        line.run_until(secs(5));
        let (mut waiting, mut seen, mut beyond) = (0.0, 0.0, 0.0);
        while line.now < secs(15) {
            line.ack();
            // One of them is in transmission on the link.
            waiting += line.waiting() - 1.0;
            seen += 1.0;
            // §3: within 2.5 / delta, and the velocity is always 1. The number of segments is whole.
            beyond += f64::from(u8::from(line.waiting() - 1.0 > 2.5 * PACKETS + 1.0));
            assert_eq!(shown(&line.law, "v"), 1.0);
        }
        let mean = waiting / seen;
        assert!((0.6..1.4).contains(&(mean / PACKETS)), "{bdp}, {iw}: {mean} in the queue");
        assert!(beyond / seen < 0.03, "{bdp}, {iw}: {beyond} of {seen}");
    }
}

#[test]
fn host_delay_on_a_short_path_is_not_taken_for_a_queue() {
    let mut line = Line { rtt: Span::from_micros(100), service: Span::from_micros(2), ..Line::new(50, 10) };
    // One acknowledgement arrived exactly when the sender polled.
    line.law.rtt_min.update(Time::ZERO, line.rtt + line.service, LONG);
    line.turn = Span::from_micros(300);
    line.run_until(secs(1));
    let before = line.delivered;
    line.run_until(secs(2));
    assert!(line.delivered - before > 450_000, "{} of 500000", line.delivered - before);
    assert!(!line.law.competes());
}

#[test]
fn copa_paces_at_two_windows_per_standing_round_trip() {
    let mut line = Line::new(50, 25);
    assert_eq!(line.law.gap(), None);
    line.ack();
    // 26 segments, 50 ms, and 1 ms on the link.
    assert_eq!(line.law.gap(), Some(Span::from_secs_f64(0.051 / 52.0)));
}

/// RFC 6928 has ten segments.
#[test]
fn initial_window_may_leave_at_once_while_the_queue_is_empty() {
    let mut line = Line::new(50, 25);
    assert_eq!(line.law.burst(), 1);
    line.ack();
    assert_eq!(line.law.burst(), 10);
    // Slow start ends with a queue, of which the law learns a round trip later.
    while line.waiting() < 5.0 {
        line.ack();
    }
    let end = line.now + ms(100);
    while line.law.burst() > 1 {
        line.ack();
        assert!(line.now < end);
    }
}

#[test]
fn default_mode_ignores_loss() {
    let mut line = Line::new(100, 60);
    line.run_until(secs(3));
    let before = line.law.clone();
    for _ in 0..100 {
        line.law.on_loss(line.now, 100);
        line.law.on_recovered(line.now);
    }
    assert_eq!(line.law, before);
}

#[test]
fn persistent_queue_switches_to_aimd_on_one_over_delta() {
    let mut line = Line::new(100, 10);
    line.run_until(secs(2));
    // Another flow fills the queue to 12 ms, below the quarter of RTTmin that starts a withdrawal test, and holds it.
    line.rtt = ms(62);
    line.run_until(secs(3));
    assert!(line.law.competes());
    let trips = |line: &mut Line| {
        let began = line.law.mode.packets();
        let end = line.now + line.srtt.expect("a sample") * 5;
        line.run_until(end);
        line.law.mode.packets() - began
    };
    // §2.2: from the initial state, one packet more per round trip.
    line.law.mode = Mode::new();
    line.run_until(secs(3) + ms(62) * 8);
    assert!(line.law.competes());
    let gained = trips(&mut line);
    assert!((4.0..=6.0).contains(&gained), "{gained}");
    let packets = line.law.mode.packets();
    line.law.on_loss(line.now, 100);
    line.law.on_timeout(line.now, 100, false);
    assert_eq!(line.law.mode.packets(), (packets / 2.0).max(PACKETS), "once a round trip");
    // The other flow ends: the queue empties, and delta is 0.5 again.
    line.rtt = ms(50);
    line.run_until(secs(6));
    assert_eq!((line.law.competes(), line.law.mode.packets()), (false, PACKETS));
}

#[test]
fn withdrawal_test_of_its_own_queue_ends_the_competitive_mode() {
    let mut line = Line::new(100, 10);
    line.run_until(secs(2));
    // As after flows have mistaken each other for others: more in the queue than empties by itself.
    line.law.cwnd = 300.0;
    let (mut competed, mut least) = (false, f64::INFINITY);
    while line.now < secs(5) {
        line.ack();
        competed |= line.law.competes();
        if line.law.mode.asks() {
            least = least.min(line.law.cwnd());
        }
    }
    assert!(competed && !line.law.competes());
    // At most the capacity of the path itself.
    assert!(least <= 100.0, "{least}");
    assert!(line.waiting() <= 8.0, "{}", line.waiting());
}

#[test]
fn longer_route_is_accepted_after_ten_seconds_without_starvation() {
    let mut line = Line::new(100, 10);
    line.run_until(secs(20));
    line.rtt = ms(150);
    let before = line.delivered;
    line.run_until(secs(30));
    // 100 ms that look like a queue: lambda_t of the default mode alone is 1 / (0.5 x 0.1 s) = 20 segments per second.
    assert!(line.delivered - before > 10 * 100, "{}", line.delivered - before);
    line.run_until(secs(35));
    let before = line.delivered;
    line.run_until(secs(45));
    let busy = (line.delivered - before) as f64 * line.service.as_secs_f64() / 10.0;
    assert!(busy > 0.98 && shown(&line.law, "rtt_min") >= 0.15, "{busy}");
}

#[test]
fn two_consecutive_timeouts_reset_the_window_and_one_does_not() {
    let mut line = Line::new(100, 60);
    line.run_until(secs(3));
    let cwnd = line.law.cwnd();
    line.law.on_timeout(line.now, 100, false);
    assert_eq!(line.law.cwnd(), cwnd);
    line.ack();
    line.law.on_timeout(line.now, 100, false);
    assert!(line.law.cwnd() > cwnd / 2.0);
    line.law.on_timeout(line.now, 100, true);
    assert_eq!((line.law.cwnd(), line.law.slow_start), (LEAST, true));
    // Slow start finds the window again.
    line.in_flight.clear();
    line.send();
    line.run_until(secs(4));
    assert!(line.law.cwnd() > 95.0, "{}", line.law.cwnd());
}

/// No queue ends slow start.
#[test]
fn loss_at_a_policer_stays_below_half() {
    let mut line = Line::new(50, 64);
    line.policed = true;
    for second in 1..=20 {
        let (sent, delivered) = (line.sent, line.delivered);
        line.run_until(secs(second));
        let [sent, delivered] = [line.sent - sent, line.delivered - delivered];
        // The loss is at most a third, plus the cost of finding the rate.
        assert!(delivered * 2 > sent, "second {second}: {delivered} of {sent}, {}", line.law.cwnd());
        assert!(line.law.cwnd() <= 100.0, "second {second}: {}", line.law.cwnd());
    }
}

#[test]
fn loss_independent_of_the_rate_does_not_reduce_the_window() {
    for lossy in [2, 5] {
        let mut line = Line::new(1_000, 64);
        line.lossy = lossy;
        line.run_until(secs(2));
        assert!(line.law.cwnd() > 500.0, "one in {lossy}: {}", line.law.cwnd());
    }
}

#[test]
fn repeated_timeout_halves_the_window_if_loss_is_not_congestion() {
    let mut line = Line::new(1_000, 64);
    line.lossy = 2;
    line.run_until(secs(2));
    let cwnd = line.law.cwnd();
    line.law.on_timeout(line.now, 100, false);
    assert_eq!(line.law.cwnd(), cwnd);
    line.law.on_timeout(line.now, 100, true);
    assert_eq!((line.law.cwnd(), line.law.slow_start), (cwnd / 2.0, true));
    // The outcome was ten seconds ago, and has expired.
    line.law.on_timeout(line.now + Span::from_secs(10), 100, true);
    assert_eq!(line.law.cwnd(), LEAST);
}

#[test]
fn policer_test_paces_the_window_over_one_round_trip() {
    let mut line = Line::new(50, 64);
    line.policed = true;
    while !line.law.drops.asks() {
        line.ack();
    }
    let standing = shown(&line.law, "rtt_standing");
    assert_eq!((line.law.gap(), line.law.burst()), (Some(Span::from_secs_f64(standing / line.law.cwnd())), 1));
}
