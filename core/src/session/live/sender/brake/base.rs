//! The base of the round trip: its length without a queue.
//!
//! A round trip that exceeds its recent minimum indicates a queue. Two minima are wrong, and loss corrects them:
//!
//! - A route has become longer, and the minimum is still that of the route before. On a path known to be lossy, whose loss has
//!   stayed the same, the base is raised once each round trip has been longer for [`LONGER`].
//! - A queue has been full for longer than the window of the minimum, which then includes the queue, so that a full path is
//!   found lossy. Repair makes its loss grow; then the base before is restored.

use super::backoff::RELIEF;
use crate::session::live::MIN_WINDOW;
use crate::time::{Span, Time};

/// The time for which each round trip must be longer. Ours: a shorter time takes a transfer of another flow for a route, a longer
/// one leaves more losses unrepaired.
const LONGER: Span = Span::from_secs(2);
/// The time for which a base is restored at first, and the longest. Ours: as long as other failures are remembered, and ten times
/// that; a path that is lossy after all has no repair meanwhile.
const LEAST_HOLD: Span = RELIEF;
const LONGEST_HOLD: Span = Span::from_secs(600);

/// A base that holds in the place of the recent minimum.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Hold {
    base: Span,
    until: Time,
    /// True if it is an earlier base.
    is_restored: bool,
}

/// The base of one path.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Base {
    base: Span,
    hold: Option<Hold>,
    /// The base before this one, which was shorter, and the time at which it ended.
    before: Option<(Span, Time)>,
    /// The duration of the last restoration.
    held: Span,
    /// The time since which each round trip is longer, and their minimum.
    longer: Option<(Time, Span)>,
}

impl Base {
    pub(super) fn new() -> Base {
        Base { base: Span::ZERO, hold: None, before: None, held: LEAST_HOLD / 2, longer: None }
    }

    /// Takes the recent minimum of the round trip, and returns the base.
    pub(super) fn update(&mut self, now: Time, minimum: Span) -> Span {
        let ended = self.hold.take_if(|hold| now >= hold.until);
        let base = self.hold.map_or(minimum, |hold| hold.base);
        if base > self.base && self.base > Span::ZERO {
            let known = self.before.filter(|(before, end)| *before < self.base && now.since(*end) < RELIEF);
            self.before = Some((known.map_or(self.base, |(before, _)| before), now));
            if !ended.is_some_and(|hold| hold.is_restored) {
                self.held = LEAST_HOLD / 2;
            }
        }
        self.base = base;
        base
    }

    /// Takes a round trip, and whether it indicates a queue.
    pub(super) fn on_round_trip(&mut self, now: Time, round_trip: Span, is_longer: bool) {
        self.longer =
            is_longer.then(|| self.longer.map_or((now, round_trip), |(since, least)| (since, least.min(round_trip))));
    }

    /// Raises the base if each round trip since `since` or later has been longer for long enough. The loss has stayed the same.
    pub(super) fn lengthen(&mut self, now: Time, since: Time) {
        if let Some((_, base)) = self.longer.take_if(|(from, _)| *from > since && now.since(*from) >= LONGER) {
            self.hold = Some(Hold { base, until: now + MIN_WINDOW * 2, is_restored: false });
        }
    }

    /// Restores the base before this one, if there was one of late: the loss has grown with the repair.
    pub(super) fn restore(&mut self, now: Time) {
        if let Some((base, _)) = self.before.filter(|(_, end)| now.since(*end) < RELIEF) {
            self.held = (self.held * 2).min(LONGEST_HOLD);
            self.hold = Some(Hold { base, until: now + self.held, is_restored: true });
        }
    }

    /// True while an earlier base is restored.
    pub(super) fn is_restored(&self) -> bool {
        self.hold.is_some_and(|hold| hold.is_restored)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(millis: u64) -> Span {
        Span::from_millis(millis)
    }

    fn at(secs: u64) -> Time {
        Time::ZERO + Span::from_secs(secs)
    }

    #[test]
    fn base_is_the_recent_minimum() {
        let mut base = Base::new();
        for minimum in [10, 12, 10, 20] {
            assert_eq!(base.update(at(1), ms(minimum)), ms(minimum));
        }
    }

    #[test]
    fn longer_round_trips_raise_it_only_after_their_time_and_only_if_they_began_since() {
        let mut base = Base::new();
        base.update(at(10), ms(40));
        for (secs, round_trip) in [(10, 63), (11, 60), (12, 61)] {
            assert_eq!(base.update(at(secs), ms(40)), ms(40));
            base.on_round_trip(at(secs), ms(round_trip), true);
            base.lengthen(at(secs), at(10));
        }
        assert_eq!(base.update(at(12), ms(40)), ms(40), "longer since the path was found lossy, not before");
        base.lengthen(at(12), at(9));
        assert_eq!(base.update(at(12), ms(40)), ms(60));
        assert_eq!(base.update(at(12) + MIN_WINDOW * 2, ms(55)), ms(55), "the recent minimum is that of the new route");
    }

    #[test]
    fn one_short_round_trip_shows_that_the_route_is_the_same() {
        let mut base = Base::new();
        base.update(at(10), ms(40));
        for (secs, is_longer) in [(10, true), (11, false), (12, true), (13, true)] {
            base.on_round_trip(at(secs), ms(60), is_longer);
            base.lengthen(at(secs), at(0));
        }
        assert_eq!(base.update(at(13), ms(40)), ms(40));
    }

    #[test]
    fn restoration_lasts_twice_as_long_each_time() {
        let (mut base, mut now) = (Base::new(), at(10));
        base.update(now, ms(10));
        for secs in [60, 120, 240, 480, 600, 600] {
            assert_eq!(base.update(now, ms(20)), ms(20));
            base.restore(now);
            assert!(base.is_restored());
            now += Span::from_secs(secs);
            assert_eq!(base.update(now - ms(1), ms(20)), ms(10), "{secs} s");
        }
    }

    #[test]
    fn base_that_ended_a_minute_ago_is_not_restored() {
        let mut base = Base::new();
        base.update(at(10), ms(10));
        base.update(at(20), ms(20));
        base.restore(at(80));
        assert!(!base.is_restored());
    }
}
