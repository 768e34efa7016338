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
