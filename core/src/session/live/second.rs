//! What happened in the last whole second.

use crate::time::{Span, Time};

const SECOND: Span = Span::from_secs(1);

/// Counters that can be compared with their own past.
pub(super) trait Counters: Copy + Default {
    /// What was counted since `earlier`.
    fn since(&self, earlier: &Self) -> Self;
}

/// The change of some counters over the last whole second.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Second<C> {
    began: Time,
    before: C,
    last: Option<(C, Span)>,
}

impl<C: Counters> Second<C> {
    pub(super) fn new(now: Time) -> Second<C> {
        Second { began: now, before: C::default(), last: None }
    }

    /// When [`Second::tick`] has something to do.
    pub(super) fn next(&self) -> Time {
        self.began + SECOND
    }

    /// Looks at the counters at least once a second.
    pub(super) fn tick(&mut self, now: Time, counters: &C) {
        let passed = now.since(self.began);
        if passed >= SECOND {
            *self = Second { began: now, before: *counters, last: Some((counters.since(&self.before), passed)) };
        }
    }

    /// `part / whole` of what was counted in that second; NaN before the first one and of nothing.
    pub(super) fn ratio(&self, part: impl Fn(&C) -> u64, whole: impl Fn(&C) -> u64) -> f64 {
        self.last.map_or(f64::NAN, |(change, _)| part(&change) as f64 / whole(&change) as f64)
    }

    /// Bits a second of a byte counter; NaN before the first second.
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
    fn nothing_is_known_before_the_first_second_is_over() {
        let mut second = Second::new(at(200));
        second.tick(at(1199), &Seen(5, 5000));
        assert_eq!(second.next(), at(1200));
        assert!(second.rate(|seen| seen.1).is_nan() && second.ratio(|seen| seen.0, |seen| seen.1).is_nan());
    }

    #[test]
    fn rates_are_of_the_last_second_alone_and_of_the_time_that_it_took() {
        let mut second = Second::new(at(0));
        second.tick(at(1000), &Seen(10, 1000));
        assert_eq!(second.rate(|seen| seen.1), 8000.0);
        // Looked at late: 500 bytes in 2.5 s.
        second.tick(at(3500), &Seen(20, 1500));
        assert_eq!((second.rate(|seen| seen.1), second.ratio(|seen| seen.0, |seen| seen.1)), (1600.0, 0.02));
        second.tick(at(4499), &Seen(99, 9999));
        assert_eq!(second.rate(|seen| seen.1), 1600.0, "the second under way is not over");
        assert_eq!(second.next(), at(4500));
        second.tick(at(4500), &Seen(20, 1500));
        assert!(second.ratio(|seen| seen.0, |seen| seen.1).is_nan(), "a part of nothing");
    }
}
