//! How long to wait for acknowledgements: where others have come, and where none has (RFC 9002 §5, §6).

use crate::law::schedule::overdue::Overdue;
use crate::time::{Span, Time};

/// What is believed before anything is measured (RFC 9002 §6.2.2).
const INITIAL: Span = Span::from_millis(333);
/// kGranularity (RFC 9002 §6.1.2).
pub(super) const GRANULARITY: Span = Span::from_millis(1);
/// The other end may hold an acknowledgement back for so long; more is told as a delay, and less reliably.
pub(in super::super) const MAX_ACK_DELAY: Span = Span::from_millis(5);
/// Silence makes timers longer, up to this or the timer itself.
const LONGEST: Span = Span::from_millis(800);
/// Round trips and timers count as no longer than this.
// Deviation(RFC 9002 §5, §6.2): no bound there. RFC 8085 §3.1.1 takes 3 s for the round trip of a path of which nothing is known; what
// takes longer was kept by a machine that stood still, which does so once.
const MOST: Span = Span::from_secs(3);

#[derive(Clone, PartialEq, Debug)]
pub(super) struct RoundTrip {
    overdue: Overdue,
    backoff: u32,
}

impl Default for RoundTrip {
    fn default() -> RoundTrip {
        RoundTrip { overdue: Overdue::guessing(INITIAL), backoff: 0 }
    }
}

impl RoundTrip {
    pub(super) fn smoothed(&self) -> Option<Span> {
        self.overdue.smoothed().srtt()
    }

    pub(super) fn or_initial(&self) -> Span {
        self.overdue.srtt()
    }

    /// A round trip, without the time that the acknowledgement waited.
    pub(super) fn sample(&mut self, rtt: Span) {
        self.overdue.acknowledged(rtt.min(MOST));
    }

    /// A packet that had been overtaken was acknowledged `took` after it was sent.
    pub(super) fn overtaken(&mut self, took: Span) {
        self.overdue.overtaken(took);
    }

    /// How long after a packet was sent it is lost, if one that was sent later has come.
    pub(super) fn overdue(&self) -> Span {
        (self.overdue.patience() + GRANULARITY).min(MOST)
    }

    /// How long after a packet was sent it is lost, if nothing has come since. Never shorter than the other.
    pub(super) fn timeout(&self) -> Span {
        let plain = self.probe();
        Span::from_nanos(plain.as_nanos().saturating_mul(1 << self.backoff)).min(LONGEST.max(plain))
    }

    /// The timer without backoff.
    pub(super) fn probe(&self) -> Span {
        let spread = (self.overdue.smoothed().rttvar() * 4).max(GRANULARITY);
        (self.overdue() + spread + MAX_ACK_DELAY).min(MOST)
    }

    /// Nothing has been heard for long.
    pub(super) fn back_off(&mut self) {
        self.backoff = (self.backoff + 1).min(10);
    }

    /// Whether nothing has been heard for long.
    pub(super) fn is_backing_off(&self) -> bool {
        self.backoff > 0
    }

    /// Something has been heard.
    pub(super) fn heard(&mut self) {
        self.backoff = 0;
    }

    /// From `since` on, when silence is long enough to back off once more: two timers (RFC 9002 §7.6 has three).
    pub(super) fn silent(&self, since: Time) -> Time {
        since + self.timeout() * 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_that_stood_still_makes_no_timer_longer_than_three_seconds() {
        let mut rtt = RoundTrip::default();
        rtt.sample(Span::from_millis(100));
        (0..100).for_each(|_| rtt.sample(Span::from_secs(20)));
        (0..20).for_each(|_| rtt.back_off());
        assert_eq!([rtt.overdue(), rtt.probe(), rtt.timeout()], [Span::from_secs(3); 3]);
        assert!(rtt.or_initial() <= Span::from_secs(3));
    }
}
