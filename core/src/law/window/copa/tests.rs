//! Copa on a path without packets.

use std::collections::VecDeque;

use super::super::path::shown;
use super::*;

/// A sender that always has data, and a link that serves one segment after the other. Copa's cycle results from the
/// round trip until the sender learns of a queue, so it is modeled here.
struct Link {
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

impl Link {
    /// A path of 50 ms that holds `bdp` segments, for a law that starts with `iw`.
    fn new(bdp: u64, iw: u32) -> Link {
        let rtt = ms(50);
        let mut link = Link {
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
        link.send();
        link
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
    let mut link = Link::new(100, 10);
    let mut most = 0.0_f64;
    while link.law.slow_start {
        most = most.max(link.law.cwnd());
        link.ack();
        // One segment more for each acknowledged: the window doubles once it is acknowledged.
        if link.law.slow_start {
            assert_eq!(link.law.cwnd(), 10.0 + link.delivered as f64);
        }
    }
    // The first packet that met a queue left when the window was that of the path: the sender learns of it a round trip
    // later, and uses it half a round trip after that (RTTstanding), 2^1.5 windows later.
    assert!((100.0..=288.0).contains(&most), "{most}");
    assert!((link.law.cwnd() - most / 2.0).abs() <= 2.0, "{} of {most}", link.law.cwnd());
    assert!(link.now < Time::ZERO + link.rtt * 6);
}

#[test]
fn the_equilibrium_is_one_over_delta_packets_in_the_queue() {
    for (bdp, iw) in [(20, 60), (42, 10), (100, 10), (100, 400), (1_000, 10)] {
        let mut link = Link::new(bdp, iw);
        // A queue that was never empty is invisible: the flow has met the empty path once.
        link.law.rtt_min.update(Time::ZERO, link.rtt + link.service, LONG);
        link.run_until(secs(5));
        let (mut waiting, mut seen, mut beyond) = (0.0, 0.0, 0.0);
        while link.now < secs(15) {
            link.ack();
            // One of them is in transmission on the link.
            waiting += link.waiting() - 1.0;
            seen += 1.0;
            // §3: within 2.5 / delta, and the velocity is always 1. The number of segments is whole.
            beyond += f64::from(u8::from(link.waiting() - 1.0 > 2.5 * PACKETS + 1.0));
            assert_eq!(shown(&link.law, "v"), 1.0);
        }
        let mean = waiting / seen;
        assert!((0.6..1.4).contains(&(mean / PACKETS)), "{bdp}, {iw}: {mean} in the queue");
        assert!(beyond / seen < 0.03, "{bdp}, {iw}: {beyond} of {seen}");
    }
}

#[test]
fn host_delay_on_a_short_path_is_not_taken_for_a_queue() {
    let mut link = Link { rtt: Span::from_micros(100), service: Span::from_micros(2), ..Link::new(50, 10) };
    // One acknowledgement arrived exactly when the sender polled.
    link.law.rtt_min.update(Time::ZERO, link.rtt + link.service, LONG);
    link.turn = Span::from_micros(300);
    link.run_until(secs(1));
    let before = link.delivered;
    link.run_until(secs(2));
    assert!(link.delivered - before > 450_000, "{} of 500000", link.delivered - before);
    assert!(!link.law.competes());
}

#[test]
fn copa_paces_at_two_windows_per_standing_round_trip() {
    let mut link = Link::new(50, 25);
    assert_eq!(link.law.gap(), None);
    link.ack();
    // 26 segments, 50 ms, and 1 ms on the link.
    assert_eq!(link.law.gap(), Some(Span::from_secs_f64(0.051 / 52.0)));
}

/// RFC 6928 has ten segments.
#[test]
fn initial_window_may_leave_at_once_while_the_queue_is_empty() {
    let mut link = Link::new(50, 25);
    assert_eq!(link.law.burst(), 1);
    link.ack();
    assert_eq!(link.law.burst(), 10);
    // Slow start ends with a queue, of which the law learns a round trip later.
    while link.waiting() < 5.0 {
        link.ack();
    }
    let end = link.now + ms(100);
    while link.law.burst() > 1 {
        link.ack();
        assert!(link.now < end);
    }
}

#[test]
fn default_mode_ignores_loss() {
    let mut link = Link::new(100, 60);
    link.run_until(secs(3));
    let before = link.law.clone();
    for _ in 0..100 {
        link.law.on_loss(link.now, 100);
        link.law.on_recovered(link.now);
    }
    assert_eq!(link.law, before);
}

#[test]
fn persistent_queue_switches_to_aimd_on_one_over_delta() {
    let mut link = Link::new(100, 10);
    link.run_until(secs(2));
    // Another flow fills the queue to 12 ms, below the quarter of RTTmin that starts a withdrawal test, and holds it.
    link.rtt = ms(62);
    link.run_until(secs(3));
    assert!(link.law.competes());
    let trips = |link: &mut Link| {
        let began = link.law.mode.packets();
        let end = link.now + link.srtt.expect("a sample") * 5;
        link.run_until(end);
        link.law.mode.packets() - began
    };
    // §2.2: from the initial state, one packet more per round trip.
    link.law.mode = Mode::new();
    link.run_until(secs(3) + ms(62) * 8);
    assert!(link.law.competes());
    let gained = trips(&mut link);
    assert!((4.0..=6.0).contains(&gained), "{gained}");
    let packets = link.law.mode.packets();
    link.law.on_loss(link.now, 100);
    link.law.on_timeout(link.now, 100, false);
    assert_eq!(link.law.mode.packets(), (packets / 2.0).max(PACKETS), "once a round trip");
    // The other flow ends: the queue empties, and delta is 0.5 again.
    link.rtt = ms(50);
    link.run_until(secs(6));
    assert_eq!((link.law.competes(), link.law.mode.packets()), (false, PACKETS));
}

#[test]
fn withdrawal_test_of_its_own_queue_ends_the_competitive_mode() {
    let mut link = Link::new(100, 10);
    link.run_until(secs(2));
    // As after flows have mistaken each other for others: more in the queue than empties by itself.
    link.law.cwnd = 300.0;
    let (mut competed, mut least) = (false, f64::INFINITY);
    while link.now < secs(5) {
        link.ack();
        competed |= link.law.competes();
        if link.law.mode.asks() {
            least = least.min(link.law.cwnd());
        }
    }
    assert!(competed && !link.law.competes());
    // At most the capacity of the path itself.
    assert!(least <= 100.0, "{least}");
    assert!(link.waiting() <= 8.0, "{}", link.waiting());
}

#[test]
fn longer_route_is_accepted_after_ten_seconds_without_starvation() {
    let mut link = Link::new(100, 10);
    link.run_until(secs(20));
    link.rtt = ms(150);
    let before = link.delivered;
    link.run_until(secs(30));
    // 100 ms that look like a queue: lambda_t of the default mode alone is 1 / (0.5 x 0.1 s) = 20 segments per second.
    assert!(link.delivered - before > 10 * 100, "{}", link.delivered - before);
    link.run_until(secs(35));
    let before = link.delivered;
    link.run_until(secs(45));
    let busy = (link.delivered - before) as f64 * link.service.as_secs_f64() / 10.0;
    assert!(busy > 0.98 && shown(&link.law, "rtt_min") >= 0.15, "{busy}");
}

#[test]
fn two_consecutive_timeouts_reset_the_window_and_one_does_not() {
    let mut link = Link::new(100, 60);
    link.run_until(secs(3));
    let cwnd = link.law.cwnd();
    link.law.on_timeout(link.now, 100, false);
    assert_eq!(link.law.cwnd(), cwnd);
    link.ack();
    link.law.on_timeout(link.now, 100, false);
    assert!(link.law.cwnd() > cwnd / 2.0);
    link.law.on_timeout(link.now, 100, true);
    assert_eq!((link.law.cwnd(), link.law.slow_start), (LEAST, true));
    // Slow start finds the window again.
    link.in_flight.clear();
    link.send();
    link.run_until(secs(4));
    assert!(link.law.cwnd() > 95.0, "{}", link.law.cwnd());
}

/// No queue ends slow start.
#[test]
fn loss_at_a_policer_stays_below_half() {
    let mut link = Link::new(50, 64);
    link.policed = true;
    for second in 1..=20 {
        let (sent, delivered) = (link.sent, link.delivered);
        link.run_until(secs(second));
        let [sent, delivered] = [link.sent - sent, link.delivered - delivered];
        // The loss is at most a third, plus the cost of finding the rate.
        assert!(delivered * 2 > sent, "second {second}: {delivered} of {sent}, {}", link.law.cwnd());
        assert!(link.law.cwnd() <= 100.0, "second {second}: {}", link.law.cwnd());
    }
}

#[test]
fn loss_independent_of_the_rate_does_not_reduce_the_window() {
    for lossy in [2, 5] {
        let mut link = Link::new(1_000, 64);
        link.lossy = lossy;
        link.run_until(secs(2));
        assert!(link.law.cwnd() > 500.0, "one in {lossy}: {}", link.law.cwnd());
    }
}

#[test]
fn repeated_timeout_halves_the_window_if_loss_is_not_congestion() {
    let mut link = Link::new(1_000, 64);
    link.lossy = 2;
    link.run_until(secs(2));
    let cwnd = link.law.cwnd();
    link.law.on_timeout(link.now, 100, false);
    assert_eq!(link.law.cwnd(), cwnd);
    link.law.on_timeout(link.now, 100, true);
    assert_eq!((link.law.cwnd(), link.law.slow_start), (cwnd / 2.0, true));
    // The outcome was ten seconds ago, and has expired.
    link.law.on_timeout(link.now + Span::from_secs(10), 100, true);
    assert_eq!(link.law.cwnd(), LEAST);
}

#[test]
fn policer_test_paces_the_window_over_one_round_trip() {
    let mut link = Link::new(50, 64);
    link.policed = true;
    while !link.law.drops.asks() {
        link.ack();
    }
    let standing = shown(&link.law, "rtt_standing");
    assert_eq!((link.law.gap(), link.law.burst()), (Some(Span::from_secs_f64(standing / link.law.cwnd())), 1));
}
