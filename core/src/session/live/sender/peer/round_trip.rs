//! The round trip of hellos and their answers.

use super::address;
use crate::session::live::{LATENCIES, MIN_WINDOW};
use crate::time::{Span, Time};
use crate::windowed_min::WindowedMin;

/// The least time allowed for a report, however short the round trip. Ours: shorter believes a forged ICMP message
/// during a burst of losses, longer sends media to a closed port.
const LEAST_WAIT: Span = Span::from_millis(500);

/// The windowed minimum of the round trip, and the waits that follow from it.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct RoundTrip {
    /// The time at which the newest hello left that was answered.
    answered: Option<Time>,
    minimum: WindowedMin<Span>,
}

impl RoundTrip {
    pub(super) fn new() -> RoundTrip {
        RoundTrip { answered: None, minimum: WindowedMin::new(MIN_WINDOW) }
    }

    /// Returns whether an answer to the hello with `stamp` is newer than those before; if so, takes its round trip.
    pub(super) fn on_answer(&mut self, now: Time, stamp: u32) -> bool {
        let passed = passed(now, stamp);
        let said = now - passed;
        if self.answered.is_some_and(|answered| said <= answered) {
            return false;
        }
        self.answered = Some(said);
        possible(passed).into_iter().for_each(|round_trip| self.minimum.push(now, round_trip));
        true
    }

    /// The same for an answer of another receiver, whose path is another one.
    pub(super) fn on_other(&mut self, now: Time, stamp: u32) -> bool {
        let mut other = RoundTrip { answered: self.answered, ..RoundTrip::new() };
        let is_newer = other.on_answer(now, stamp);
        if is_newer {
            *self = other;
        }
        is_newer
    }

    /// The windowed minimum.
    pub(super) fn get(&self) -> Option<Span> {
        self.minimum.get()
    }

    /// The greater of the minima of the last two windows.
    pub(super) fn latest(&self) -> Option<Span> {
        self.minimum.greatest()
    }

    /// Longest time to wait for a report that comes every `interval`.
    pub(super) fn report_wait(&self, interval: Span) -> Span {
        (self.or_zero() * 2 + interval * 3).max(LEAST_WAIT)
    }

    /// Time allowed for an answer to a challenge.
    pub(super) fn challenge_wait(&self) -> Span {
        address::wait(self.or_zero())
    }

    fn or_zero(&self) -> Span {
        self.get().unwrap_or(Span::ZERO)
    }
}

/// The round trip of an answer that arrives now to the hello with `stamp`; none if it is too long to be one.
pub(super) fn since(now: Time, stamp: u32) -> Option<Span> {
    possible(passed(now, stamp))
}

/// The time since the hello with `stamp`. Stamps wrap in 71 minutes, and a receiver may be away for longer than half of that.
fn passed(now: Time, stamp: u32) -> Span {
    Span::from_micros(((now.as_nanos() / 1_000) as u32).wrapping_sub(stamp).into())
}

/// A round trip, unless it is due to a damaged stamp. Ours: the bound is the greatest latency that a user may choose.
fn possible(round_trip: Span) -> Option<Span> {
    (round_trip < *LATENCIES.end()).then_some(round_trip)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_answers_to_newer_hellos_count_and_the_minimum_sets_the_waits() {
        let at = |millis| Time::ZERO + Span::from_millis(millis);
        let mut round_trip = RoundTrip::new();
        assert_eq!(round_trip.report_wait(Span::from_millis(10)), LEAST_WAIT);
        assert!(round_trip.on_answer(at(400), 100_000));
        assert!(!round_trip.on_answer(at(410), 100_000), "answered before");
        assert!(!round_trip.on_answer(at(420), 90_000), "an older hello");
        assert!(round_trip.on_answer(at(1_000), 500_000), "500 ms, which is not the minimum");
        assert_eq!(round_trip.get(), Some(Span::from_millis(300)));
        assert_eq!(round_trip.report_wait(Span::from_millis(10)), Span::from_millis(630));
        assert_eq!(round_trip.challenge_wait(), Span::from_millis(600));
    }

    #[test]
    fn another_receiver_has_a_minimum_of_its_own_but_needs_a_newer_hello() {
        let at = |millis| Time::ZERO + Span::from_millis(millis);
        let mut round_trip = RoundTrip::new();
        assert!(round_trip.on_answer(at(400), 390_000));
        assert!(!round_trip.on_other(at(500), 390_000), "answered before");
        assert_eq!(round_trip.get(), Some(Span::from_millis(10)));
        assert!(round_trip.on_other(at(600), 500_000));
        assert_eq!(round_trip.get(), Some(Span::from_millis(100)));
    }

    #[test]
    fn stamp_that_wraps_is_understood_and_one_too_old_is_no_round_trip() {
        let wrapped = Time::ZERO + Span::from_micros((1 << 32) + 5_000);
        let mut round_trip = RoundTrip::new();
        assert!(round_trip.on_answer(wrapped, u32::MAX - 4_999));
        assert_eq!(round_trip.get(), Some(Span::from_millis(10)));
        let mut damaged = RoundTrip::new();
        assert!(damaged.on_answer(Time::ZERO + Span::from_secs(7200), 0xffff_ffff));
        assert_eq!(damaged.get(), None, "more than ten seconds");
    }
}
