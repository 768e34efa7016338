//! A congestion window in a session, after J. Iyengar, I. Swett, "QUIC Loss Detection and Congestion Control", RFC 9002
//! §7: packet numbers are never reused, so send times separate loss events.
//!
//! | RFC 9002 | here |
//! |---|---|
//! | congestion_recovery_start_time | `recovery` |
//! | recovery period (§7.3.2) | from a loss to the acknowledgement of a packet sent after its detection |
//! | persistent congestion (§7.6) | `on_silence` |
//! | pacing (§7.7) | the law's, if it has one |

use super::{Allowance, Config, Pacer, Report};
use crate::law::ParameterError;
use crate::law::registry::{Description, Line};
use crate::law::window::{self, Acked, CongestionWindow};
use crate::probe::{Probe, Visitor};
use crate::time::{Span, Time};
use crate::units::{Bytes, Rate};

/// The adapter of any window law.
#[derive(Clone, PartialEq, Debug)]
pub struct Windowed<L> {
    law: L,
    pacer: Pacer,
    /// The detection time of the last loss event; `recovers` is true until recovery from it ends.
    recovery: Option<Time>,
    recovers: bool,
    /// The acknowledgement of a packet sent at this time or later ends the round.
    round: Time,
}

impl<L: CongestionWindow> Windowed<L> {
    /// An adapter of `law`; a late caller catches up on at most `slack` of its pacing.
    pub fn new(law: L, slack: Span) -> Windowed<L> {
        Windowed { law, pacer: Pacer::new(slack), recovery: None, recovers: false, round: Time::ZERO }
    }

    /// The law.
    pub fn law(&self) -> &L {
        &self.law
    }

    /// True if `report` ends a round; the next one then begins.
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

    fn rate(&self, packet: Bytes, srtt: Span) -> Rate {
        let bits = 8.0 * packet.0 as f64 * self.law.cwnd();
        Rate::from_bps((bits / srtt.as_secs_f64().max(1e-9)) as u64)
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
        // Losses of packets that were in flight when the last event was detected belong to that event.
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

/// Every window law without a playback rate, which data does not have, is a rate law.
impl Line<Config> for Windowed<window::Law> {
    type Choice = window::Choice;

    fn laws() -> Vec<Description> {
        window::Choice::all().into_iter().filter(|law| !law.needs_playback).collect()
    }

    fn named(name: &str) -> Option<window::Choice> {
        window::Choice::named(name).filter(|choice| !choice.description().needs_playback)
    }

    fn description(choice: &window::Choice) -> Description {
        choice.description()
    }

    fn set(choice: &mut window::Choice, name: &str, value: &str) -> Result<(), ParameterError> {
        choice.set(name, value)
    }

    fn set_argument(choice: &mut window::Choice, value: &str) -> Result<(), ParameterError> {
        choice.set_argument(value)
    }

    fn argument(choice: &window::Choice) -> Option<String> {
        choice.argument()
    }

    fn start(choice: &window::Choice, config: &Config) -> Result<Windowed<window::Law>, ParameterError> {
        let law = window::Law::new(choice, &window::Config::default())?;
        Ok(Windowed::new(law, config.slack))
    }
}

impl<L: CongestionWindow> Probe for Windowed<L> {
    /// Shows the law's values.
    fn probe(&self, visit: &mut Visitor<'_>) {
        self.law.probe(visit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::window::Start;
    use crate::law::window::copa::Copa;
    use crate::law::window::newreno::NewReno;

    const RTT: Span = Span::from_millis(100);

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    /// A report at `millis` of a packet that was sent 100 ms before, and of `lost` others, the newest sent just before
    /// it.
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
    fn unpaced_law_is_limited_by_its_window_alone() {
        let mut law = Windowed::new(NewReno::new(Start::default()), Span::ZERO);
        for in_flight in 0..10 {
            assert!(law.next_send(in_flight) <= Some(Time::ZERO));
            law.on_sent(Time::ZERO, Bytes(1_200));
        }
        assert_eq!(law.next_send(10), None);
        law.on_report(&report(100, 0));
        // Slow start: one packet has left the path, and the window has grown by one.
        assert_eq!([9, 10, 11].map(|in_flight| law.next_send(in_flight).is_some()), [true, true, false]);
    }

    #[test]
    fn losses_of_one_round_trip_are_one_event() {
        let mut law = Windowed::new(NewReno::new(Start { iw: 20, ssthresh: 2.0 }), Span::ZERO);
        law.on_report(&report(1_000, 3));
        assert_eq!(law.law().cwnd(), 10.0);
        // All of these were sent before the loss was detected, and the window does not grow meanwhile.
        for millis in [1_010, 1_050, 1_090] {
            law.on_report(&report(millis, 2));
            law.on_report(&report(millis, 0));
        }
        assert_eq!(law.law().cwnd(), 10.0);
        // The first packet sent later ends recovery; a loss from now on is another event.
        law.on_report(&report(1_102, 0));
        assert_eq!(law.law().cwnd(), 10.1);
        law.on_report(&report(1_120, 1));
        assert_eq!(law.law().cwnd(), 10.0);
    }

    #[test]
    fn timeout_reduces_the_window_to_its_minimum() {
        for (name, left) in [("newreno", 1.0), ("cubic", 1.0), ("copa", 2.0)] {
            let law = window::Law::new(&name.parse().expect("a law"), &window::Config::default());
            let mut law = Windowed::new(law.expect("in range"), Span::ZERO);
            law.on_report(&report(100, 0));
            law.on_silence(at(5_000), 10);
            assert_eq!(law.law().cwnd(), left, "{name}");
        }
    }

    #[test]
    fn copa_paces_and_keeps_its_window_after_a_loss() {
        let mut law = Windowed::new(Copa::new(Start::default()), Span::ZERO);
        law.on_report(&report(100, 0));
        law.on_report(&report(110, 1));
        assert_eq!(law.law().cwnd(), 12.0);
        // The pacer was idle and no packet waits: an initial window leaves at once.
        (0..10).for_each(|_| law.on_sent(at(110), Bytes(1_200)));
        // 2 cwnd / RTTstanding.
        assert_eq!(law.next_send(1), Some(at(110) + Span::from_secs_f64(0.1 / 24.0)));
    }
}
