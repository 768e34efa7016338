//! Keep-alive of a receiver, and the media that is sent without its reports.

use crate::time::{Span, Time};

/// Time without a message after which the receiver is gone. Ours: twice the breaker's Td of 5 s; shorter ends a stream
/// at an outage, longer sends to nothing for longer.
pub(super) const SILENCE: Span = Span::from_secs(10);
/// The least time for which media leaves at its full rate without a report. Ours: RFC 8085 §3.1 wants an open loop
/// bounded; longer floods a path without a receiver, shorter slows a stream whose first reports are lost.
const UNREPORTED: Span = Span::from_secs(2);

/// The times of a receiver's last message and of media since.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Keepalive {
    /// The time of the receiver's last message under the secret.
    heard: Time,
    /// The time at which the first media since the receiver's last report left.
    unreported: Option<Time>,
    /// The time at which the network first reported the receiver unreachable since its last message.
    unreachable: Option<Time>,
    /// True if a hello has left since the last media datagram that went with one.
    has_turn: bool,
}

impl Keepalive {
    pub(super) fn new(now: Time) -> Keepalive {
        Keepalive { heard: now, unreported: None, unreachable: None, has_turn: false }
    }

    pub(super) fn heard(&self) -> Time {
        self.heard
    }

    pub(super) fn on_message(&mut self, now: Time) {
        (self.heard, self.unreachable) = (now, None);
    }

    pub(super) fn on_report(&mut self, now: Time) {
        self.on_message(now);
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

    /// Returns whether media has left for so long without a report that only one datagram goes with each hello; a
    /// report takes at most `wait`.
    pub(super) fn is_unreported(&self, now: Time, wait: Span) -> bool {
        self.unreported.is_some_and(|since| now.since(since) >= UNREPORTED.max(wait))
    }

    /// Returns whether a media datagram may leave now.
    pub(super) fn takes_media(&mut self, now: Time, wait: Span) -> bool {
        !self.is_unreported(now, wait) || core::mem::take(&mut self.has_turn)
    }

    /// The time at which the receiver is given up, whose reports take at most `wait`.
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
    fn one_packet_is_sent_per_hello_after_two_seconds_without_a_report() {
        let mut keepalive = Keepalive::new(at(0));
        (0..30_000).step_by(1000).for_each(|millis| keepalive.on_message(at(millis)));
        assert!(keepalive.takes_media(at(30_000), WAIT), "none has left, so no report can come");
        keepalive.on_media(at(30_000));
        keepalive.on_media(at(31_000));
        assert!(keepalive.takes_media(at(31_999), WAIT));
        assert!(!keepalive.takes_media(at(32_000), WAIT));
        assert!(keepalive.takes_media(at(32_000), Span::from_secs(3)), "a path so long that none can have come");
        keepalive.on_hello();
        assert_eq!([(); 2].map(|()| keepalive.takes_media(at(32_100), WAIT)), [true, false]);
        keepalive.on_report(at(32_200));
        assert!(keepalive.takes_media(at(32_200), WAIT));
    }

    #[test]
    fn unreachable_receiver_is_given_up_unless_it_answers_in_time() {
        let mut keepalive = Keepalive::new(at(0));
        keepalive.on_unreachable(at(100));
        keepalive.on_unreachable(at(400));
        assert_eq!(keepalive.gone_at(WAIT), at(600));
        keepalive.on_message(at(599));
        assert_eq!(keepalive.gone_at(WAIT), at(10_599));
    }

    #[test]
    fn answers_without_reports_do_not_keep_a_receiver() {
        let mut keepalive = Keepalive::new(at(0));
        keepalive.on_media(at(1000));
        keepalive.on_message(at(9000));
        assert_eq!(keepalive.gone_at(WAIT), at(11_000));
    }
}
