//! Which reports are news.
//!
//! Reports carry the receiver's clock. One that is not newer than the last has been overtaken, or is played again; one
//! that is from a future that cannot be yet is forged or damaged, and believing it would make every true one look old.

use crate::time::{Span, Time};
use crate::wire::ntp::NtpShort;

/// A report may be so much further from the last one than their arrivals are: what a path delays one more than another.
const SLACK: Span = Span::from_secs(1);

/// After so long without a report that could be, the receiver's clock is another one.
const PATIENCE: Span = Span::from_secs(1);

/// The reports of one receiver.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
pub(super) struct Reports {
    /// The timestamp of the newest, and when it came.
    newest: Option<(NtpShort, Time)>,
    /// When the law had its last.
    told: Option<Time>,
}

impl Reports {
    /// Takes note of a report that comes at `now`, and tells whether it says anything new.
    pub(super) fn is_news(&mut self, now: Time, stamp: NtpShort) -> bool {
        let is_news = self.newest.is_none_or(|(newest, came)| {
            let (later, passed) = (stamp.since(newest), now.since(came));
            let possible = stamp != newest && later.to_span() <= passed + SLACK;
            possible || passed >= PATIENCE
        });
        if is_news {
            self.newest = Some((stamp, now));
        }
        is_news
    }

    /// Whether the law is to be told now, whose blocks take `interval`: at high rates reports come more often, and it gets
    /// them together.
    pub(super) fn are_due(&mut self, now: Time, interval: Span) -> bool {
        let are_due = self.told.is_none_or(|told| now.since(told) * 2 >= interval);
        if are_due {
            self.told = Some(now);
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
    fn reports_in_their_order_are_news_and_old_ones_are_none() {
        let mut reports = Reports::default();
        for millis in [0, 10, 20, 700, 1650] {
            assert!(reports.is_news(at(millis + 20), stamp(millis)), "{millis}");
            for old in [millis, millis.saturating_sub(10)] {
                assert!(!reports.is_news(at(millis + 21), stamp(old)), "{old} after {millis}");
            }
        }
        // Both of these a path has held up: one by 0.9 s, the next by nothing.
        assert!(reports.is_news(at(2600), stamp(1700)));
        assert!(reports.is_news(at(2601), stamp(2600)));
    }

    #[test]
    fn a_report_out_of_the_future_makes_no_true_one_old() {
        let mut reports = Reports::default();
        assert!(reports.is_news(at(0), stamp(0)));
        for ahead in [1100, 3_600_000, 30_000_000, 60_000_000] {
            assert!(!reports.is_news(at(10), stamp(ahead)), "{ahead} ms");
        }
        assert!(reports.is_news(at(10), stamp(10)));
    }

    #[test]
    fn a_clock_that_steps_is_believed_after_a_second_of_it() {
        for step in [1_000_000, 50_000_000] {
            let mut reports = Reports::default();
            assert!(reports.is_news(at(0), stamp(0)));
            for millis in (10..1000).step_by(10) {
                assert!(!reports.is_news(at(millis), stamp(step + millis)), "{millis}");
            }
            for millis in (1000..1100).step_by(10) {
                assert!(reports.is_news(at(millis), stamp(step + millis)), "{millis}");
            }
        }
    }

    #[test]
    fn the_law_hears_of_reports_once_in_half_its_interval_or_more() {
        let mut reports = Reports::default();
        let told: Vec<u64> = (0..30).filter(|&millis| reports.are_due(at(millis), Span::from_millis(20))).collect();
        assert_eq!(told, [0, 10, 20]);
    }
}
