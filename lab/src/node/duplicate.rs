//! Duplication: some packets arrive twice.

use thalweg_core::rng::Rng;
use thalweg_core::time::Time;

use super::delay_queue::DelayQueue;
use super::{Node, Tallied, Tally};
use crate::packet::Packet;

/// Sends a share of the packets twice, the copy right behind the packet.
#[derive(Clone, PartialEq, Debug)]
pub struct Duplicate {
    share: f64,
    rng: Rng,
    passing: DelayQueue,
    added: u64,
}

impl Duplicate {
    /// Each packet is doubled with probability `share`.
    pub fn new(share: f64, rng: Rng) -> Duplicate {
        Duplicate { share, rng, passing: DelayQueue::default(), added: 0 }
    }
}

impl Node for Duplicate {
    fn accept(&mut self, now: Time, packet: Packet) {
        if self.rng.chance(self.share) {
            self.added += 1;
            self.passing.put(now, packet.clone());
        }
        self.passing.put(now, packet);
    }

    fn next(&self) -> Option<Time> {
        self.passing.next()
    }

    fn poll(&mut self, now: Time) -> Option<Packet> {
        self.passing.take(now)
    }
}

impl Tallied for Duplicate {
    fn tally(&self) -> Tally {
        Tally { added: self.added, held: self.passing.len(), ..Tally::default() }
    }
}
