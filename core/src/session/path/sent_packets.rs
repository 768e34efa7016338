//! Sent packets, by number, until their outcome can no longer change.

use core::ops::Range;
use std::collections::VecDeque;

use crate::time::Time;

/// The record of a sent packet.
pub(in crate::session) trait Sent {
    /// The time at which the packet left.
    fn at(&self) -> Time;

    /// True until the packet was acknowledged or declared lost.
    fn is_in_flight(&self) -> bool;
}

/// Packets in the order in which they left, numbered one by one.
#[derive(Clone, PartialEq, Debug)]
pub(in crate::session) struct SentPackets<R> {
    /// The number of the first record.
    first: u64,
    records: VecDeque<R>,
    /// All packets before this number have an outcome, or are forgotten.
    decided: u64,
    in_flight: u32,
}

impl<R> Default for SentPackets<R> {
    fn default() -> Self {
        SentPackets { first: 0, records: VecDeque::new(), decided: 0, in_flight: 0 }
    }
}

impl<R: Sent> SentPackets<R> {
    /// The number of packets in flight.
    pub(in crate::session) fn in_flight(&self) -> u32 {
        self.in_flight
    }

    /// The number of the first packet that is remembered.
    pub(in crate::session) fn first(&self) -> u64 {
        self.first
    }

    /// The number of the next packet.
    pub(in crate::session) fn next(&self) -> u64 {
        self.first + self.records.len() as u64
    }

    /// The number up to which [`SentPackets::advance`] has found outcomes.
    pub(in crate::session) fn decided(&self) -> u64 {
        self.decided
    }

    /// Records a packet that leaves now, and returns its number.
    pub(in crate::session) fn push(&mut self, record: R) -> u64 {
        self.in_flight += u32::from(record.is_in_flight());
        self.records.push_back(record);
        self.next() - 1
    }

    pub(in crate::session) fn get(&self, number: u64) -> Option<&R> {
        self.records.get(self.index(number)?)
    }

    /// The oldest packet without an outcome at the last call of [`SentPackets::advance`].
    pub(in crate::session) fn oldest(&self) -> Option<(u64, &R)> {
        self.get(self.decided).map(|record| (self.decided, record))
    }

    /// The records of `numbers`, all of which are remembered.
    pub(in crate::session) fn range(&self, numbers: Range<u64>) -> impl Iterator<Item = &R> {
        let [from, to] = [numbers.start, numbers.end].map(|number| (number - self.first) as usize);
        self.records.range(from..to)
    }

    /// Applies `change` to the record of a packet, if it is remembered, and returns its result.
    pub(in crate::session) fn update<T>(&mut self, number: u64, change: impl FnOnce(&mut R) -> T) -> Option<T> {
        let index = self.index(number)?;
        let record = self.records.get_mut(index)?;
        let before = record.is_in_flight();
        let result = change(record);
        self.in_flight = self.in_flight + u32::from(record.is_in_flight()) - u32::from(before);
        Some(result)
    }

    /// Passes over the packets that have an outcome, as have all before them, and returns their numbers. No packet is
    /// passed twice.
    pub(in crate::session) fn advance(&mut self) -> Range<u64> {
        let from = self.decided;
        while self.get(self.decided).is_some_and(|record| !record.is_in_flight()) {
            self.decided += 1;
        }
        from..self.decided
    }

    /// The number of remembered packets that left by `time`.
    pub(in crate::session) fn left_by(&self, time: Time) -> usize {
        self.records.partition_point(|record| record.at() <= time)
    }

    /// Forgets the first packet, whether or not it has an outcome.
    pub(in crate::session) fn pop_first(&mut self) -> Option<R> {
        let record = self.records.pop_front()?;
        self.in_flight -= u32::from(record.is_in_flight());
        self.first += 1;
        self.decided = self.decided.max(self.first);
        Some(record)
    }

    /// The first packet that is remembered.
    pub(in crate::session) fn front(&self) -> Option<&R> {
        self.records.front()
    }

    /// Frees the memory of more than `capacity` records, if none is remembered.
    pub(in crate::session) fn shrink_to(&mut self, capacity: usize) {
        if self.records.is_empty() {
            self.records.shrink_to(capacity);
        }
    }

    fn index(&self, number: u64) -> Option<usize> {
        usize::try_from(number.checked_sub(self.first)?).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Packet {
        at: Time,
        is_in_flight: bool,
    }

    impl Sent for Packet {
        fn at(&self) -> Time {
            self.at
        }

        fn is_in_flight(&self) -> bool {
            self.is_in_flight
        }
    }

    /// Ten packets, a nanosecond apart.
    fn ten() -> SentPackets<Packet> {
        let mut sent = SentPackets::default();
        for nth in 0..10 {
            assert_eq!(sent.push(Packet { at: Time::from_nanos(nth), is_in_flight: true }), nth);
        }
        sent
    }

    fn decide(sent: &mut SentPackets<Packet>, number: u64) -> Option<bool> {
        sent.update(number, |packet| core::mem::replace(&mut packet.is_in_flight, false))
    }

    #[test]
    fn packets_with_an_outcome_are_passed_once_and_in_order() {
        let mut sent = ten();
        for (number, passed, in_flight) in [(1, 0..0, 9), (0, 0..2, 8), (5, 2..2, 7), (2, 2..3, 6)] {
            assert_eq!(decide(&mut sent, number), Some(true));
            assert_eq!((sent.advance(), sent.in_flight()), (passed, in_flight));
        }
        assert_eq!(decide(&mut sent, 2), Some(false), "decided before");
        assert_eq!((sent.in_flight(), sent.oldest().map(|(number, _)| number)), (6, Some(3)));
        assert_eq!(sent.range(2..6).filter(|packet| packet.is_in_flight).count(), 2, "3 and 4");
    }

    #[test]
    fn forgotten_packets_are_neither_in_flight_nor_decided_again() {
        let mut sent = ten();
        decide(&mut sent, 1);
        while sent.front().is_some_and(|packet| packet.at < Time::from_nanos(4)) {
            sent.pop_first();
        }
        assert_eq!((sent.first(), sent.decided(), sent.next(), sent.in_flight()), (4, 4, 10, 6));
        assert_eq!(decide(&mut sent, 3), None);
        assert_eq!(sent.advance(), 4..4);
        assert_eq!((sent.left_by(Time::from_nanos(3)), sent.left_by(Time::from_nanos(6))), (0, 3), "4, 5 and 6");
    }
}
