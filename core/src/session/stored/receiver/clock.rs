//! The clock of playout: the media time that is played at each time.

use crate::time::{Span, Time};

/// A media time, and the time at which it is played.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Clock {
    /// The time at which playout began.
    pub(super) at: Time,
    /// The media time at which it began.
    pub(super) media: Span,
}

impl Clock {
    /// The media time that is played at `now`.
    pub(super) fn media_time(self, now: Time) -> Span {
        self.media + now.since(self.at)
    }

    /// The time at which `media` is played; time zero if that was before.
    pub(super) fn time_of(self, media: Span) -> Time {
        let before = self.media.saturating_sub(media);
        Time::ZERO + self.at.since(Time::ZERO).saturating_sub(before) + media.saturating_sub(self.media)
    }
}
