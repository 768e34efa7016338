//! Whether the other end is still there.

use super::Config;
use crate::time::{Span, Time};

/// How often the other end is asked while it does not answer.
const AGAIN: Span = Span::from_millis(500);
/// How long it may take to answer once somebody says that it has gone: four questions.
const DOUBT: Span = Span::from_secs(2);

/// When it was last heard, and when it is asked next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Pulse {
    heard: Time,
    /// When the next ping is due.
    next: Time,
    /// By when it has to be heard, if somebody says that it has gone.
    doubted: Option<Time>,
}

impl Pulse {
    pub(super) fn new(now: Time, config: &Config) -> Pulse {
        Pulse { heard: now, next: ask_at(now, config), doubted: None }
    }

    pub(super) fn hear(&mut self, now: Time, config: &Config) {
        self.hear_other(now);
        self.next = ask_at(now, config);
    }

    /// The same, while an answer is still awaited.
    pub(super) fn hear_other(&mut self, now: Time) {
        self.heard = now;
        self.doubted = None;
    }

    /// It is said to have gone, and asked, once before it is heard again.
    pub(super) fn doubt(&mut self, now: Time) {
        if self.doubted.is_none() {
            self.doubted = Some(now + DOUBT);
            self.ask(now);
        }
    }

    /// When it has been silent for too long.
    pub(super) fn silent_at(&self, config: &Config) -> Time {
        (self.heard + config.idle).min(self.doubted.unwrap_or(Time::NEVER))
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
