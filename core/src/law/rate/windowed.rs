//! A congestion window as a session asks it, after J. Iyengar, I. Swett, "QUIC Loss Detection and Congestion Control",
//! RFC 9002 §7: packets are numbered once, so a loss event is a matter of when packets were sent.
//!
//! | RFC 9002 | here |
//! |---|---|
//! | congestion_recovery_start_time | `recovery` |
//! | recovery period (§7.3.2) | from a loss to the acknowledgement of a packet sent after it was found |
//! | persistent congestion (§7.6) | `on_silence` |
//! | pacing (§7.7) | the law's, if it has one |

use super::{Allowance, Pacer, Report};
use crate::law::window::{Acked, CongestionWindow};
use crate::probe::{Probe, Visitor};
use crate::time::{Span, Time};
use crate::units::Bytes;

/// Any window law.
#[derive(Clone, PartialEq, Debug)]
pub struct Windowed<L> {
    law: L,
    pacer: Pacer,
    /// When the last loss event was found, and whether its recovery goes on.
    recovery: Option<Time>,
    recovers: bool,
    /// A packet that was sent later ends the round.
    round: Time,
}

impl<L: CongestionWindow> Windowed<L> {
    /// A session under `law`; who comes late makes up for at most `slack` of its pacing.
    pub fn new(law: L, slack: Span) -> Windowed<L> {
        Windowed { law, pacer: Pacer::new(slack), recovery: None, recovers: false, round: Time::ZERO }
    }

    /// The law.
    pub fn law(&self) -> &L {
        &self.law
    }

    /// Whether it ends a round, which then begins anew.
    fn turn(&mut self, report: &Report) -> bool {
        let turns = report.newest.is_some_and(|newest| newest >= self.round);
        if turns {
            self.round = report.now;
        }
        turns
    }
}

impl<L: CongestionWindow> Allowance for Windowed<L> {
    fn next_send(&self, in_flight: u32) -> Option<Time> {
        (f64::from(in_flight) + 1.0 <= self.law.cwnd()).then_some(self.pacer.release())
    }

    fn on_sent(&mut self, now: Time, _size: Bytes) {
        self.pacer.sent_of(self.law.burst(), now, self.law.gap().unwrap_or_default());
    }

    fn on_report(&mut self, report: &Report) {
        let Report { now, lost, newest, .. } = *report;
        if self.recovers && newest.is_some_and(|newest| self.recovery.is_some_and(|began| newest > began)) {
            self.recovers = false;
            self.law.on_recovered(now);
        }
        // Losses of packets that were under way when the last event was found are that event's.
        let fresh = report.newest_lost.is_some_and(|sent| self.recovery.is_none_or(|began| sent > began));
        if lost > 0 && fresh {
            (self.recovery, self.recovers) = (Some(now), true);
            self.law.on_loss(now, report.in_flight);
        }
        let round_end = self.turn(report);
        let acked = Acked {
            now,
            newly: report.delivered,
            flight: report.in_flight,
            rtt: report.rtt,
            srtt: report.srtt,
            round_end: false,
            window_limited: report.limited,
        };
        if self.recovers || lost > 0 {
            self.law.on_repair_ack(&acked, lost);
        } else if report.delivered > 0 {
            self.law.on_ack(&Acked { round_end, ..acked });
        }
    }

    fn on_silence(&mut self, now: Time, in_flight: u32) {
        // Two timeouts of the same packet.
        self.law.on_timeout(now, in_flight, false);
        self.law.on_timeout(now, in_flight, true);
        (self.recovery, self.recovers) = (Some(now), false);
    }
}

impl<L: CongestionWindow> Probe for Windowed<L> {
    /// Shows what the law shows.
    fn probe(&self, visit: &mut Visitor<'_>) {
        self.law.probe(visit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::window::newreno::NewReno;
    use crate::law::window::{Flavour, Start, Window};

    const RTT: Span = Span::from_millis(100);

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    /// At `millis` a packet is acknowledged that was sent 100 ms before, and of `lost` others the newest was sent just before.
    fn report(millis: u64, lost: u32) -> Report {
        let newest = at(millis - 100);
        Report {
            now: at(millis),
            delivered: 1,
            lost,
            in_flight: 20,
            newest: Some(newest),
            newest_lost: (lost > 0).then_some(newest - Span::from_millis(1)),
            rtt: Some(RTT),
            srtt: Some(RTT),
            limited: true,
        }
    }

    #[test]
    fn the_window_alone_holds_packets_back_where_a_law_does_not_pace() {
        let mut law = Windowed::new(NewReno::new(Start::default()), Span::ZERO);
        for in_flight in 0..10 {
            assert!(law.next_send(in_flight) <= Some(Time::ZERO));
            law.on_sent(Time::ZERO, Bytes(1_200));
        }
        assert_eq!(law.next_send(10), None);
        law.on_report(&report(100, 0));
        // Slow start: one has left the path, and one more may be on it.
        assert_eq!([9, 10, 11].map(|in_flight| law.next_send(in_flight).is_some()), [true, true, false]);
    }

    #[test]
    fn losses_of_one_round_trip_are_one_event() {
        let mut law = Windowed::new(NewReno::new(Start { iw: 20, ssthresh: 2.0 }), Span::ZERO);
        law.on_report(&report(1_000, 3));
        assert_eq!(law.law().cwnd(), 10.0);
        // All of these left before the loss was found, and nothing grows meanwhile.
        for millis in [1_010, 1_050, 1_090] {
            law.on_report(&report(millis, 2));
            law.on_report(&report(millis, 0));
        }
        assert_eq!(law.law().cwnd(), 10.0);
        // The first that left later: recovery is over, and what is lost from now on is another event.
        law.on_report(&report(1_102, 0));
        assert_eq!(law.law().cwnd(), 10.1);
        law.on_report(&report(1_120, 1));
        assert_eq!(law.law().cwnd(), 10.0);
    }

    #[test]
    fn silence_leaves_the_least() {
        for (flavour, left) in [(Flavour::NewReno, 1.0), (Flavour::Cubic, 1.0), (Flavour::Copa, 2.0)] {
            let mut law = Windowed::new(Window::new(flavour, Start::default()), Span::ZERO);
            law.on_report(&report(100, 0));
            law.on_silence(at(5_000), 10);
            assert_eq!(law.law().cwnd(), left, "{flavour}");
        }
    }

    #[test]
    fn copa_hears_of_losses_paces_and_keeps_its_window() {
        let mut law = Windowed::new(Window::new(Flavour::Copa, Start::default()), Span::ZERO);
        law.on_report(&report(100, 0));
        law.on_report(&report(110, 1));
        assert_eq!(law.law().cwnd(), 12.0);
        // Nothing was sent before, and nothing waits: an initial window leaves at once.
        (0..10).for_each(|_| law.on_sent(at(110), Bytes(1_200)));
        // 2 cwnd / RTTstanding.
        assert_eq!(law.next_send(1), Some(at(110) + Span::from_secs_f64(0.1 / 24.0)));
    }
}
