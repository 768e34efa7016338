//! The sender's knowledge of its stream: the originals from B to E, and the outcomes of the packets that carried them.

use std::collections::VecDeque;

use super::Overhead;
use crate::time::Time;

/// Places that stay allocated when the queue is empty.
const IDLE: usize = 64;

/// A coded packet: one original, or a combination of several.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Coded {
    /// b\[k\]: the first original in it.
    pub first: u64,
    /// e\[k\]: the last original in it; an uncoded packet has only one.
    pub last: u64,
    /// The probability at the time of sending that it is useless ([`super::Decision::p_useless`]).
    pub p_useless: f64,
}

/// One original, with the knowledge of the packets that end with it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Place {
    /// gamma_l: the time at which it entered the queue.
    pub entered: Time,
    /// x_l: true if it arrived uncoded.
    pub arrived: bool,
    /// Uncoded copies of it in flight.
    pub copies: u32,
    /// Combinations in flight that end with it.
    pub coded: u32,
    /// c_l: combinations that end with it, arrived, and were innovative.
    pub coded_arrived: u32,
    /// The number of the newest packet that was a copy of it, in the order of sending, modulo 2³².
    pub copied: u32,
    /// The number of the newest combination that ends with it, counted alike.
    pub combined: u32,
}

/// A sender's stream from the first original that is not known to be decoded in order.
///
/// B..D are sent, D..=E wait. The sender reports packets sent, arrived and declared lost; it keeps the packets in
/// flight, their [`Coded`] and their times, itself. A combination acts as one of B to its last original, however early
/// it begins: originals before B are known.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Queue {
    b: u64,
    /// N: originals that were sent.
    sent: usize,
    /// Packets sent, modulo 2³².
    left: u32,
    /// The originals B..=E.
    places: VecDeque<Place>,
    missing: usize,
    coded_in_flight: u64,
    coded_arrived: u64,
    overhead: Overhead,
}

impl Coded {
    /// True if the packet is a single original, uncoded.
    pub fn is_uncoded(&self) -> bool {
        self.first == self.last
    }
}

impl Place {
    /// True if it was lost: sent, not arrived, and no copy of it is in flight. A combination may still cover it.
    pub fn is_missing(&self) -> bool {
        !self.arrived && self.copies == 0
    }
}

impl Queue {
    /// An empty queue whose first original will have the number `first`.
    pub fn new(first: u64) -> Queue {
        Queue { b: first, ..Queue::default() }
    }

    /// A queue of `sent` originals from `b` on that were sent and none of which is in flight, and of `unsent` more.
    pub fn standing(b: u64, sent: usize, unsent: usize) -> Queue {
        let places = VecDeque::from(vec![Place::default(); sent + unsent]);
        Queue { b, sent, places, missing: sent, ..Queue::default() }
    }

    /// B: the first original not known to be decoded in order.
    pub const fn b(&self) -> u64 {
        self.b
    }

    /// D: the first original that was never sent.
    pub const fn d(&self) -> u64 {
        self.b + self.sent as u64
    }

    /// E: the last original of the queue, or B - 1 if there is none.
    pub fn e(&self) -> u64 {
        (self.b + self.places.len() as u64).wrapping_sub(1)
    }

    /// N = D - B: originals that were sent and are not known to be decoded.
    pub fn n(&self) -> usize {
        self.sent
    }

    /// m = E - D + 1: originals that wait for their first transmission.
    pub fn m(&self) -> usize {
        self.places.len() - self.sent
    }

    /// E - B + 1: the number of originals in the sender's buffer.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// True if every original ever queued is known to be decoded.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The original `l`, which must be one of B..=E.
    pub fn place(&self, l: u64) -> &Place {
        &self.places[(l - self.b) as usize]
    }

    /// The originals B..D.
    pub fn in_doubt(&self) -> impl DoubleEndedIterator<Item = &Place> + ExactSizeIterator {
        self.places.range(..self.sent)
    }

    /// The originals D..=E.
    pub fn waiting(&self) -> impl DoubleEndedIterator<Item = &Place> + ExactSizeIterator {
        self.places.range(self.sent..)
    }

    /// The number of originals that were lost ([`Place::is_missing`]).
    pub fn missing(&self) -> usize {
        self.missing
    }

    /// The first original that was lost.
    pub fn first_missing(&self) -> Option<u64> {
        if self.missing == 0 {
            return None;
        }
        self.in_doubt().position(Place::is_missing).map(|nth| self.b + nth as u64)
    }

    /// The last original up to `last` that was lost.
    pub(super) fn last_missing(&self, last: u64) -> Option<u64> {
        if self.missing == 0 {
            return None;
        }
        let count = (last + 1).saturating_sub(self.b) as usize;
        self.in_doubt().take(count).rposition(Place::is_missing).map(|nth| self.b + nth as u64)
    }

    /// Combinations in flight that end at B or later.
    pub fn coded_in_flight(&self) -> u64 {
        self.coded_in_flight
    }

    /// Combinations that arrived, were innovative, and end at B or later.
    pub fn coded_arrived(&self) -> u64 {
        self.coded_arrived
    }

    /// Packets sent, modulo 2³²: the number of the newest.
    pub(super) fn left(&self) -> u32 {
        self.left
    }

    /// The account of Eq. (9).
    pub fn overhead(&self) -> &Overhead {
        &self.overhead
    }

    /// Adds an original and returns its number.
    pub fn push(&mut self, entered: Time) -> u64 {
        self.places.push_back(Place { entered, ..Place::default() });
        self.e()
    }

    /// Accounts for a sent packet, which must end with an original of the queue; D alone is a first transmission.
    pub fn sent(&mut self, packet: &Coded) {
        self.overhead.sent(packet.p_useless);
        self.left = self.left.wrapping_add(1);
        let left = self.left;
        if packet.last == self.d() {
            debug_assert!(packet.is_uncoded() && self.m() > 0, "first transmissions are uncoded, and of what waits");
            self.sent += 1;
            self.missing += 1;
        }
        if packet.is_uncoded() {
            self.change(packet, |place| (place.copies, place.copied) = (place.copies + 1, left));
        } else {
            self.change(packet, |place| (place.coded, place.combined) = (place.coded + 1, left));
        }
    }

    /// Accounts for an arrived packet; true if it was innovative, computed with generic coefficients.
    pub fn arrived(&mut self, packet: &Coded) -> bool {
        let useful = self.would_help(packet);
        self.arrived_as(packet, useful);
        useful
    }

    /// Accounts for an arrived packet that was innovative according to the receiver if `useful`.
    pub fn arrived_as(&mut self, packet: &Coded, useful: bool) {
        self.land(packet);
        self.take(packet, useful);
    }

    /// Accounts for the arrival of a packet that was declared lost; true if it was innovative.
    pub fn arrived_late(&mut self, packet: &Coded) -> bool {
        let useful = self.would_help(packet);
        self.take(packet, useful);
        useful
    }

    /// Accounts for a packet declared lost.
    pub fn lost(&mut self, packet: &Coded) {
        self.land(packet);
    }

    /// The first original that cannot be decoded in order from the packets that arrived, computed with generic
    /// coefficients: B if nothing changed.
    pub fn decodable(&self) -> u64 {
        let (mut deficiency, mut b) = (0, self.b);
        for (place, l) in self.in_doubt().zip(self.b..) {
            deficiency = (deficiency + u64::from(!place.arrived)).saturating_sub(u64::from(place.coded_arrived));
            if deficiency == 0 {
                b = l + 1;
            }
        }
        b
    }

    /// Removes the originals before `b`, which are known to be decoded; `b` is at most D. Never moves back.
    pub fn release(&mut self, b: u64) {
        while self.b < b && self.sent > 0 {
            let Some(place) = self.places.pop_front() else { break };
            self.b += 1;
            self.sent -= 1;
            self.missing -= usize::from(place.is_missing());
            self.coded_in_flight -= u64::from(place.coded);
            self.coded_arrived -= u64::from(place.coded_arrived);
        }
        if self.places.is_empty() {
            self.places.shrink_to(IDLE);
        }
    }

    /// All originals from B on lack something, so that a combination can always help.
    fn would_help(&self, packet: &Coded) -> bool {
        packet.last >= self.b && !(packet.is_uncoded() && self.place(packet.last).arrived)
    }

    fn take(&mut self, packet: &Coded, useful: bool) {
        self.overhead.arrived(useful);
        if useful && packet.is_uncoded() {
            self.change(packet, |place| place.arrived = true);
        } else if useful {
            self.change(packet, |place| place.coded_arrived += 1);
        }
    }

    fn land(&mut self, packet: &Coded) {
        self.overhead.landed(packet.p_useless);
        if packet.is_uncoded() {
            self.change(packet, |place| place.copies = place.copies.saturating_sub(1));
        } else {
            self.change(packet, |place| place.coded = place.coded.saturating_sub(1));
        }
    }

    /// Changes the original that `packet` ends with, unless it is before B, and updates the counts.
    fn change(&mut self, packet: &Coded, change: impl FnOnce(&mut Place)) {
        let Some(nth) = packet.last.checked_sub(self.b).map(|nth| nth as usize).filter(|nth| *nth < self.sent) else {
            return;
        };
        let place = &mut self.places[nth];
        let before = *place;
        change(place);
        self.missing = self.missing + usize::from(place.is_missing()) - usize::from(before.is_missing());
        self.coded_in_flight = self.coded_in_flight + u64::from(place.coded) - u64::from(before.coded);
        self.coded_arrived = self.coded_arrived + u64::from(place.coded_arrived) - u64::from(before.coded_arrived);
    }
}

#[cfg(test)]
mod tests;
