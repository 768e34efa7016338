//! Whether there is room for more: here, and at the other end.

use super::{Allowance, Last, Schedule, Sender, Time};

impl<S: Schedule, A: Allowance> Sender<S, A> {
    /// Whether it is time to ask the other end for room.
    pub(in super::super) fn poll_question(&mut self, now: Time) -> bool {
        let asks = self.ask.is_some_and(|at| at <= now);
        if asks {
            self.asked = (self.asked + 1).min(4);
            self.ask = Some(now + self.rtt.probe() * (1 << self.asked));
        }
        asks
    }

    /// Originals that may wait for their arrival from now on.
    pub(in super::super) fn bound(&mut self, most: usize) {
        self.most = most.min(self.config.window);
    }

    /// Whether one more original may enter the queue.
    pub(super) fn has_room(&self) -> bool {
        self.queue.len() < self.most && self.queue.e().wrapping_add(1) < self.limit
    }

    pub(super) fn wants_to_send(&self) -> bool {
        let waits = !self.gathered.is_empty() || self.last == Last::Due;
        let bound = 2 * self.config.window as u64 + 64;
        (!self.queue.is_empty() || waits && self.has_room()) && u64::from(self.flight.under_way()) < bound
    }

    /// Asks the other end for an acknowledgement where the sender waits for nothing but its receive window, or for what
    /// arrived before an interruption: the packet that reported it may be lost.
    pub(super) fn watch_room(&mut self, now: Time) {
        let waits = !self.gathered.is_empty() || self.last == Last::Due;
        let blocked = waits && self.queue.is_empty() && !self.has_room() || self.is_resuming();
        self.ask = if blocked { self.ask.or(Some(now + self.rtt.probe())) } else { None };
    }
}
