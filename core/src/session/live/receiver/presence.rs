//! The signs of life of a sender: its hellos, its media and its goodbye.

use crate::time::{Span, Time};

/// Time without a packet from the sender after which another sender may take its place. The sender says hello ten times
/// in it, with or without media. Ours: shorter loses the receiver to another sender by an outage, longer blocks a
/// restarted sender.
const QUIET: Span = Span::from_secs(2);
/// Time without media after which the stream is reported silent. Ours: as [`QUIET`].
const SILENCE: Span = Span::from_secs(2);
/// Time without a packet from the sender after which the sender is gone. Ours: as `SILENCE` of a sender.
const GONE: Span = Span::from_secs(10);

/// The times at which the sender was last heard.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Presence {
    /// The time of the last hello.
    hello: Time,
    /// The time of the last media packet, and whether its absence was reported.
    media: Time,
    is_silence_reported: bool,
    /// The time of the first goodbye.
    goodbye: Option<Time>,
}

impl Presence {
    /// A sender that is first heard now.
    pub(super) fn new(now: Time) -> Presence {
        Presence { hello: now, media: now, is_silence_reported: false, goodbye: None }
    }

    pub(super) fn on_hello(&mut self, now: Time) {
        self.hello = now;
    }

    pub(super) fn on_media(&mut self, now: Time) {
        (self.media, self.is_silence_reported) = (now, false);
    }

    pub(super) fn on_goodbye(&mut self, now: Time) {
        self.goodbye.get_or_insert(now);
    }

    /// The time of the first goodbye.
    pub(super) fn goodbye(&self) -> Option<Time> {
        self.goodbye
    }

    /// Returns whether another sender may take its place: the stream is over, the sender is silent, or no media has
    /// arrived for `hold`.
    pub(super) fn is_free(&self, now: Time, hold: Span) -> bool {
        self.goodbye.is_some() || self.quiet_at() <= now || now.since(self.media) >= hold
    }

    /// The time at which the sender counts as silent.
    pub(super) fn quiet_at(&self) -> Time {
        self.heard() + QUIET
    }

    /// The time at which the sender counts as gone.
    pub(super) fn gone_at(&self) -> Time {
        self.heard() + GONE
    }

    /// The time at which the stream falls silent, unless that was reported.
    pub(super) fn silent_at(&self) -> Option<Time> {
        (!self.is_silence_reported).then(|| self.media + SILENCE)
    }

    /// True if the stream falls silent now; once until media arrives again.
    pub(super) fn falls_silent(&mut self, now: Time) -> bool {
        let falls = self.silent_at().is_some_and(|at| at <= now);
        self.is_silence_reported |= falls;
        falls
    }

    fn heard(&self) -> Time {
        self.hello.max(self.media)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silence_is_reported_once_and_hellos_keep_the_place_for_the_hold() {
        let at = |secs| Time::ZERO + Span::from_secs(secs);
        let (mut presence, hold) = (Presence::new(at(0)), Span::from_secs(5));
        for secs in 1..=4 {
            presence.on_hello(at(secs));
            assert_eq!(presence.falls_silent(at(secs)), secs == 2);
            assert!(!presence.is_free(at(secs), hold));
        }
        presence.on_media(at(4));
        assert!(!presence.falls_silent(at(5)) && presence.falls_silent(at(6)));
        assert!(presence.is_free(at(6), hold), "two seconds without any packet");
        presence.on_hello(at(9));
        assert!(presence.is_free(at(9), hold), "five seconds without media");
        assert_eq!(presence.gone_at(), at(19));
        presence.on_goodbye(at(10));
        presence.on_goodbye(at(11));
        assert_eq!(presence.goodbye(), Some(at(10)));
    }
}
