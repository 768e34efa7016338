//! A link of a rate behind a FIFO that drops what does not fit.
//!
//! A packet that comes to an idle link is on it at once; the queue holds those that wait for it, not the one on it. When
//! a packet will be through is known as soon as it is in, so a link and the wire behind it are one node, with one event
//! a packet.

use core::iter::Sum;
use core::ops::SubAssign;
use std::collections::VecDeque;

use thalweg_core::time::{Span, Time};
use thalweg_core::units::{Bytes, Rate};

use super::queue::{Limit, Waiting};
use super::{Drops, Node, Out, Tallied, Tally};
use crate::packet::Packet;

/// A bottleneck.
///
/// Most links of a network are the flows' own, whose queues never fill: what only a queue with an end needs is kept
/// apart, so that the others are small.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DropTail {
    rate: Rate,
    delay: Span,
    /// On the wire, on the link and waiting for it, in this order.
    backlog: VecDeque<Departure>,
    /// When the last of them leaves the link.
    free: Time,
    /// When the first of them is through, [`Time::NEVER`] without one: the loop asks for it far more often than packets
    /// come through.
    first: Time,
    /// None where it never fills and nobody counts.
    queue: Option<Box<Queue>>,
}

/// What decides over a packet's room, and what became of those that came.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Queue {
    limit: Limit,
    /// How many of the backlog have left the link: those on the wire.
    departed: usize,
    /// What those weigh that have not left it.
    behind: Bytes,
    dropped: Drops,
    flows: Vec<Offered>,
    /// Time that the packets of each of these waited for the link, all together.
    waited: Vec<Span>,
}

/// What a flow offered to a queue, and what of it was dropped.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Offered {
    /// Packets that came.
    pub packets: u64,
    /// Packets that found no room.
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

/// It has a cache line of its own: many thousands of them are on long fast links, and are read when they are long cold.
#[derive(Clone, PartialEq, Eq, Debug)]
#[repr(align(64))]
struct Departure {
    /// When its last bit has left the link.
    at: Time,
    packet: Packet,
}

impl DropTail {
    /// An idle link of `rate` behind an empty queue.
    pub fn new(rate: Rate, limit: Limit) -> DropTail {
        DropTail {
            rate,
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

    /// The same link, which counts what each of the flows 0 .. `flows` offers and loses.
    pub fn counting(mut self, flows: usize) -> DropTail {
        let queue = self.queue.get_or_insert_with(|| Queue::new(Limit::ENDLESS));
        (queue.flows, queue.waited) = (vec![Offered::default(); flows], vec![Span::ZERO; flows]);
        self
    }

    /// Its rate.
    pub fn rate(&self) -> Rate {
        self.rate
    }

    /// What each counted flow offered so far, by flow number.
    pub fn offered(&self) -> &[Offered] {
        self.queue.as_ref().map_or(&[], |queue| &queue.flows)
    }

    /// What waits for the link at `now`.
    pub(crate) fn waiting(&self, now: Time) -> Waiting {
        let departed = self.backlog.partition_point(|departure| departure.at <= now);
        let waits = self.backlog.range(departed..).skip(1);
        waits.map(|departure| Waiting { packets: 1, bytes: departure.packet.size }).sum()
    }

    /// Packets of one flow that found no room, if it is counted.
    pub(crate) fn lost_of(&self, flow: u32) -> u64 {
        self.offered().get(flow as usize).map_or(0, |offered| offered.dropped)
    }

    /// Time that the packets of one flow waited for the link, all together, if it is counted.
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

    /// Returns whether a packet that comes at `now`, to a link that is `free` then or later, finds room behind those of
    /// `backlog` that wait; if so it is one of them.
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

    /// The first of the backlog is through.
    fn release(&mut self, packet: &Packet) {
        match self.departed.checked_sub(1) {
            Some(left) => self.departed = left,
            // Nobody came since it left the link.
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
        let at = self.free.max(now) + self.rate.time_for(packet.size);
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
                // Begins at the front of its memory again: of what a burst once needed, little is touched, and stays in
                // the cache.
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
