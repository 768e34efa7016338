//! Queues for the tests of the laws.

use super::{Coded, Queue};
use crate::time::Time;

/// An uncoded packet.
pub(super) fn uncoded(l: u64) -> Coded {
    Coded { first: l, last: l, p_useless: 0.0 }
}

/// A queue with `sent` originals in flight once, and `unsent` more.
pub(super) fn in_flight(sent: u64, unsent: u64) -> Queue {
    let mut queue = Queue::new(1);
    (0..sent + unsent).for_each(|_| {
        queue.push(Time::ZERO);
    });
    (1..=sent).for_each(|l| queue.sent(&uncoded(l)));
    queue
}
