//! A wire: every packet arrives, a fixed time later.

use thalweg_core::time::{Span, Time};

use super::delay_queue::DelayQueue;
use super::{Node, Tallied, Tally};
use crate::packet::Packet;

/// Propagation delay.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Wire {
    delay: Span,
    flying: DelayQueue,
}

impl Wire {
    /// A wire with a delay of `delay` from end to end.
    pub fn new(delay: Span) -> Wire {
        Wire { delay, flying: DelayQueue::default() }
    }
}

impl Node for Wire {
    fn accept(&mut self, now: Time, packet: Packet) {
        self.flying.put(now + self.delay, packet);
    }

    fn next(&self) -> Option<Time> {
        self.flying.next()
    }

    fn poll(&mut self, now: Time) -> Option<Packet> {
        self.flying.take(now)
    }

    fn least_delay(&self) -> Span {
        self.delay
    }
}

impl Tallied for Wire {
    fn tally(&self) -> Tally {
        Tally { held: self.flying.len(), ..Tally::default() }
    }
}
