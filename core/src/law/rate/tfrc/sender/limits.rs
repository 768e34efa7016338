//! The test whether the sender was data-limited over the interval that a report covers (RFC 5348 §8.2.1).

use crate::time::{Span, Time};

/// The four variables of §8.2.1; all times are the sender's.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct DataLimits {
    /// NotLimited1: the first instant after `t_new` at which the rate, not a lack of data, held the sender back.
    not_limited1: Time,
    /// NotLimited2: the first such instant after `t_next`.
    not_limited2: Time,
    /// The end of the interval that the last report covered.
    t_new: Time,
    /// The arrival time of that report.
    t_next: Time,
}

impl DataLimits {
    /// Records that the sender has more to send at `now` than the rate allows.
    pub(super) fn not_limited(&mut self, now: Time) {
        if self.not_limited1 <= self.t_new {
            self.not_limited1 = now;
        } else if self.not_limited2 <= self.t_next {
            self.not_limited2 = now;
        }
    }

    /// Takes a report that covers the packets of a round trip up to `recvdata`; true if all of it was data-limited.
    pub(super) fn on_feedback(&mut self, now: Time, recvdata: Time, rtt: Span) -> bool {
        let t_old = recvdata - rtt;
        self.t_new = recvdata;
        self.t_next = now;
        let covered = |at: Time| t_old < at && at <= recvdata;
        let limited = !covered(self.not_limited1) && !covered(self.not_limited2);
        if self.not_limited1 <= self.t_new && self.not_limited2 > self.t_new {
            self.not_limited1 = self.not_limited2;
        }
        limited
    }

    /// The end of the interval that the last report covered.
    pub(super) fn covered(&self) -> Time {
        self.t_new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const R: Span = Span::from_millis(50);

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    #[test]
    fn one_unlimited_instant_makes_only_its_interval_unlimited() {
        let mut limits = DataLimits::default();
        assert!(limits.on_feedback(at(150), at(100), R), "nothing was ever held back");
        limits.not_limited(at(160));
        limits.not_limited(at(170));
        assert!(limits.on_feedback(at(200), at(155), R), "160 is not covered yet");
        limits.not_limited(at(210));
        assert!(!limits.on_feedback(at(250), at(205), R), "160 is");
        assert!(!limits.on_feedback(at(300), at(255), R), "and 210 is in the next one");
        assert!(limits.on_feedback(at(350), at(305), R), "after which there was nothing");
    }

    #[test]
    fn report_covers_one_round_trip_regardless_of_the_previous_report() {
        // 140 is in the round trip before 150, and in the one before 160, which an early report of a loss event ends.
        let mut limits = DataLimits::default();
        limits.not_limited(at(140));
        assert!(!limits.on_feedback(at(200), at(150), R));
        assert!(!limits.on_feedback(at(210), at(160), R));
        // The report up to 250 is lost: the one up to 300 covers only its last round trip, without 210.
        limits.not_limited(at(215));
        assert!(limits.on_feedback(at(350), at(300), R));
    }
}
