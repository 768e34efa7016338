//! The simplest endpoints: one that only sends, and one that only receives.

use thalweg_core::time::{Span, Time};
use thalweg_core::units::Bytes;

use super::{Node, Tallied, Tally};
use crate::packet::Packet;
use crate::path::Traffic;

/// Sends the packets of a traffic source, and ignores everything that it receives.
#[derive(Clone, PartialEq, Debug)]
pub struct Origin {
    flow: u32,
    source: Traffic,
    start: Span,
    until: Time,
    sent: u64,
    received: u64,
}

impl Origin {
    /// An endpoint of `flow` whose source begins `start` after time zero.
    pub fn new(flow: u32, source: impl Into<Traffic>, start: Span) -> Origin {
        Origin { flow, source: source.into(), start, until: Time::NEVER, sent: 0, received: 0 }
    }

    /// The same endpoint, which sends nothing from `until` on.
    #[must_use]
    pub fn until(self, until: Time) -> Origin {
        Origin { until, ..self }
    }

    /// The departure of the next packet, if there is one.
    fn departure(&self) -> Option<Time> {
        Some(self.source.node().next() + self.start).filter(|next| *next < self.until)
    }

    /// Packets sent.
    pub fn sent(&self) -> u64 {
        self.sent
    }
}

impl Node for Origin {
    fn accept(&mut self, _: Time, _: Packet) {
        self.received += 1;
    }

    fn next(&self) -> Option<Time> {
        self.departure()
    }

    fn poll(&mut self, now: Time) -> Option<Packet> {
        self.departure().filter(|next| *next <= now)?;
        self.sent += 1;
        Some(Packet::length(self.flow, self.source.node_mut().emit()))
    }
}

impl Tallied for Origin {
    fn tally(&self) -> Tally {
        Tally { added: self.sent, consumed: self.received, ..Tally::default() }
    }
}

/// Consumes and counts every packet.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Sink {
    packets: u64,
    bytes: Bytes,
}

impl Sink {
    /// Packets received.
    pub fn packets(&self) -> u64 {
        self.packets
    }

    /// Bytes received, as sizes on the wire.
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
