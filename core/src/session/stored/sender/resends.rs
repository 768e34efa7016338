//! Retransmissions that wait.

use std::collections::{BTreeSet, VecDeque};

/// The retransmissions that wait at most: what a flow control message can name.
const MAX_RESENDS: usize = 1_024;

/// A packet that was lost.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Lost {
    /// The index of its track.
    pub(super) track: u8,
    /// Its sequence number.
    pub(super) sequence: u16,
}

/// The packets to retransmit, each of them once.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Resends {
    queue: VecDeque<Lost>,
    waiting: BTreeSet<Lost>,
}

impl Resends {
    /// Adds a packet; returns true if it did not wait already.
    pub(super) fn push(&mut self, lost: Lost) -> bool {
        let is_new = self.queue.len() < MAX_RESENDS && self.waiting.insert(lost);
        if is_new {
            self.queue.push_back(lost);
        }
        is_new
    }

    /// The first packet that `is_known`; those before it are dropped.
    pub(super) fn first(&mut self, is_known: impl Fn(Lost) -> bool) -> Option<Lost> {
        loop {
            let lost = *self.queue.front()?;
            if is_known(lost) {
                return Some(lost);
            }
            self.pop();
        }
    }

    /// Removes the first packet.
    pub(super) fn pop(&mut self) {
        if let Some(lost) = self.queue.pop_front() {
            self.waiting.remove(&lost);
        }
    }

    /// True if nothing waits.
    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }
}
