//! Reordering: some packets are held back while others pass.

use thalweg_core::rng::Rng;
use thalweg_core::time::{Span, Time};

use super::delay_queue::DelayQueue;
use super::{Node, Tallied, Tally};
use crate::packet::Packet;

/// Delays a share of the packets. With a share above one half, the rest overtakes them.
#[derive(Clone, PartialEq, Debug)]
pub struct Reorder {
    share: f64,
    by: Span,
    rng: Rng,
    flying: DelayQueue,
    changed: u64,
}

impl Reorder {
    /// Each packet is delayed by `by` with probability `share`, and passes at once otherwise.
    pub fn new(share: f64, by: Span, rng: Rng) -> Reorder {
        Reorder { share, by, rng, flying: DelayQueue::default(), changed: 0 }
    }
}

impl Node for Reorder {
    fn accept(&mut self, now: Time, packet: Packet) {
        let late = self.rng.chance(self.share);
        self.changed += u64::from(late);
        self.flying.put(if late { now + self.by } else { now }, packet);
    }

    fn next(&self) -> Option<Time> {
        self.flying.next()
    }

    fn poll(&mut self, now: Time) -> Option<Packet> {
        self.flying.take(now)
    }
}

impl Tallied for Reorder {
    fn tally(&self) -> Tally {
        Tally { changed: self.changed, held: self.flying.len(), ..Tally::default() }
    }
}
