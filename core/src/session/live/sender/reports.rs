//! Detection of reports with new information.
//!
//! Reports carry the receiver's clock. A report that is not newer than the last one was reordered or is a replay. A
//! report from an impossible future is forged or damaged, and believing it would make every true one look old.

use crate::time::{Span, Time};
use crate::wire::ntp::NtpShort;

/// The time by which two reports' timestamps may be further apart than their arrivals: the variation of the path's
/// delay. Ours: longer lets a forged clock run further ahead, shorter drops reports behind a queue that empties.
const SLACK: Span = Span::from_secs(1);

/// Time without a possible report after which the receiver's clock is taken to be another one. Ours: a hundred reports
/// at 10 ms; longer leaves a stream without feedback after the clock has stepped.
const CLOCK_STEP: Span = Span::from_secs(1);

/// The reports of one receiver.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
pub(super) struct Reports {
    /// The timestamp of the newest report, and its arrival time.
    newest: Option<(NtpShort, Time)>,
    /// The time at which the law was last given reports.
    reported: Option<Time>,
}

impl Reports {
    /// Takes note of a report that arrives at `now`, and returns whether it is new information.
    pub(super) fn is_new_report(&mut self, now: Time, stamp: NtpShort) -> bool {
        let is_new_report = self.newest.is_none_or(|(newest, received_at)| {
            let (later, passed) = (stamp.since(newest), now.since(received_at));
            let possible = stamp != newest && later.to_span() <= passed + SLACK;
            possible || passed >= CLOCK_STEP
        });
        if is_new_report {
            self.newest = Some((stamp, now));
        }
        is_new_report
    }

    /// Returns whether the law, whose blocks take `interval`, is to be given the reports now: at high rates reports
    /// come more often, and the law gets several together.
    pub(super) fn are_due(&mut self, now: Time, interval: Span) -> bool {
        let are_due = self.reported.is_none_or(|reported| now.since(reported) * 2 >= interval);
        if are_due {
            self.reported = Some(now);
        }
        are_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    /// The clock of a receiver that has run for a minute longer.
    fn stamp(millis: u64) -> NtpShort {
        NtpShort::from(at(60_000 + millis))
    }

    #[test]
    fn reports_in_order_are_new_and_old_ones_are_not() {
        let mut reports = Reports::default();
        for millis in [0, 10, 20, 700, 1650] {
            assert!(reports.is_new_report(at(millis + 20), stamp(millis)), "{millis}");
            for old in [millis, millis.saturating_sub(10)] {
                assert!(!reports.is_new_report(at(millis + 21), stamp(old)), "{old} after {millis}");
            }
        }
        // The path has delayed the first of these by 0.9 s, the second not at all.
        assert!(reports.is_new_report(at(2600), stamp(1700)));
        assert!(reports.is_new_report(at(2601), stamp(2600)));
    }

    #[test]
    fn report_from_the_future_does_not_outdate_valid_ones() {
        let mut reports = Reports::default();
        assert!(reports.is_new_report(at(0), stamp(0)));
        for ahead in [1100, 3_600_000, 30_000_000, 60_000_000] {
            assert!(!reports.is_new_report(at(10), stamp(ahead)), "{ahead} ms");
        }
        assert!(reports.is_new_report(at(10), stamp(10)));
    }

    #[test]
    fn clock_step_is_accepted_after_one_second() {
        for step in [1_000_000, 50_000_000] {
            let mut reports = Reports::default();
            assert!(reports.is_new_report(at(0), stamp(0)));
            for millis in (10..1000).step_by(10) {
                assert!(!reports.is_new_report(at(millis), stamp(step + millis)), "{millis}");
            }
            for millis in (1000..1100).step_by(10) {
                assert!(reports.is_new_report(at(millis), stamp(step + millis)), "{millis}");
            }
        }
    }

    #[test]
    fn law_receives_reports_at_most_once_per_half_interval() {
        let mut reports = Reports::default();
        let reported: Vec<u64> = (0..30).filter(|&millis| reports.are_due(at(millis), Span::from_millis(20))).collect();
        assert_eq!(reported, [0, 10, 20]);
    }
}
