//! One packet after the other.

use crate::time::{Span, Time};

/// Says when the next packet may leave, and lets a caller who comes late make up for a bounded time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pacer {
    release: Time,
    slack: Span,
}

impl Pacer {
    /// A pacer that lets go at once. Late by up to `slack`, a caller may send what was due meanwhile in one go; what is
    /// later than that is forgone.
    pub fn new(slack: Span) -> Pacer {
        Pacer { release: Time::ZERO, slack }
    }

    /// When the next packet may leave.
    pub fn release(&self) -> Time {
        self.release
    }

    /// A packet left, and the next one may `gap` later.
    pub fn sent(&mut self, now: Time, gap: Span) {
        self.sent_of(1, now, gap);
    }

    /// As [`Pacer::sent`], where up to `burst` packets that were not sent in their time may leave together (RFC 9002 §7.7).
    pub fn sent_of(&mut self, burst: u32, now: Time, gap: Span) {
        let slack = self.slack.max(gap * u64::from(burst.saturating_sub(1)));
        self.release = self.release.max(now - slack) + gap;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_comes_late_makes_up_for_the_slack_and_no_more() {
        let ms = Span::from_millis;
        let mut pacer = Pacer::new(ms(5));
        let mut leave = |now: Time| {
            let mut left = 0;
            while pacer.release() <= now {
                pacer.sent(now, ms(1));
                left += 1;
            }
            left
        };
        let at = |millis| Time::ZERO + ms(millis);
        // On time, then 3 ms late, then a second.
        assert_eq!([100, 101, 104, 1_104, 1_105].map(|millis| leave(at(millis))), [6, 1, 3, 6, 1]);
    }

    #[test]
    fn after_idle_a_burst_leaves_at_once_and_no_more() {
        let ms = Span::from_millis;
        let mut pacer = Pacer::new(ms(2));
        let mut leave = |now: Time| {
            let mut left = 0;
            while pacer.release() <= now {
                pacer.sent_of(10, now, ms(5));
                left += 1;
            }
            left
        };
        let at = |millis| Time::ZERO + ms(millis);
        // After a second, at the gap, and after half of the time that a burst gathers in.
        assert_eq!([1_000, 1_001, 1_005, 1_010, 1_035].map(|millis| leave(at(millis))), [10, 0, 1, 1, 5]);
    }
}
