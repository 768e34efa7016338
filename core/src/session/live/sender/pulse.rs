//! Signs of life of a receiver, and how much media it gets without any.

use crate::time::{Span, Time};

/// Without a word for so long, the receiver is gone.
pub(super) const SILENCE: Span = Span::from_secs(10);
/// Media leaves at its rate for so long at least without a report.
const UNREPORTED: Span = Span::from_secs(2);

/// When a receiver was heard, and what has left since.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Pulse {
    /// Its last word under the secret.
    heard: Time,
    /// When media left first since its last report.
    unreported: Option<Time>,
    /// When the network said first since its last word that nobody is there.
    unreachable: Option<Time>,
    /// True if a hello has left since the last media that went beside the hellos.
    has_turn: bool,
}

impl Pulse {
    pub(super) fn new(now: Time) -> Pulse {
        Pulse { heard: now, unreported: None, unreachable: None, has_turn: false }
    }

    pub(super) fn heard(&self) -> Time {
        self.heard
    }

    pub(super) fn on_word(&mut self, now: Time) {
        (self.heard, self.unreachable) = (now, None);
    }

    pub(super) fn on_report(&mut self, now: Time) {
        self.on_word(now);
        self.unreported = None;
    }

    pub(super) fn on_media(&mut self, now: Time) {
        self.unreported.get_or_insert(now);
    }

    pub(super) fn on_unreachable(&mut self, now: Time) {
        self.unreachable.get_or_insert(now);
    }

    pub(super) fn on_hello(&mut self) {
        self.has_turn = true;
    }

    /// Returns whether media has left for so long without a report that only one packet goes with each hello; a report
    /// takes `wait`.
    pub(super) fn is_unreported(&self, now: Time, wait: Span) -> bool {
        self.unreported.is_some_and(|since| now.since(since) >= UNREPORTED.max(wait))
    }

    /// Returns whether a media datagram may leave now.
    pub(super) fn takes_media(&mut self, now: Time, wait: Span) -> bool {
        !self.is_unreported(now, wait) || core::mem::take(&mut self.has_turn)
    }

    /// When the receiver is given up, whose reports take `wait`.
    pub(super) fn gone_at(&self, wait: Span) -> Time {
        let silent = self.unreported.map_or(self.heard, |since| since.min(self.heard)) + SILENCE;
        self.unreachable.map_or(silent, |since| silent.min(since + wait))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    const WAIT: Span = Span::from_millis(500);

    #[test]
    fn after_two_seconds_without_a_report_one_packet_goes_with_each_hello() {
        let mut pulse = Pulse::new(at(0));
        (0..30_000).step_by(1000).for_each(|millis| pulse.on_word(at(millis)));
        assert!(pulse.takes_media(at(30_000), WAIT), "none has left, so no report can come");
        pulse.on_media(at(30_000));
        pulse.on_media(at(31_000));
        assert!(pulse.takes_media(at(31_999), WAIT));
        assert!(!pulse.takes_media(at(32_000), WAIT));
        assert!(pulse.takes_media(at(32_000), Span::from_secs(3)), "a path so long that none can have come");
        pulse.on_hello();
        assert_eq!([(); 2].map(|()| pulse.takes_media(at(32_100), WAIT)), [true, false]);
        pulse.on_report(at(32_200));
        assert!(pulse.takes_media(at(32_200), WAIT));
    }

    #[test]
    fn an_unreachable_receiver_is_given_up_unless_it_is_heard_in_time() {
        let mut pulse = Pulse::new(at(0));
        pulse.on_unreachable(at(100));
        pulse.on_unreachable(at(400));
        assert_eq!(pulse.gone_at(WAIT), at(600));
        pulse.on_word(at(599));
        assert_eq!(pulse.gone_at(WAIT), at(10_599));
    }

    #[test]
    fn answers_keep_no_receiver_that_does_not_report() {
        let mut pulse = Pulse::new(at(0));
        pulse.on_media(at(1000));
        pulse.on_word(at(9000));
        assert_eq!(pulse.gone_at(WAIT), at(11_000));
    }
}
