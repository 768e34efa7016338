//! Whether the other end is still there.

use super::Config;
use crate::time::{Span, Time};

/// How often the other end is asked while it does not answer.
const AGAIN: Span = Span::from_millis(500);

/// When it was last heard, and when it is asked next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Pulse {
    heard: Time,
    /// When the next ping is due.
    next: Time,
}

impl Pulse {
    pub(super) fn new(now: Time, config: &Config) -> Pulse {
        Pulse { heard: now, next: ask_at(now, config) }
    }

    pub(super) fn hear(&mut self, now: Time, config: &Config) {
        self.heard = now;
        self.next = ask_at(now, config);
    }

    /// The same, while an answer is still awaited.
    pub(super) fn hear_other(&mut self, now: Time) {
        self.heard = now;
    }

    /// A ping is due at once.
    pub(super) fn ask(&mut self, now: Time) {
        self.next = now;
    }

    /// Whether a ping is due, in which case the next one is not.
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

/// Three questions fit into the idle time, whatever else was asked for.
fn ask_at(heard: Time, config: &Config) -> Time {
    heard + config.keepalive.min(config.idle / 3)
}
