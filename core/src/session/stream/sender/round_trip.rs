//! Timers for overdue acknowledgements: with and without a later one (RFC 9002 §5, §6).

use crate::loss_timer::LossTimer;
use crate::time::{Span, Time};

/// The round trip assumed before the first measurement (RFC 9002 §6.2.2).
const INITIAL: Span = Span::from_millis(333);
/// kGranularity (RFC 9002 §6.1.2).
pub(super) const GRANULARITY: Span = Span::from_millis(1);
/// The acknowledgement delay that timers allow for. A longer delay shows only in the reported delay, which is less
/// reliable. Ours: 3 ms of `Config::ack_delay` and a late timer; RFC 9002 takes the peer's 25 ms, which would delay
/// retransmission by as much.
pub(in super::super) const MAX_ACK_DELAY: Span = Span::from_millis(5);
/// The upper bound of timers that silence has lengthened, unless the timer itself is longer. Ours: RFC 9002 §6.2.1
/// doubles without bound. A burst of losses must not silence a stream for seconds, and a packet every 0.8 s floods no
/// path.
const LONGEST: Span = Span::from_millis(800);
/// The upper bound of round trips and timers.
// Deviation(RFC 9002 §5, §6.2): no bound there. RFC 8085 §3.1.1 assumes 3 s for the round trip of an unknown path. A
// packet that takes longer was held up by a machine that stood still, which happens once.
const MOST: Span = Span::from_secs(3);

#[derive(Clone, PartialEq, Debug)]
pub(super) struct RoundTrip {
    timer: LossTimer,
    backoff: u32,
}

impl Default for RoundTrip {
    fn default() -> RoundTrip {
        RoundTrip { timer: LossTimer::guessing(INITIAL), backoff: 0 }
    }
}

impl RoundTrip {
    pub(super) fn smoothed(&self) -> Option<Span> {
        self.timer.smoothed().srtt()
    }

    pub(super) fn or_initial(&self) -> Span {
        self.timer.srtt()
    }

    /// Adds a round trip, without the time that the acknowledgement was delayed.
    pub(super) fn sample(&mut self, rtt: Span) {
        self.timer.acknowledged(rtt.min(MOST));
    }

    /// Records that a packet which had been overtaken was acknowledged `took` after it was sent.
    pub(super) fn overtaken(&mut self, took: Span) {
        self.timer.overtaken(took);
    }

    /// The time after sending at which a packet is lost, if one that was sent later was acknowledged.
    pub(super) fn overdue(&self) -> Span {
        (self.timer.threshold() + GRANULARITY).min(MOST)
    }

    /// The time after sending at which a packet is lost, if no later one was acknowledged. Never shorter than
    /// [`RoundTrip::overdue`].
    pub(super) fn timeout(&self) -> Span {
        let plain = self.probe();
        Span::from_nanos(plain.as_nanos().saturating_mul(1 << self.backoff)).min(LONGEST.max(plain))
    }

    /// The timer without backoff.
    pub(super) fn probe(&self) -> Span {
        let spread = (self.timer.smoothed().rttvar() * 4).max(GRANULARITY);
        (self.overdue() + spread + MAX_ACK_DELAY).min(MOST)
    }

    /// Doubles the timer after a silence.
    pub(super) fn back_off(&mut self) {
        self.backoff = (self.backoff + 1).min(10);
    }

    /// True from a silence until the next acknowledgement.
    pub(super) fn is_backing_off(&self) -> bool {
        self.backoff > 0
    }

    /// Ends the backoff on an acknowledgement.
    pub(super) fn heard(&mut self) {
        self.backoff = 0;
    }

    /// The time at which silence since `since` is long enough to back off once more: two timers (RFC 9002 §7.6 has
    /// three).
    pub(super) fn silent(&self, since: Time) -> Time {
        since + self.timeout() * 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timers_are_capped_at_three_seconds_after_a_stall() {
        let mut rtt = RoundTrip::default();
        rtt.sample(Span::from_millis(100));
        (0..100).for_each(|_| rtt.sample(Span::from_secs(20)));
        (0..20).for_each(|_| rtt.back_off());
        assert_eq!([rtt.overdue(), rtt.probe(), rtt.timeout()], [Span::from_secs(3); 3]);
        assert!(rtt.or_initial() <= Span::from_secs(3));
    }
}
