//! Windowed minima: the least of the recent values.
//!
//! | | window | memory |
//! |---|---|---|
//! | [`WindowedMin`] | between one and two times its length | two values |
//! | [`SlidingMin`] | that of each call, to within 1/32 | at most 34 values |
//!
//! A windowed maximum is a windowed minimum of [`core::cmp::Reverse`].
#![cfg_attr(not(feature = "media"), allow(dead_code, reason = "a part of it serves live streams alone"))]

use std::collections::VecDeque;

use crate::time::{Span, Time};

/// The number of parts of a sliding window, each represented by one sample: the number kept is bounded at any rate.
const GRAIN: u64 = 32;

/// A minimum over one to two windows: that of the present window and the one before.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct WindowedMin<T> {
    window: Span,
    before: Option<T>,
    now: Option<T>,
    since: Time,
}

impl<T: Copy + Ord> WindowedMin<T> {
    pub(crate) fn new(window: Span) -> WindowedMin<T> {
        WindowedMin { window, before: None, now: None, since: Time::ZERO }
    }

    pub(crate) fn push(&mut self, now: Time, value: T) {
        if now.since(self.since) >= self.window {
            self.before = self.now.take();
            self.since = now;
        }
        self.now = Some(self.now.map_or(value, |least| least.min(value)));
    }

    /// The minimum; none before the first value.
    pub(crate) fn get(&self) -> Option<T> {
        self.before.into_iter().chain(self.now).min()
    }

    /// The greater of the two windows' minima; none before the first value.
    pub(crate) fn greatest(&self) -> Option<T> {
        self.before.into_iter().chain(self.now).max()
    }
}

/// A minimum over a sliding window.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct SlidingMin<T> {
    /// Each sample later than the one before, and greater: the first is the minimum.
    samples: VecDeque<(Time, T)>,
}

impl<T: Copy + Ord> SlidingMin<T> {
    pub(crate) fn new() -> SlidingMin<T> {
        SlidingMin { samples: VecDeque::new() }
    }

    /// Takes a sample, and returns the minimum of the last `window`, or of up to 1/32 less than that.
    pub(crate) fn update(&mut self, now: Time, value: T, window: Span) -> T {
        while self.samples.front().is_some_and(|(at, _)| *at + window < now) {
            self.samples.pop_front();
        }
        while self.samples.back().is_some_and(|(_, last)| value <= *last) {
            self.samples.pop_back();
        }
        if self.samples.back().is_none_or(|(at, _)| now.since(*at) * GRAIN >= window) {
            self.samples.push_back((now, value));
        }
        self.samples.front().map_or(value, |(_, least)| *least)
    }
}

#[cfg(test)]
mod tests {
    use core::cmp::Reverse;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_minimum_lasts_at_least_one_and_at_most_two_windows() {
        let at = |secs| Time::ZERO + Span::from_secs(secs);
        let mut least = WindowedMin::new(Span::from_secs(5));
        for (secs, value) in [(0, 7), (1, 3), (4, 9), (6, 8)] {
            least.push(at(secs), value);
        }
        assert_eq!((least.get(), least.greatest()), (Some(3), Some(8)));
        least.push(at(11), 9);
        assert_eq!((least.get(), least.greatest()), (Some(8), Some(9)));
    }

    proptest! {
        #[test]
        fn extremum_covers_the_window_to_within_one_grain(
            samples in prop::collection::vec((0u64..50, 1u64..1_000), 1..300), window in 64u64..2_000,
        ) {
            let (mut least, mut greatest) = (SlidingMin::new(), SlidingMin::new());
            let (mut now, mut seen) = (0, Vec::new());
            for (pause, value) in samples {
                now += pause;
                seen.push((now, value));
                let (at, window) = (Time::from_nanos(now), Span::from_nanos(window));
                let low = least.update(at, value, window);
                let Reverse(high) = greatest.update(at, Reverse(value), window);
                let within = |span: u64| seen.iter().filter(move |(at, _)| at + span >= now).map(|(_, value)| *value);
                let (whole, part) = (window.as_nanos(), window.as_nanos() - window.as_nanos() / GRAIN - 1);
                prop_assert!(within(whole).min() <= Some(low) && Some(low) <= within(part).min());
                prop_assert!(within(whole).max() >= Some(high) && Some(high) >= within(part).max());
                prop_assert!(least.samples.len() <= GRAIN as usize + 2);
            }
        }
    }
}
