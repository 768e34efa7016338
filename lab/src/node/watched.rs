//! A node that records the packets passing it, for traces and captures.

use thalweg_core::time::{Span, Time};

use super::{Node, Tallied, Tally};
use crate::packet::Packet;

/// The event that concerns a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event {
    /// The packet arrived.
    Came,
    /// The packet arrived and was dropped at once.
    Dropped,
    /// The packet left.
    Left,
}

/// A recorded event.
#[derive(Clone, PartialEq, Debug)]
pub struct Entry {
    /// The time of the event.
    pub at: Time,
    /// The kind of the event.
    pub event: Event,
    /// The packet concerned.
    pub packet: Packet,
    /// The inlet by which it arrived, or the outlet by which it left.
    pub port: usize,
}

/// A node whose packets are recorded.
#[derive(Clone, PartialEq, Debug)]
pub struct Watched<N> {
    node: N,
    log: Vec<Entry>,
}

impl<N> Watched<N> {
    /// `node`, recorded from now on.
    pub fn new(node: N) -> Watched<N> {
        Watched { node, log: Vec::new() }
    }

    /// The node itself.
    pub fn node(&self) -> &N {
        &self.node
    }

    /// The events since the last call, in the order of time.
    pub fn take_log(&mut self) -> Vec<Entry> {
        core::mem::take(&mut self.log)
    }
}

impl<N: Tallied> Node for Watched<N> {
    fn accept(&mut self, now: Time, packet: Packet) {
        self.accept_at(now, 0, packet);
    }

    fn accept_at(&mut self, now: Time, inlet: usize, packet: Packet) {
        let (entry, dropped) = (packet.clone(), self.node.tally().dropped);
        self.node.accept_at(now, inlet, packet);
        let event = if self.node.tally().dropped == dropped { Event::Came } else { Event::Dropped };
        self.log.push(Entry { at: now, event, packet: entry, port: inlet });
    }

    fn next(&self) -> Option<Time> {
        self.node.next()
    }

    fn poll(&mut self, now: Time) -> Option<Packet> {
        let packet = self.node.poll(now)?;
        self.log.push(Entry { at: now, event: Event::Left, packet: packet.clone(), port: self.node.outlet() });
        Some(packet)
    }

    fn outlet(&self) -> usize {
        self.node.outlet()
    }

    fn least_delay(&self) -> Span {
        self.node.least_delay()
    }
}

impl<N: Tallied> Tallied for Watched<N> {
    fn tally(&self) -> Tally {
        self.node.tally()
    }
}

#[cfg(test)]
mod tests {
    use thalweg_core::units::{Bytes, Rate};

    use super::*;
    use crate::node::drop_tail::DropTail;
    use crate::node::queue::Limit;

    #[test]
    fn coming_dropping_and_leaving_are_remembered() {
        // 1500 bytes take a millisecond; one packet may wait.
        let link = DropTail::new(Rate::from_mbps(12), Limit::Packets(1)).with_wire(Span::from_millis(5));
        let mut watched = Watched::new(link);
        for flow in 0..3 {
            watched.accept(Time::ZERO, Packet::length(flow, Bytes(1500)));
        }
        while let Some(at) = watched.next() {
            watched.poll(at);
        }
        let seen: Vec<_> = watched
            .take_log()
            .iter()
            .map(|entry| (entry.at.as_nanos() / 1_000_000, entry.event, entry.packet.flow))
            .collect();
        let (came, dropped, left) = (Event::Came, Event::Dropped, Event::Left);
        assert_eq!(seen, [(0, came, 0), (0, came, 1), (0, dropped, 2), (6, left, 0), (7, left, 1)]);
        assert!(watched.take_log().is_empty());
    }
}
