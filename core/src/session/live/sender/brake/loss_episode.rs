//! Loss episodes: periods of high loss.

use crate::time::{Span, Time};

/// The intervals that are judged separately: the rate over a whole episode could be that of one long burst.
const SECOND: Span = Span::from_secs(1);
/// Of four of these intervals at least so many must be high. Ours: one quiet second does not end an episode, and one
/// loud second is none.
const HIGH_OF_FOUR: u32 = 3;
/// Losses exceed what chance makes of a loss rate if they are so many standard deviations of a Poisson variable above
/// it. Ours: 4 are exceeded by chance once in 30 000 (normal).
const DEVIATIONS: f64 = 4.0;

/// A loss episode: a period since which loss is high, but for dips that did not last.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct LossEpisode {
    since: Time,
    /// Packets lost and sent since then.
    lost: u64,
    sent: u64,
    /// The start of the current second, and the packets lost and sent until then.
    began: Time,
    before: (u64, u64),
    /// Seconds that are over, and those of them whose loss was high.
    seconds: u32,
    high_seconds: u32,
    /// The time since which loss is not high.
    dipped: Option<Time>,
}

impl LossEpisode {
    pub(super) fn new(now: Time) -> LossEpisode {
        LossEpisode {
            since: now,
            lost: 0,
            sent: 0,
            began: now,
            before: (0, 0),
            seconds: 0,
            high_seconds: 0,
            dipped: None,
        }
    }

    /// Counts the packets that a report has settled; a second is high at a loss rate of `p_max` or above.
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

    /// Takes note of whether the average loss is below p_max.
    pub(super) fn dip(&mut self, now: Time, is_below: bool) {
        self.dipped = if is_below { self.dipped.or(Some(now)) } else { None };
    }

    pub(super) fn is_dipping(&self) -> bool {
        self.dipped.is_some()
    }

    /// True if loss was low for so long that the episode is over.
    pub(super) fn has_dipped(&self, now: Time, lasting: Span) -> bool {
        self.dipped.is_some_and(|dipped| now.since(dipped) >= lasting)
    }

    pub(super) fn has_lasted(&self, now: Time, duration: Span) -> bool {
        now.since(self.since) >= duration
    }

    /// True if the episode has lasted, and not by isolated bursts alone.
    pub(super) fn has_stayed(&self, now: Time, duration: Span) -> bool {
        self.has_lasted(now, duration) && self.high_seconds * 4 >= self.seconds * HIGH_OF_FOUR
    }

    /// True if chance could make the episode's losses of a loss rate of `p_max`.
    pub(super) fn is_chance(&self, p_max: f64) -> bool {
        let expected = p_max * self.sent as f64;
        let excess = (self.lost as f64 - expected).max(0.0);
        excess * excess < DEVIATIONS * DEVIATIONS * expected
    }
}
