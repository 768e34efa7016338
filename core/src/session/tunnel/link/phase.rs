//! The phase of a link: carried, interrupted, stopping or down, and the events of its changes.

use core::net::SocketAddr;
use std::collections::VecDeque;

use super::{Event, Id, Reason, Time, Why};
use crate::session::secure::{self, PublicKey};
use crate::time::Span;

#[derive(Debug)]
pub(super) struct Phase {
    /// The number of the link.
    link: u64,
    /// The time for which a link without an association is kept.
    kept_for: Span,
    /// The time since which no association carries the stream.
    interrupted: Option<Time>,
    /// The reason for which the link is down.
    down_reason: Option<Why>,
    /// The reason with which the link is to end.
    stopping: Option<secure::Reason>,
    events: VecDeque<Event>,
}

impl Phase {
    /// A link that begins, and is kept for `kept_for` without an association.
    pub(super) fn new(link: u64, kept_for: Span) -> Phase {
        Phase { link, kept_for, interrupted: None, down_reason: None, stopping: None, events: VecDeque::new() }
    }

    /// The number of the link.
    pub(super) fn link(&self) -> u64 {
        self.link
    }

    pub(super) fn is_interrupted(&self) -> bool {
        self.interrupted.is_some()
    }

    pub(super) fn is_down(&self) -> bool {
        self.down_reason.is_some()
    }

    /// True from [`Phase::stop`] on.
    pub(super) fn is_stopping(&self) -> bool {
        self.stopping.is_some()
    }

    /// The reason with which the link is to end, until it is down.
    pub(super) fn stopping(&self) -> Option<secure::Reason> {
        self.stopping.filter(|_| !self.is_down())
    }

    /// True if no event waits.
    pub(super) fn is_drained(&self) -> bool {
        self.events.is_empty()
    }

    pub(super) fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Both ends know the stream.
    pub(super) fn begin(&mut self, from: SocketAddr, key: Option<PublicKey>) {
        self.events.push_back(Event::Up { link: self.link, from, key });
    }

    /// The peer has another address.
    pub(super) fn relocate(&mut self, to: SocketAddr) {
        self.events.push_back(Event::Moved { link: self.link, to });
    }

    /// No association carries the stream any more.
    pub(super) fn interrupt(&mut self, now: Time) {
        if self.interrupted.is_none() {
            self.interrupted = Some(now);
            self.events.push_back(Event::Interrupted { link: self.link });
        }
    }

    /// An association carries the stream again; true if it was interrupted.
    pub(super) fn resume(&mut self) -> bool {
        let was_interrupted = self.interrupted.take().is_some();
        if was_interrupted {
            self.events.push_back(Event::Resumed { link: self.link });
        }
        was_interrupted
    }

    /// The link is to end with `reason`.
    pub(super) fn stop(&mut self, reason: secure::Reason) {
        self.stopping = Some(reason);
    }

    /// The link is down, and so are the `connections` that it had.
    pub(super) fn end(&mut self, why: Why, connections: impl IntoIterator<Item = u32>) {
        (self.down_reason, self.interrupted) = (Some(why), None);
        self.events.push_back(Event::Down { link: self.link, why });
        let broken = connections.into_iter().map(|connection| Id { link: self.link, connection });
        self.events.extend(broken.map(|id| Event::Reset(id, Reason::Lost(why))));
    }

    /// The time since which the stream waits for another association, unless the link is down.
    pub(super) fn waits_since(&self) -> Option<Time> {
        self.interrupted.filter(|_| !self.is_down())
    }

    /// The time at which an interrupted link is given up.
    pub(super) fn gives_up_at(&self) -> Option<Time> {
        Some(self.waits_since()? + self.kept_for)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interruption_is_reported_once_and_ends_by_resumption_or_in_time() {
        let at = |secs| Time::ZERO + Span::from_secs(secs);
        let mut phase = Phase::new(7, Span::from_secs(60));
        assert!(!phase.resume(), "nothing was interrupted");
        phase.interrupt(at(1));
        phase.interrupt(at(2));
        assert_eq!(phase.gives_up_at(), Some(at(61)));
        assert!(phase.resume());
        assert_eq!(phase.gives_up_at(), None);
        phase.interrupt(at(3));
        phase.end(Why::GaveUp, [4]);
        assert!(phase.is_down() && phase.waits_since().is_none());
        let events: Vec<_> = core::iter::from_fn(|| phase.poll_event()).collect();
        let reset = Event::Reset(Id { link: 7, connection: 4 }, Reason::Lost(Why::GaveUp));
        let (interrupted, down) = (Event::Interrupted { link: 7 }, Event::Down { link: 7, why: Why::GaveUp });
        assert_eq!(events, [interrupted, Event::Resumed { link: 7 }, interrupted, down, reset]);
    }
}
