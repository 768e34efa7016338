//! The rates that an encoder is asked for.

use thalweg_core::time::{Span, Time};
use thalweg_core::units::Rate;

/// The least time between two rates.
const INTERVAL: Span = Span::from_millis(100);
/// The least change of the rate, relative to the last one.
const CHANGE: f64 = 0.05;

/// Decides when an encoder is asked for a new rate: at its start, and at each change of 5 %, at most ten times a second.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Announcer {
    start: Rate,
    least: Rate,
    /// The last rate and its time; none before the first.
    last: Option<(Rate, Time)>,
    /// True if a change waits for [`INTERVAL`].
    is_waiting: bool,
}

impl Announcer {
    /// The first rate is `start`, unless another is known; none is below `least`.
    pub(super) fn new(start: Rate, least: Rate) -> Announcer {
        Announcer { start, least, last: None, is_waiting: false }
    }

    /// Begins with a new encoder, which knows no rate.
    pub(super) fn restart(&mut self) {
        (self.last, self.is_waiting) = (None, false);
    }

    /// The rate that the encoder is to be asked for now, if it is another one than the last. `wanted` is the rate that its
    /// media should have; none is not known yet.
    pub(super) fn announce(&mut self, now: Time, wanted: Option<Rate>) -> Option<Rate> {
        let last = self.last.map(|(rate, _)| rate);
        let rate = wanted.or(last).unwrap_or(self.start).max(self.least);
        let is_new = last.is_none_or(|last| {
            let (rate, last) = (rate.as_bps() as f64, last.as_bps() as f64);
            (rate - last).abs() >= CHANGE * last && rate != last
        });
        self.is_waiting = is_new && self.last.is_some_and(|(_, at)| now < at + INTERVAL);
        if !is_new || self.is_waiting {
            return None;
        }
        self.last = Some((rate, now));
        Some(rate)
    }

    /// The time at which a waiting change is due.
    pub(super) fn next(&self) -> Option<Time> {
        self.last.filter(|_| self.is_waiting).map(|(_, at)| at + INTERVAL)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    fn kbps(kbps: u64) -> Rate {
        Rate::from_bps(kbps * 1_000)
    }

    fn announcer() -> Announcer {
        Announcer::new(kbps(1_000), kbps(300))
    }

    #[test]
    fn first_rate_is_the_start_or_the_known_one_and_none_is_below_the_least() {
        assert_eq!(announcer().announce(at(0), None), Some(kbps(1_000)));
        assert_eq!(announcer().announce(at(0), Some(kbps(2_000))), Some(kbps(2_000)));
        let mut one = announcer();
        assert_eq!(one.announce(at(0), Some(kbps(10))), Some(kbps(300)));
        assert_eq!(one.announce(at(500), Some(kbps(0))), None, "still the least");
    }

    #[test]
    fn changes_below_five_percent_are_none() {
        let mut one = announcer();
        one.announce(at(0), Some(kbps(1_000)));
        let rates = [(200, 1_049), (400, 951), (600, 1_050), (800, 1_000), (1_000, 997)];
        let announced = rates.map(|(millis, rate)| one.announce(at(millis), Some(kbps(rate))));
        assert_eq!(announced, [None, None, Some(kbps(1_050)), None, Some(kbps(997))]);
    }

    #[test]
    fn change_within_a_tenth_of_a_second_waits_and_the_newest_counts() {
        let mut one = announcer();
        one.announce(at(0), None);
        assert_eq!((one.announce(at(30), Some(kbps(500))), one.next()), (None, Some(at(100))));
        assert_eq!((one.announce(at(60), Some(kbps(400))), one.next()), (None, Some(at(100))));
        assert_eq!((one.announce(at(100), Some(kbps(400))), one.next()), (Some(kbps(400)), None));
        // A change that is taken back before it was due is none.
        assert_eq!((one.announce(at(130), Some(kbps(900))), one.next()), (None, Some(at(200))));
        assert_eq!((one.announce(at(150), Some(kbps(400))), one.next()), (None, None));
    }

    #[test]
    fn new_encoder_gets_its_first_rate_at_once() {
        let mut one = announcer();
        one.announce(at(0), Some(kbps(700)));
        one.restart();
        assert_eq!(one.announce(at(10), Some(kbps(700))), Some(kbps(700)));
    }

    proptest! {
        #[test]
        fn rates_are_ten_a_second_at_most_and_the_last_is_within_five_percent(
            steps in prop::collection::vec((0u64..300, prop::option::of(0u64..50_000)), 1..100),
        ) {
            let (mut one, mut now, mut before, mut asked) = (announcer(), 0, None, 0.0);
            for (wait, wanted) in steps {
                now += wait;
                if let Some(rate) = one.announce(at(now), wanted.map(kbps)) {
                    prop_assert!(before.is_none_or(|before| now - before >= 100) && rate >= kbps(300));
                    (before, asked) = (Some(now), rate.as_bps() as f64);
                }
                let Some(wanted) = wanted else { continue };
                let wanted = (wanted as f64 * 1e3).max(3e5);
                prop_assert!((asked - wanted).abs() < CHANGE * asked || asked == wanted || one.next().is_some());
            }
        }
    }
}
