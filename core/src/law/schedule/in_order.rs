//! Live media in order, with the repair of its blocks: GENEVA §3.2.2.
//!
//! The sender keeps the order: the source packets of a block as they were produced, then its repair packets
//! (`session/live/sender/block.rs`). This law decides when the head of that order leaves: at its time, or later if the
//! rate law holds it back. Nothing is sent twice.

use super::{Backlog, Decision, Next, Schedule, View};
use crate::probe::{Probe, Visitor};
use crate::time::Time;

/// The packet at the head of a live stream's blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Head {
    /// The earliest time at which it may leave.
    pub due: Time,
    /// True if the rate law allows a packet.
    pub is_allowed: bool,
    /// The sequence number of the newest source packet that it repairs; none if it is a source packet.
    pub repairs: Option<u64>,
}

impl Backlog for Head {
    type Path = ();
}

/// Sends the head of the blocks once it is due and allowed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct InOrder;

impl Schedule<Head> for InOrder {
    fn choose(&mut self, view: &View<'_, Head>) -> Decision {
        let Head { due, is_allowed, repairs } = *view.queue;
        match repairs {
            _ if due > view.now || !is_allowed => Decision::IDLE,
            None => Decision::NEW,
            Some(last) => Decision { next: Next::Repair { last }, p_useless: 0.0 },
        }
    }
}

impl Probe for InOrder {
    /// Shows nothing: there is no state.
    fn probe(&self, _visit: &mut Visitor<'_>) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Span;

    #[test]
    fn packet_leaves_once_it_is_due_and_allowed() {
        let due = Time::ZERO + Span::from_millis(10);
        let next = |now, is_allowed, repairs| {
            let head = Head { due, is_allowed, repairs };
            InOrder.choose(&View { now, queue: &head, path: () }).next
        };
        assert_eq!(next(due - Span::from_nanos(1), true, None), Next::Idle);
        assert_eq!(next(due, false, None), Next::Idle);
        assert_eq!(next(due, true, None), Next::New);
        assert_eq!(next(due, true, Some(7)), Next::Repair { last: 7 });
    }
}
