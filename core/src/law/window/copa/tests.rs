//! Copa on a path without packets.

use std::collections::VecDeque;

use super::super::toy::shown;
use super::*;

/// A sender with everything to send, and a link that serves one segment after the other. That a window's queue is heard of
/// a round trip later is what Copa's cycle comes from, so here it is.
struct Line {
    law: Copa,
    /// The round trip of the empty path.
    rtt: Span,
    /// How long the link takes for a segment.
    service: Span,
    now: Time,
    release: Time,
    /// When the link is through with what was sent.
    free: Time,
    /// When each was sent, and when it is acknowledged; none of those that are lost on the way to the link.
    under_way: VecDeque<(Time, Option<Time>)>,
    /// The sender looks for acknowledgements once in it.
    turn: Span,
    /// Of so many segments one is lost; none of zero.
    lossy: u64,
    /// Packets that find the link busy are lost.
    policed: bool,
    sent: u64,
    srtt: Option<Span>,
    delivered: u64,
}

impl Line {
    /// A path of 50 ms that holds `bdp` segments, to a law that starts with `iw`.
    fn new(bdp: u64, iw: u32) -> Line {
        let rtt = ms(50);
        let mut line = Line {
            law: Copa::new(Start { iw, ..Start::default() }),
            rtt,
            service: rtt / bdp,
            now: Time::ZERO,
            release: Time::ZERO,
            free: Time::ZERO,
            under_way: VecDeque::new(),
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
        while (self.under_way.len() as f64) < libm::floor(self.law.cwnd()) {
            let sent = self.release.max(self.now);
            self.release = sent + self.law.gap().unwrap_or_default();
            self.sent += 1;
            let lost = self.lossy > 0 && self.sent.is_multiple_of(self.lossy) || self.policed && self.free > sent;
            if !lost {
                self.free = self.free.max(sent) + self.service;
            }
            let turn = self.turn.as_nanos();
            let heard = Time::from_nanos((self.free + self.rtt).as_nanos().next_multiple_of(turn));
            self.under_way.push_back((sent, (!lost).then_some(heard)));
        }
    }

    /// The next segment is acknowledged, and those before it are lost.
    fn ack(&mut self) {
        let mut lost = 0;
        let (sent, acked) = loop {
            match self.under_way.pop_front().expect("a window has two segments at least") {
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
            flight: self.under_way.len() as u32 + 1,
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

    /// Segments under way beyond what the empty path holds.
    fn waiting(&self) -> f64 {
        self.under_way.len() as f64 - self.rtt.as_secs_f64() / self.service.as_secs_f64()
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
        // A segment more for each: twice as many after as many as there were.
        if line.law.slow_start {
            assert_eq!(line.law.cwnd(), 10.0 + line.delivered as f64);
        }
    }
    // The first that met a queue left when the window was that of the path: it is heard of a round trip later, and believed
    // half a round trip after that (RTTstanding), 2^1.5 windows later.
    assert!((100.0..=288.0).contains(&most), "{most}");
    assert!((line.law.cwnd() - most / 2.0).abs() <= 2.0, "{} of {most}", line.law.cwnd());
    assert!(line.now < Time::ZERO + line.rtt * 6);
}

#[test]
fn the_equilibrium_is_one_over_delta_packets_in_the_queue() {
    for (bdp, iw) in [(20, 60), (42, 10), (100, 10), (100, 400), (1_000, 10)] {
        let mut line = Line::new(bdp, iw);
        // A queue that was never empty is not seen: the flow has met the empty path once.
        line.law.rtt_min.update(Time::ZERO, line.rtt + line.service, LONG);
        line.run_until(secs(5));
        let (mut waiting, mut seen, mut beyond) = (0.0, 0.0, 0.0);
        while line.now < secs(15) {
            line.ack();
            // One of them is on the link.
            waiting += line.waiting() - 1.0;
            seen += 1.0;
            // §3: within 2.5 / delta, and the velocity is always 1. A window is a whole number.
            beyond += f64::from(u8::from(line.waiting() - 1.0 > 2.5 * PACKETS + 1.0));
            assert_eq!(shown(&line.law, "v"), 1.0);
        }
        let mean = waiting / seen;
        assert!((0.6..1.4).contains(&(mean / PACKETS)), "{bdp}, {iw}: {mean} in the queue");
        assert!(beyond / seen < 0.03, "{bdp}, {iw}: {beyond} of {seen}");
    }
}

#[test]
fn what_a_host_adds_to_a_short_path_is_no_queue() {
    let mut line = Line { rtt: Span::from_micros(100), service: Span::from_micros(2), ..Line::new(50, 10) };
    // Once the acknowledgement came just when it was looked for.
    line.law.rtt_min.update(Time::ZERO, line.rtt + line.service, LONG);
    line.turn = Span::from_micros(300);
    line.run_until(secs(1));
    let before = line.delivered;
    line.run_until(secs(2));
    assert!(line.delivered - before > 450_000, "{} of 500000", line.delivered - before);
    assert!(!line.law.competes());
}

#[test]
fn it_paces_at_two_windows_a_standing_round_trip() {
    let mut line = Line::new(50, 25);
    assert_eq!(line.law.gap(), None);
    line.ack();
    // 26 segments, 50 ms, and 1 ms on the link.
    assert_eq!(line.law.gap(), Some(Span::from_secs_f64(0.051 / 52.0)));
}

/// RFC 6928 has ten segments.
#[test]
fn an_initial_window_may_leave_at_once_while_nothing_waits() {
    let mut line = Line::new(50, 25);
    assert_eq!(line.law.burst(), 1);
    line.ack();
    assert_eq!(line.law.burst(), 10);
    // Slow start ends with a queue, of which the law hears a round trip later.
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
fn in_the_default_mode_loss_is_no_signal() {
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
fn a_queue_that_never_empties_is_met_with_aimd_on_one_over_delta() {
    let mut line = Line::new(100, 10);
    line.run_until(secs(2));
    // Somebody fills the queue to 12 ms, below the quarter of RTTmin that makes it ask, and keeps it there.
    line.rtt = ms(62);
    line.run_until(secs(3));
    assert!(line.law.competes());
    let trips = |line: &mut Line| {
        let began = line.law.mode.packets();
        let end = line.now + line.srtt.expect("a sample") * 5;
        line.run_until(end);
        line.law.mode.packets() - began
    };
    // §2.2: back to nothing known, and one more for each round trip.
    line.law.mode = Mode::new();
    line.run_until(secs(3) + ms(62) * 8);
    assert!(line.law.competes());
    let gained = trips(&mut line);
    assert!((4.0..=6.0).contains(&gained), "{gained}");
    let packets = line.law.mode.packets();
    line.law.on_loss(line.now, 100);
    line.law.on_timeout(line.now, 100, false);
    assert_eq!(line.law.mode.packets(), (packets / 2.0).max(PACKETS), "once a round trip");
    // The other leaves: the queue empties, and delta is 0.5 again.
    line.rtt = ms(50);
    line.run_until(secs(6));
    assert_eq!((line.law.competes(), line.law.mode.packets()), (false, PACKETS));
}

#[test]
fn a_queue_of_its_own_is_withdrawn_when_it_asks_and_that_ends_the_mode() {
    let mut line = Line::new(100, 10);
    line.run_until(secs(2));
    // As flows that took each other for something else leave it: more in the queue than empties by itself.
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
    // No more than the path itself holds.
    assert!(least <= 100.0, "{least}");
    assert!(line.waiting() <= 8.0, "{}", line.waiting());
}

#[test]
fn a_longer_route_is_believed_after_ten_seconds_and_starves_nobody_before() {
    let mut line = Line::new(100, 10);
    line.run_until(secs(20));
    line.rtt = ms(150);
    let before = line.delivered;
    line.run_until(secs(30));
    // 100 ms that look like a queue: lambda_t of the default mode alone is 1 / (0.5 x 0.1 s) = 20 segments a second.
    assert!(line.delivered - before > 10 * 100, "{}", line.delivered - before);
    line.run_until(secs(35));
    let before = line.delivered;
    line.run_until(secs(45));
    let busy = (line.delivered - before) as f64 * line.service.as_secs_f64() / 10.0;
    assert!(busy > 0.98 && shown(&line.law, "rtt_min") >= 0.15, "{busy}");
}

#[test]
fn two_timeouts_in_a_row_forget_the_path_and_one_does_not() {
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
    // And slow start finds it again.
    line.under_way.clear();
    line.send();
    line.run_until(secs(4));
    assert!(line.law.cwnd() > 95.0, "{}", line.law.cwnd());
}

/// No queue tells slow start to end.
#[test]
fn a_policer_is_not_pushed() {
    let mut line = Line::new(50, 64);
    line.policed = true;
    for second in 1..=20 {
        let (sent, delivered) = (line.sent, line.delivered);
        line.run_until(secs(second));
        let [sent, delivered] = [line.sent - sent, line.delivered - delivered];
        // At most a third, and what it costs to find that.
        assert!(delivered * 2 > sent, "second {second}: {delivered} of {sent}, {}", line.law.cwnd());
        assert!(line.law.cwnd() <= 100.0, "second {second}: {}", line.law.cwnd());
    }
}

#[test]
fn what_is_lost_whatever_is_sent_holds_nobody_back() {
    for lossy in [2, 5] {
        let mut line = Line::new(1_000, 64);
        line.lossy = lossy;
        line.run_until(secs(2));
        assert!(line.law.cwnd() > 500.0, "one in {lossy}: {}", line.law.cwnd());
    }
}

#[test]
fn silence_halves_a_window_whose_loss_is_the_paths_own() {
    let mut line = Line::new(1_000, 64);
    line.lossy = 2;
    line.run_until(secs(2));
    let cwnd = line.law.cwnd();
    line.law.on_timeout(line.now, 100, false);
    assert_eq!(line.law.cwnd(), cwnd);
    line.law.on_timeout(line.now, 100, true);
    assert_eq!((line.law.cwnd(), line.law.slow_start), (cwnd / 2.0, true));
    // That was ten seconds ago, and nothing is known any more.
    line.law.on_timeout(line.now + Span::from_secs(10), 100, true);
    assert_eq!(line.law.cwnd(), LEAST);
}

#[test]
fn what_a_policer_may_let_through_is_spread_over_the_round_trip() {
    let mut line = Line::new(50, 64);
    line.policed = true;
    while !line.law.drops.asks() {
        line.ack();
    }
    let standing = shown(&line.law, "rtt_standing");
    assert_eq!((line.law.gap(), line.law.burst()), (Some(Span::from_secs_f64(standing / line.law.cwnd())), 1));
}
