//! The originals of live media that are still of use.

use core::ops::Range;
use std::collections::VecDeque;

use super::super::{Coded, Place, Queue};
use crate::time::{Span, Time};

/// The departure of an original's newest copy.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Departure {
    /// The time of departure.
    pub at: Time,
    /// True if it was the original itself, not a retransmission.
    pub is_first: bool,
}

/// The originals from the first that is neither known to be there nor too late.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Window {
    queue: Queue,
    /// For each original of the queue, the departure of its newest copy.
    departures: VecDeque<Departure>,
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

    /// The originals that were sent, each with the departure of its newest copy.
    pub fn in_doubt(&self) -> impl Iterator<Item = (&Place, Departure)> {
        self.queue.in_doubt().zip(self.departures.iter().copied())
    }

    /// Adds an original that was produced at `produced`, and returns its number.
    pub fn push(&mut self, produced: Time) -> u64 {
        self.departures.push_back(Departure { at: produced, is_first: true });
        self.queue.push(produced)
    }

    /// Accounts for a packet that left at `now`, which must end with an original of the window.
    pub fn sent(&mut self, now: Time, packet: &Coded) {
        if packet.is_uncoded() {
            let is_first = packet.last == self.queue.d();
            self.departures[(packet.last - self.queue.b()) as usize] = Departure { at: now, is_first };
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
