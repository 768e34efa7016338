//! A time of high loss.

use crate::time::{Span, Time};

/// What is judged alone: the rate over all of the time could be that of one long burst.
const SECOND: Span = Span::from_secs(1);
/// Of four of these at least so many must be high.
const HIGH_OF_FOUR: u32 = 3;
/// Losses are more than chance makes of a loss rate if they are so many standard deviations of a Poisson variable more.
const DEVIATIONS: f64 = 4.0;

/// Since when loss is high, but for dips that did not last.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct High {
    since: Time,
    /// Packets lost and sent since then.
    lost: u64,
    sent: u64,
    /// When the second under way began, and what was lost and sent until then.
    began: Time,
    before: (u64, u64),
    /// Seconds that are over, and those of them whose loss was high.
    seconds: u32,
    high_seconds: u32,
    /// Since when loss is not high.
    dipped: Option<Time>,
}

impl High {
    pub(super) fn new(now: Time) -> High {
        High { since: now, lost: 0, sent: 0, began: now, before: (0, 0), seconds: 0, high_seconds: 0, dipped: None }
    }

    /// Counts what a report has settled; at a loss rate of `p_max` it is high.
    pub(super) fn count(&mut self, now: Time, lost: u32, sent: u32, p_max: f64) {
        self.lost += u64::from(lost);
        self.sent += u64::from(sent);
        if now.since(self.began) >= SECOND {
            let (lost, sent) = (self.lost - self.before.0, self.sent - self.before.1);
            self.seconds += 1;
            self.high_seconds += u32::from(lost as f64 >= p_max * sent as f64);
            (self.began, self.before) = (now, (self.lost, self.sent));
        }
    }

    /// Takes note of whether the average is below.
    pub(super) fn dip(&mut self, now: Time, is_below: bool) {
        self.dipped = if is_below { self.dipped.or(Some(now)) } else { None };
    }

    pub(super) fn is_dipping(&self) -> bool {
        self.dipped.is_some()
    }

    /// Whether loss was low for so long that it is high no more.
    pub(super) fn has_dipped(&self, now: Time, lasting: Span) -> bool {
        self.dipped.is_some_and(|dipped| now.since(dipped) >= lasting)
    }

    pub(super) fn has_lasted(&self, now: Time, patience: Span) -> bool {
        now.since(self.since) >= patience
    }

    /// Whether it has lasted, and not by a burst here and there alone.
    pub(super) fn has_stayed(&self, now: Time, patience: Span) -> bool {
        self.has_lasted(now, patience) && self.high_seconds * 4 >= self.seconds * HIGH_OF_FOUR
    }

    /// Whether chance could make its losses of a loss rate of `p_max`.
    pub(super) fn is_chance(&self, p_max: f64) -> bool {
        let expected = p_max * self.sent as f64;
        let excess = (self.lost as f64 - expected).max(0.0);
        excess * excess < DEVIATIONS * DEVIATIONS * expected
    }
}
