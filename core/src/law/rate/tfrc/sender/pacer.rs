//! Nominal send times of packets (RFC 5348 §4.6), by the allowed rate and by the media rate.

use crate::time::{Span, Time};

/// Two sequences of nominal send times; a packet waits for both.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Pacer {
    start: Time,
    /// t_i of the last packet by the allowed rate, and by the media rate.
    last: Option<(Time, Time)>,
}

/// Gaps between two packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Gaps {
    /// t_ipi = s / X_inst.
    pub(super) rate: Span,
    /// s / media rate.
    pub(super) media: Span,
}

impl Pacer {
    pub(super) fn new(start: Time) -> Pacer {
        Pacer { start, last: None }
    }

    /// t_(i+1) by the allowed rate. It is computed from t_i each time, so that a changed rate moves it.
    pub(super) fn by_rate(&self, gaps: Gaps) -> Time {
        self.last.map_or(self.start, |(rate, _)| rate + gaps.rate)
    }

    /// t_(i+1) by the media rate.
    pub(super) fn by_media(&self, gaps: Gaps) -> Time {
        self.last.map_or(self.start, |(_, media)| media + gaps.media)
    }

    /// Accounts for a packet sent at `now`. The sender catches up on missed send times within `credit`: §4.6 allows at
    /// most a round trip.
    pub(super) fn on_sent(&mut self, now: Time, gaps: Gaps, credit: Span) {
        let oldest = now - credit;
        self.last = Some((self.by_rate(gaps).max(oldest), self.by_media(gaps).max(oldest)));
    }
}
