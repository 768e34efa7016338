//! The delay of a release, which grows while releases fail.

use crate::time::{Span, Time};

/// The time for which loss must be low before repair is raised again.
const LEAST: Span = Span::from_millis(200);
/// The longest of these delays. Ours: of ten streams that just fit into a link, one tries in each second.
const LONGEST: Span = Span::from_secs(10);
/// The time for which a window or a release that failed is remembered. Ours: one that fails again costs a second of loss, once
/// in a minute.
pub(super) const RELIEF: Span = Span::from_secs(60);

/// The delay of the next release.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Backoff {
    /// The time at which the last release began, until repair is taken down again.
    released: Option<Time>,
    delay: Span,
}

impl Backoff {
    pub(super) fn new() -> Backoff {
        Backoff { released: None, delay: LEAST }
    }

    pub(super) fn delay(&self) -> Span {
        self.delay
    }

    /// Takes note of a release.
    pub(super) fn on_release(&mut self, now: Time) {
        self.released.get_or_insert(now);
    }

    /// Takes note that repair is taken down again. Where the last release has failed, the next one waits for twice as long.
    pub(super) fn on_relapse(&mut self, now: Time) {
        let Some(released) = self.released.take() else { return };
        let has_failed = now.since(released) < RELIEF;
        self.delay = if has_failed { (self.delay * 2).min(LONGEST) } else { LEAST };
    }
}
