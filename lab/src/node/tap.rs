//! A tap: records every packet and changes none.

use std::collections::VecDeque;

use thalweg_core::time::Time;
use thalweg_core::units::Bytes;

use super::delay_queue::DelayQueue;
use super::{Node, Tallied, Tally};
use crate::packet::Packet;

/// A packet that passed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sighting {
    /// The time at which it passed.
    pub at: Time,
    /// Its flow number.
    pub flow: u32,
    /// Its size on the wire.
    pub size: Bytes,
}

/// Remembers the last packets that passed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tap {
    keep: usize,
    seen: VecDeque<Sighting>,
    passing: DelayQueue,
}

impl Tap {
    /// A tap that remembers the last `keep` packets.
    pub fn new(keep: usize) -> Tap {
        Tap { keep, seen: VecDeque::new(), passing: DelayQueue::default() }
    }

    /// The last packets, the oldest first.
    pub fn seen(&self) -> impl Iterator<Item = &Sighting> {
        self.seen.iter()
    }
}

impl Node for Tap {
    fn accept(&mut self, now: Time, packet: Packet) {
        self.seen.push_back(Sighting { at: now, flow: packet.flow, size: packet.size });
        if self.seen.len() > self.keep {
            self.seen.pop_front();
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

impl Tallied for Tap {
    fn tally(&self) -> Tally {
        Tally { held: self.passing.len(), ..Tally::default() }
    }
}
