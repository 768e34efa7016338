//! X_recv_set: the receive rates reported over the last two round trips (RFC 5348 §4.3).

use std::collections::VecDeque;

use crate::time::{Span, Time};

/// The number of reports kept. A receiver sends one per round trip and one per loss event; if it sends more, the oldest
/// are dropped, which can only lower the limit.
const MOST: usize = 16;

/// Reports in order of arrival, each larger than all later ones: the others can never be the maximum.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct RecvSet {
    entries: VecDeque<(Time, f64)>,
}

impl RecvSet {
    /// The set before the first report: Infinity.
    pub(super) fn new(now: Time) -> RecvSet {
        RecvSet::of(now, f64::INFINITY)
    }

    /// The set of the single item `x_recv`.
    pub(super) fn of(now: Time, x_recv: f64) -> RecvSet {
        RecvSet { entries: VecDeque::from([(now, x_recv)]) }
    }

    pub(super) fn max(&self) -> f64 {
        self.entries.front().map_or(f64::INFINITY, |(_, x_recv)| *x_recv)
    }

    /// "Update X_recv_set": adds `x_recv` and deletes items older than two round trips.
    pub(super) fn update(&mut self, now: Time, x_recv: f64, rtt: Span) {
        while self.entries.back().is_some_and(|(_, smaller)| *smaller <= x_recv) {
            self.entries.pop_back();
        }
        self.entries.push_back((now, x_recv));
        while self.entries.len() > MOST || self.entries.front().is_some_and(|(at, _)| now.since(*at) > rtt * 2) {
            self.entries.pop_front();
        }
    }

    /// "Maximize X_recv_set": keeps only the largest value, as if it had been reported now; Infinity does not count.
    pub(super) fn maximize(&mut self, now: Time, x_recv: f64) {
        let finite = self.entries.iter().map(|(_, value)| *value).filter(|value| value.is_finite());
        *self = RecvSet::of(now, finite.fold(x_recv, f64::max));
    }

    pub(super) fn halve(&mut self) {
        for (_, x_recv) in &mut self.entries {
            *x_recv /= 2.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recv_set_keeps_the_maximum_of_two_round_trips() {
        let at = |ms| Time::ZERO + Span::from_millis(ms);
        let mut set = RecvSet::new(at(0));
        let rtt = Span::from_millis(100);
        set.update(at(100), 50.0, rtt);
        assert_eq!(set.max(), f64::INFINITY);
        set.update(at(201), 40.0, rtt);
        assert_eq!(set.max(), 50.0);
        set.update(at(301), 45.0, rtt);
        assert_eq!(set.max(), 45.0, "50 is 201 ms old, and 40 is behind 45");
        set.halve();
        set.maximize(at(302), 20.0);
        assert_eq!(set, RecvSet::of(at(302), 22.5));
    }

    #[test]
    fn frequent_reports_do_not_grow_the_set() {
        let mut set = RecvSet::new(Time::ZERO);
        for nanos in 0..10_000 {
            set.update(Time::from_nanos(nanos), 1e9 - nanos as f64, Span::from_secs(1));
        }
        assert!(set.entries.len() <= MOST);
        assert!(set.max() <= 1e9);
    }
}
