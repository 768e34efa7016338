//! How long acknowledgements take, and how much later than others some come (RFC 6298; RFC 9002 §5, §6).

use crate::time::{Span, Time};

/// What is believed before anything is measured (RFC 9002 §6.2.2).
const INITIAL: Span = Span::from_millis(333);
/// kGranularity (RFC 9002 §6.1.2).
pub(super) const GRANULARITY: Span = Span::from_millis(1);
/// The other end may hold an acknowledgement back for so long; more is told as a delay, and less reliably.
pub(in super::super) const MAX_ACK_DELAY: Span = Span::from_millis(5);
/// Silence makes timers longer, up to this or the timer itself.
const LONGEST: Span = Span::from_millis(800);
/// The measured reordering fades by 1 in so many packets.
const FADE: u64 = 512;

#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct RoundTrip {
    smoothed: Option<Span>,
    variation: Span,
    latest: Span,
    /// How much later than a round trip an acknowledgement came of a packet that others had overtaken.
    reordering: Span,
    backoff: u32,
}

impl RoundTrip {
    pub(super) fn smoothed(&self) -> Option<Span> {
        self.smoothed
    }

    pub(super) fn or_initial(&self) -> Span {
        self.smoothed.unwrap_or(INITIAL)
    }

    /// A sample (RFC 6298 §2).
    pub(super) fn sample(&mut self, rtt: Span) {
        self.latest = rtt;
        match self.smoothed {
            None => (self.smoothed, self.variation) = (Some(rtt), rtt / 2),
            Some(smoothed) => {
                let apart = rtt.saturating_sub(smoothed).max(smoothed.saturating_sub(rtt));
                self.variation = self.variation.mul_div(3, 4) + apart / 4;
                self.smoothed = Some(smoothed.mul_div(7, 8) + rtt / 8);
            }
        }
    }

    /// A packet that had been overtaken was acknowledged `took` after it was sent. At most a round trip is believed
    /// (RFC 8985 §6.2).
    pub(super) fn overtaken(&mut self, took: Span) {
        let late = took.saturating_sub(self.or_initial());
        self.reordering = self.reordering.max(late).min(self.or_initial());
    }

    /// A packet was acknowledged.
    pub(super) fn fade(&mut self) {
        self.reordering = self.reordering.saturating_sub(self.reordering / FADE);
    }

    /// How long after a packet was sent it is lost, if one that was sent later has come.
    pub(super) fn overdue(&self) -> Span {
        self.or_initial().max(self.latest) + self.reordering.max(GRANULARITY)
    }

    /// How long after a packet was sent it is lost, if nothing has come since. Never shorter than the other.
    pub(super) fn timeout(&self) -> Span {
        let plain = self.probe();
        Span::from_nanos(plain.as_nanos().saturating_mul(1 << self.backoff)).min(LONGEST.max(plain))
    }

    /// The timer without backoff.
    pub(super) fn probe(&self) -> Span {
        self.overdue() + (self.variation * 4).max(GRANULARITY) + MAX_ACK_DELAY
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
