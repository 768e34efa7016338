//! The originals of live media that are still of use.

use core::ops::Range;
use std::collections::VecDeque;

use super::super::{Coded, Place, Queue};
use crate::time::{Span, Time};

/// The originals from the first that is neither known to be there nor too late.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Window {
    queue: Queue,
    /// For each original of the queue, the time at which its newest copy left.
    departures: VecDeque<Time>,
}

impl Window {
    /// An empty window whose first original will have the number `first`.
    pub fn new(first: u64) -> Window {
        Window { queue: Queue::new(first), departures: VecDeque::new() }
    }

    /// The originals and the packets that carried them.
    pub fn queue(&self) -> &Queue {
        &self.queue
    }

    /// The originals that were sent, each with the time at which its newest copy left.
    pub fn in_doubt(&self) -> impl Iterator<Item = (&Place, Time)> {
        self.queue.in_doubt().zip(self.departures.iter().copied())
    }

    /// Adds an original that was produced at `produced`, and returns its number.
    pub fn push(&mut self, produced: Time) -> u64 {
        self.departures.push_back(produced);
        self.queue.push(produced)
    }

    /// Accounts for a packet that left at `now`, which must end with an original of the window.
    pub fn sent(&mut self, now: Time, packet: &Coded) {
        if packet.is_uncoded() {
            self.departures[(packet.last - self.queue.b()) as usize] = now;
        }
        self.queue.sent(packet);
    }

    /// Accounts for an arrived packet.
    pub fn arrived(&mut self, packet: &Coded) {
        self.queue.arrived(packet);
    }

    /// Accounts for the arrival of a packet that was lost before.
    pub fn arrived_late(&mut self, packet: &Coded) {
        self.queue.arrived_late(packet);
    }

    /// Accounts for a lost packet.
    pub fn lost(&mut self, packet: &Coded) {
        self.queue.lost(packet);
    }

    /// Removes the originals that are known to be there, and those for which it is too late at `now`, `budget` after their
    /// production. Returns the latter, some of which may be there.
    pub fn release(&mut self, now: Time, budget: Span) -> Range<u64> {
        let first = self.queue.decodable();
        let late = (first..self.queue.d()).take_while(|l| self.queue.place(*l).entered + budget < now).count();
        self.release_before(first + late as u64);
        first..first + late as u64
    }

    /// Removes the originals before `number`, as far as they were sent.
    pub fn release_before(&mut self, number: u64) {
        let before = self.queue.b();
        self.queue.release(number);
        self.departures.drain(..(self.queue.b() - before) as usize);
    }
}
