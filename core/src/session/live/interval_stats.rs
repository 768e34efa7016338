//! Interval statistics: the change of counters over the last whole second.

use crate::time::{Span, Time};

/// The interval of the statistics: that of a display, and of rates in bit/s.
const SECOND: Span = Span::from_secs(1);

/// Counters that can be compared with their earlier values.
pub(super) trait Counters: Copy + Default {
    /// The difference since `earlier`.
    fn since(&self, earlier: &Self) -> Self;
}

/// The change of some counters over the last whole second.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct IntervalStats<C> {
    began: Time,
    before: C,
    last: Option<(C, Span)>,
}

impl<C: Counters> IntervalStats<C> {
    pub(super) fn new(now: Time) -> IntervalStats<C> {
        IntervalStats { began: now, before: C::default(), last: None }
    }

    /// The time from which on [`IntervalStats::tick`] ends the current second.
    pub(super) fn next(&self) -> Time {
        self.began + SECOND
    }

    /// Takes the current counters; to be called at least once a second.
    pub(super) fn tick(&mut self, now: Time, counters: &C) {
        let passed = now.since(self.began);
        if passed >= SECOND {
            *self = IntervalStats { began: now, before: *counters, last: Some((counters.since(&self.before), passed)) };
        }
    }

    /// `part / whole` of the counts of that second; NaN before the first one and for 0 / 0.
    pub(super) fn ratio(&self, part: impl Fn(&C) -> u64, whole: impl Fn(&C) -> u64) -> f64 {
        self.last.map_or(f64::NAN, |(change, _)| part(&change) as f64 / whole(&change) as f64)
    }

    /// Bit rate of a byte counter over that second; NaN before the first one.
    pub(super) fn rate(&self, bytes: impl Fn(&C) -> u64) -> f64 {
        self.last.map_or(f64::NAN, |(change, passed)| bytes(&change) as f64 * 8.0 / passed.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packets and bytes.
    #[derive(Clone, Copy, Default, PartialEq, Debug)]
    struct Seen(u64, u64);

    impl Counters for Seen {
        fn since(&self, earlier: &Seen) -> Seen {
            Seen(self.0 - earlier.0, self.1 - earlier.1)
        }
    }

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    #[test]
    fn rates_are_unknown_before_the_first_second_ends() {
        let mut interval = IntervalStats::new(at(200));
        interval.tick(at(1199), &Seen(5, 5000));
        assert_eq!(interval.next(), at(1200));
        assert!(interval.rate(|seen| seen.1).is_nan() && interval.ratio(|seen| seen.0, |seen| seen.1).is_nan());
    }

    #[test]
    fn rates_cover_the_last_interval_and_its_actual_duration() {
        let mut interval = IntervalStats::new(at(0));
        interval.tick(at(1000), &Seen(10, 1000));
        assert_eq!(interval.rate(|seen| seen.1), 8000.0);
        // A late tick: 500 bytes in 2.5 s.
        interval.tick(at(3500), &Seen(20, 1500));
        assert_eq!((interval.rate(|seen| seen.1), interval.ratio(|seen| seen.0, |seen| seen.1)), (1600.0, 0.02));
        interval.tick(at(4499), &Seen(99, 9999));
        assert_eq!(interval.rate(|seen| seen.1), 1600.0, "the second under way is not over");
        assert_eq!(interval.next(), at(4500));
        interval.tick(at(4500), &Seen(20, 1500));
        assert!(interval.ratio(|seen| seen.0, |seen| seen.1).is_nan(), "a part of nothing");
    }
}
