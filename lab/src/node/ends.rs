//! The plainest ends: one that only sends, and one that only takes.

use thalweg_core::time::{Span, Time};
use thalweg_core::units::Bytes;

use super::{Node, Tallied, Tally};
use crate::packet::Packet;
use crate::path::Traffic;

/// Sends what a source of traffic says, and listens to nobody.
#[derive(Clone, PartialEq, Debug)]
pub struct Origin {
    flow: u32,
    source: Traffic,
    start: Span,
    sent: u64,
    heard: u64,
}

impl Origin {
    /// An end of `flow` whose source begins `start` after time zero.
    pub fn new(flow: u32, source: impl Into<Traffic>, start: Span) -> Origin {
        Origin { flow, source: source.into(), start, sent: 0, heard: 0 }
    }

    /// Packets that it sent.
    pub fn sent(&self) -> u64 {
        self.sent
    }
}

impl Node for Origin {
    fn accept(&mut self, _: Time, _: Packet) {
        self.heard += 1;
    }

    fn next(&self) -> Option<Time> {
        Some(self.source.node().next() + self.start)
    }

    fn poll(&mut self, now: Time) -> Option<Packet> {
        if self.source.node().next() + self.start > now {
            return None;
        }
        self.sent += 1;
        Some(Packet::length(self.flow, self.source.node_mut().emit()))
    }
}

impl Tallied for Origin {
    fn tally(&self) -> Tally {
        Tally { added: self.sent, consumed: self.heard, ..Tally::default() }
    }
}

/// Takes everything and counts it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Sink {
    packets: u64,
    bytes: Bytes,
}

impl Sink {
    /// Packets that came.
    pub fn packets(&self) -> u64 {
        self.packets
    }

    /// What they weighed on the wire.
    pub fn bytes(&self) -> Bytes {
        self.bytes
    }
}

impl Node for Sink {
    fn accept(&mut self, _: Time, packet: Packet) {
        self.packets += 1;
        self.bytes += packet.size;
    }

    fn next(&self) -> Option<Time> {
        None
    }

    fn poll(&mut self, _: Time) -> Option<Packet> {
        None
    }
}

impl Tallied for Sink {
    fn tally(&self) -> Tally {
        Tally { consumed: self.packets, ..Tally::default() }
    }
}
