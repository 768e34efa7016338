//! A delay queue: packets that wait for their time.

use std::collections::VecDeque;

use thalweg_core::time::Time;

use crate::packet::Packet;

/// Packets in the order in which they leave; those of one instant in the order in which they entered.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct DelayQueue {
    packets: VecDeque<(Time, Packet)>,
}

impl DelayQueue {
    /// Keeps `packet` until `at`.
    pub(crate) fn put(&mut self, at: Time, packet: Packet) {
        let place = match self.packets.back() {
            Some((last, _)) if *last > at => self.packets.partition_point(|(time, _)| *time <= at),
            _ => self.packets.len(),
        };
        self.packets.insert(place, (at, packet));
    }

    /// The time at which the first packet leaves.
    pub(crate) fn next(&self) -> Option<Time> {
        self.packets.front().map(|(at, _)| *at)
    }

    /// Removes and returns the first packet if it is due by `now`.
    pub(crate) fn take(&mut self, now: Time) -> Option<Packet> {
        if self.next()? <= now { self.packets.pop_front().map(|(_, packet)| packet) } else { None }
    }

    /// The number of packets that wait.
    pub(crate) fn len(&self) -> u64 {
        self.packets.len() as u64
    }
}
