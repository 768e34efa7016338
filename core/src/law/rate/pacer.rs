//! Pacing: the time between one packet and the next.

use crate::time::{Span, Time};

/// The send times of packets. A late caller catches up on a bounded time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pacer {
    release: Time,
    slack: Span,
}

impl Pacer {
    /// A pacer whose first packet may leave at once. A caller that is late by up to `slack` may send the packets of
    /// that time together; those due earlier are forgone.
    pub fn new(slack: Span) -> Pacer {
        Pacer { release: Time::ZERO, slack }
    }

    /// The earliest time of the next packet.
    pub fn release(&self) -> Time {
        self.release
    }

    /// Accounts for a packet sent at `now`; the next one may leave `gap` later.
    pub fn sent(&mut self, now: Time, gap: Span) {
        self.sent_of(1, now, gap);
    }

    /// As [`Pacer::sent`], where up to `burst` packets that were not sent when due may leave together (RFC 9002 §7.7).
    pub fn sent_of(&mut self, burst: u32, now: Time, gap: Span) {
        let slack = self.slack.max(gap * u64::from(burst.saturating_sub(1)));
        self.release = self.release.max(now - slack) + gap;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn late_timer_catches_up_by_at_most_the_slack() {
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
        // On time, then 3 ms late, then a second late.
        assert_eq!([100, 101, 104, 1_104, 1_105].map(|millis| leave(at(millis))), [6, 1, 3, 6, 1]);
    }

    #[test]
    fn idle_pacer_releases_at_most_one_burst_at_once() {
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
        // After a second, at the gap, and after half of the time in which a burst accumulates.
        assert_eq!([1_000, 1_001, 1_005, 1_010, 1_035].map(|millis| leave(at(millis))), [10, 0, 1, 1, 5]);
    }
}
