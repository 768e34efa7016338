//! A link with a rate, behind a FIFO that drops packets that do not fit.
//!
//! Transmission of a packet that arrives at an idle link starts at once; the queue holds the packets that wait for the
//! link, not the one on it. The time at which a packet leaves is known on its arrival, so a link and the wire behind it
//! are one node, with one event per packet.

mod steps;

use core::iter::Sum;
use core::ops::SubAssign;
use std::collections::VecDeque;

use thalweg_core::time::{Span, Time};
use thalweg_core::units::{Bytes, Rate};

use super::queue::{Limit, Waiting};
use super::{Drops, Node, Out, Tallied, Tally};
use crate::packet::Packet;

pub use steps::Steps;

/// A bottleneck: a link, the queue before it and the wire behind it.
///
/// Most links of a network are the flows' own, whose queues never fill: the state that only a bounded queue needs is
/// kept apart, so that the others are small.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DropTail {
    /// The rate, before the first of its changes.
    rate: Rate,
    steps: Option<Box<Steps>>,
    delay: Span,
    /// Packets on the wire, on the link and waiting for it, in this order.
    backlog: VecDeque<Departure>,
    /// The time at which the last of them leaves the link.
    free: Time,
    /// The time at which the first of them leaves the wire, [`Time::NEVER`] without one: the loop reads it far more
    /// often than packets leave.
    first: Time,
    /// None if the queue never fills and no flow is counted.
    queue: Option<Box<Queue>>,
}

/// The state that decides on a packet's admission, and the counters of arrivals.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Queue {
    limit: Limit,
    /// The number of packets of the backlog that have left the link: those on the wire.
    departed: usize,
    /// The size of those that have not left the link.
    behind: Bytes,
    dropped: Drops,
    flows: Vec<Offered>,
    /// The total time that the packets of each of these flows waited for the link.
    waited: Vec<Span>,
}

/// Packets that a flow offered to a queue, and those of them that were dropped.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Offered {
    /// Packets that arrived.
    pub packets: u64,
    /// Packets that were dropped.
    pub dropped: u64,
}

impl SubAssign for Offered {
    fn sub_assign(&mut self, other: Offered) {
        self.packets -= other.packets;
        self.dropped -= other.dropped;
    }
}

impl Sum for Offered {
    fn sum<I: Iterator<Item = Offered>>(all: I) -> Offered {
        all.fold(Offered::default(), |sum, one| Offered {
            packets: sum.packets + one.packets,
            dropped: sum.dropped + one.dropped,
        })
    }
}

/// A packet's departure, in a cache line of its own: long fast links hold many thousands, which have long left the
/// cache when they are read.
#[derive(Clone, PartialEq, Eq, Debug)]
#[repr(align(64))]
struct Departure {
    /// The time at which the packet's last bit has left the link.
    at: Time,
    packet: Packet,
}

impl DropTail {
    /// An idle link of `rate` behind an empty queue.
    pub fn new(rate: Rate, limit: Limit) -> DropTail {
        DropTail {
            rate,
            steps: None,
            delay: Span::ZERO,
            backlog: VecDeque::new(),
            free: Time::ZERO,
            first: Time::NEVER,
            queue: (limit != Limit::ENDLESS).then(|| Queue::new(limit)),
        }
    }

    /// The same link with a wire behind it that takes `delay` from end to end.
    pub fn with_wire(mut self, delay: Span) -> DropTail {
        self.delay = delay;
        self
    }

    /// The same link, whose rate changes.
    pub fn with_steps(mut self, steps: Steps) -> DropTail {
        self.steps = Some(Box::new(steps));
        self
    }

    /// The same link, which counts the packets that each of the flows 0 .. `flows` offers and loses.
    pub fn counting(mut self, flows: usize) -> DropTail {
        let queue = self.queue.get_or_insert_with(|| Queue::new(Limit::ENDLESS));
        (queue.flows, queue.waited) = (vec![Offered::default(); flows], vec![Span::ZERO; flows]);
        self
    }

    /// The rate of the link, before the first of its changes.
    pub fn rate(&self) -> Rate {
        self.rate
    }

    /// Packets that each counted flow has offered so far, and lost, by flow number.
    pub fn offered(&self) -> &[Offered] {
        self.queue.as_ref().map_or(&[], |queue| &queue.flows)
    }

    /// Packets that wait for the link at `now`.
    pub(crate) fn waiting(&self, now: Time) -> Waiting {
        let departed = self.backlog.partition_point(|departure| departure.at <= now);
        let waits = self.backlog.range(departed..).skip(1);
        waits.map(|departure| Waiting { packets: 1, bytes: departure.packet.size }).sum()
    }

    /// Packets of one flow that were dropped, if the flow is counted.
    pub(crate) fn lost_of(&self, flow: u32) -> u64 {
        self.offered().get(flow as usize).map_or(0, |offered| offered.dropped)
    }

    /// The total time that the packets of one flow waited for the link, if the flow is counted.
    pub(crate) fn waited_of(&self, flow: u32) -> Span {
        self.queue.as_ref().and_then(|queue| queue.waited.get(flow as usize)).copied().unwrap_or_default()
    }
}

impl Queue {
    fn new(limit: Limit) -> Box<Queue> {
        Box::new(Queue {
            limit,
            departed: 0,
            behind: Bytes(0),
            dropped: Drops::default(),
            flows: Vec::new(),
            waited: Vec::new(),
        })
    }

    /// Returns true if a packet that arrives at `now` fits behind those of `backlog` that wait, and counts it as one of
    /// them; the link becomes idle at `free`.
    #[inline(never)]
    fn admits(&mut self, now: Time, free: Time, backlog: &VecDeque<Departure>, packet: &Packet) -> bool {
        while let Some(departure) = backlog.get(self.departed)
            && departure.at <= now
        {
            self.behind.0 -= departure.packet.size.0;
            self.departed += 1;
        }
        let sending = backlog.get(self.departed);
        let admitted = sending.is_none_or(|sending| {
            let packets = backlog.len() - self.departed - 1;
            self.limit.admits(packets as u64, Bytes(self.behind.0 - sending.packet.size.0), packet.size)
        });
        if let Some(offered) = self.flows.get_mut(packet.flow as usize) {
            offered.packets += 1;
            offered.dropped += u64::from(!admitted);
        }
        if admitted && let Some(waited) = self.waited.get_mut(packet.flow as usize) {
            *waited += free.since(now);
        }
        if admitted {
            self.behind += packet.size;
        } else {
            self.dropped.count(packet);
        }
        admitted
    }

    /// Updates the counters when the first packet of the backlog leaves the wire.
    fn release(&mut self, packet: &Packet) {
        match self.departed.checked_sub(1) {
            Some(left) => self.departed = left,
            // No packet arrived since this one left the link.
            None => self.behind.0 -= packet.size.0,
        }
    }
}

impl Node for DropTail {
    #[inline(always)]
    fn accept(&mut self, now: Time, packet: Packet) {
        if let Some(queue) = &mut self.queue
            && !queue.admits(now, self.free, &self.backlog, &packet)
        {
            return;
        }
        let start = self.free.max(now);
        let at = match &self.steps {
            None => start + self.rate.time_for(packet.size),
            Some(steps) => steps.departure(self.rate, start, packet.size),
        };
        self.free = at;
        self.first = self.first.min(at + self.delay);
        self.backlog.push_back(Departure { at, packet });
    }

    #[inline]
    fn next(&self) -> Option<Time> {
        (self.first != Time::NEVER).then_some(self.first)
    }

    #[inline(always)]
    fn poll(&mut self, now: Time) -> Option<Packet> {
        if self.first > now {
            return None;
        }
        let Departure { packet, .. } = self.backlog.pop_front()?;
        if let Some(queue) = &mut self.queue {
            queue.release(&packet);
        }
        self.first = match self.backlog.front() {
            Some(first) => first.at + self.delay,
            None => {
                // Restarts at the front of its memory: of the memory that a burst once needed, only a small part is
                // touched and stays in the cache.
                self.backlog.clear();
                Time::NEVER
            }
        };
        Some(packet)
    }

    fn least_delay(&self) -> Span {
        self.delay
    }

    #[inline(always)]
    fn take_in(&mut self, now: Time, packet: Packet) -> Time {
        self.accept(now, packet);
        self.first
    }

    #[inline(always)]
    fn hand_out(&mut self, now: Time) -> Out {
        Out { packet: self.poll(now), next: self.first }
    }
}

impl Tallied for DropTail {
    fn tally(&self) -> Tally {
        let dropped = self.queue.as_ref().map_or_else(Drops::default, |queue| queue.dropped);
        Tally { dropped, held: self.backlog.len() as u64, ..Tally::default() }
    }
}

#[cfg(test)]
mod tests;
