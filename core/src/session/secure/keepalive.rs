//! Keep-alive of an association.

use super::Config;
use crate::time::{Span, Time};

/// The interval of pings that are not answered. Ours: twenty pings fit between the first and the idle timeout of a
/// tunnel (5 to 15 s), so bursts of losses end no association.
const AGAIN: Span = Span::from_millis(500);
/// The time for an answer after a claim that the peer has gone: four pings. Ours: a round trip of more than that causes
/// a needless handshake after a forged claim, a longer time delays resumption after a restart.
const VERIFY_TIME: Span = Span::from_secs(2);

/// The time at which the peer was last heard, and the time of the next ping.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Keepalive {
    heard: Time,
    /// The time at which the next ping is due.
    next: Time,
    /// The time by which the peer has to be heard, after a claim that it has gone.
    verify_by: Option<Time>,
}

impl Keepalive {
    pub(super) fn new(now: Time, config: &Config) -> Keepalive {
        Keepalive { heard: now, next: ping_at(now, config), verify_by: None }
    }

    pub(super) fn on_received(&mut self, now: Time, config: &Config) {
        self.on_other_received(now);
        self.next = ping_at(now, config);
    }

    /// As `on_received`, but the next ping stays due, because its answer is still awaited.
    pub(super) fn on_other_received(&mut self, now: Time) {
        self.heard = now;
        self.verify_by = None;
    }

    /// Takes note of a claim that the peer has gone: a ping is due at once, one for all claims until the peer is heard
    /// again.
    pub(super) fn on_unknown(&mut self, now: Time) {
        if self.verify_by.is_none() {
            self.verify_by = Some(now + VERIFY_TIME);
            self.ping_now(now);
        }
    }

    /// True from a claim that the peer has gone until it is heard.
    pub(super) fn is_doubted(&self) -> bool {
        self.verify_by.is_some()
    }

    /// The time at which the peer has been silent for too long.
    pub(super) fn silent_at(&self, config: &Config) -> Time {
        (self.heard + config.idle).min(self.verify_by.unwrap_or(Time::NEVER))
    }

    /// Makes a ping due at once.
    pub(super) fn ping_now(&mut self, now: Time) {
        self.next = now;
    }

    /// True if a ping is due; the next one is then due after [`AGAIN`].
    pub(super) fn fire(&mut self, now: Time) -> bool {
        let is_due = self.next <= now;
        if is_due {
            self.next = now + AGAIN;
        }
        is_due
    }

    pub(super) fn heard(&self) -> Time {
        self.heard
    }

    pub(super) fn next(&self) -> Time {
        self.next
    }
}

/// Three pings fit into the idle time, whatever was configured.
fn ping_at(heard: Time, config: &Config) -> Time {
    heard + config.keepalive.min(config.idle / 3)
}
