//! Where packets wait for their time.

use std::collections::VecDeque;

use thalweg_core::time::Time;

use crate::packet::Packet;

/// Packets in the order in which they come out; those of one instant in the order in which they went in.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Shelf {
    packets: VecDeque<(Time, Packet)>,
}

impl Shelf {
    /// Keeps `packet` until `at`.
    pub(crate) fn put(&mut self, at: Time, packet: Packet) {
        let place = match self.packets.back() {
            Some((last, _)) if *last > at => self.packets.partition_point(|(time, _)| *time <= at),
            _ => self.packets.len(),
        };
        self.packets.insert(place, (at, packet));
    }

    /// When the first packet comes out.
    pub(crate) fn next(&self) -> Option<Time> {
        self.packets.front().map(|(at, _)| *at)
    }

    /// The first packet, if its time has come.
    pub(crate) fn take(&mut self, now: Time) -> Option<Packet> {
        if self.next()? <= now { self.packets.pop_front().map(|(_, packet)| packet) } else { None }
    }

    /// How many packets wait.
    pub(crate) fn len(&self) -> u64 {
        self.packets.len() as u64
    }
}
