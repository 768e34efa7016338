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

use super::queue::Limit;
use super::{Drops, Node, Tallied, Tally};
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
}

/// What a flow offered to a queue, and what of it was dropped.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
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
        self.queue.get_or_insert_with(|| Queue::new(Limit::ENDLESS)).flows = vec![Offered::default(); flows];
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
}

impl Queue {
    fn new(limit: Limit) -> Box<Queue> {
        Box::new(Queue { limit, departed: 0, behind: Bytes(0), dropped: Drops::default(), flows: Vec::new() })
    }

    /// Whether a packet that comes at `now` finds room behind those of `backlog` that wait; if so it is one of them.
    fn admits(&mut self, now: Time, backlog: &VecDeque<Departure>, packet: &Packet) -> bool {
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
    fn accept(&mut self, now: Time, packet: Packet) {
        if let Some(queue) = &mut self.queue
            && !queue.admits(now, &self.backlog, &packet)
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
}

impl Tallied for DropTail {
    fn tally(&self) -> Tally {
        let dropped = self.queue.as_ref().map_or_else(Drops::default, |queue| queue.dropped);
        Tally { dropped, held: self.backlog.len() as u64, ..Tally::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(flow: u32) -> Packet {
        Packet::length(flow, Bytes(1500))
    }

    fn departures(link: &mut DropTail) -> Vec<(u32, u64)> {
        let mut out = Vec::new();
        while let Some(at) = link.next() {
            out.extend(link.poll(at).map(|packet| (packet.flow, at.as_nanos())));
        }
        out
    }

    #[test]
    fn packets_leave_one_transmission_time_apart() {
        // 1500 bytes at 1 Gb/s are 12 us.
        let mut link = DropTail::new(Rate::from_mbps(1000), Limit::Packets(10));
        link.accept(Time::ZERO, packet(0));
        link.accept(Time::ZERO, packet(1));
        link.accept(Time::from_nanos(1_000), packet(2));
        assert_eq!(departures(&mut link), [(0, 12_000), (1, 24_000), (2, 36_000)]);
        link.accept(Time::from_nanos(100_000), packet(3));
        assert_eq!(departures(&mut link), [(3, 112_000)]);
    }

    #[test]
    fn poisson_arrivals_wait_as_long_as_pollaczek_and_khinchine_say() {
        // M/D/1: rho / (2 (1 - rho)) service times of waiting, plus one of service; here rho = 0.6 and 1500 bytes take
        // 12 us. Means over 100 batches of 4000 arrivals, far longer than a busy period, are nearly independent.
        let mut rng = thalweg_core::rng::Rng::new(8);
        let mut link = DropTail::new(Rate::from_mbps(1000), Limit::Packets(u64::MAX));
        let mut now = 0.0;
        let batches: Vec<f64> = (0..100)
            .map(|_| {
                let mut sum = 0.0;
                for _ in 0..4_000 {
                    now += rng.exponential(20e-6);
                    let arrival = Time::ZERO + Span::from_secs_f64(now);
                    while link.poll(arrival).is_some() {}
                    link.accept(arrival, packet(0));
                    sum += link.backlog.back().map_or(0.0, |last| last.at.since(arrival).as_secs_f64());
                }
                sum / 4_000.0
            })
            .collect();
        let mean = batches.iter().sum::<f64>() / 100.0;
        let variance = batches.iter().map(|batch| (batch - mean).powi(2)).sum::<f64>() / 99.0;
        let expected = 12e-6 * (1.0 + 0.6 / (2.0 * 0.4));
        assert!((mean - expected).abs() < 5.0 * (variance / 100.0).sqrt(), "{mean} is not {expected}");
    }

    #[test]
    fn a_full_queue_drops_its_tail_whether_it_was_polled_or_not() {
        for limit in [Limit::Packets(2), Limit::Bytes(Bytes(3_000))] {
            let mut link = DropTail::new(Rate::from_mbps(1000), limit);
            for flow in 0..4 {
                link.accept(Time::ZERO, packet(flow));
            }
            // One on the link, two behind it.
            assert_eq!(link.tally(), Tally { dropped: Drops { of_ends: 1, of_cross: 0 }, held: 3, ..Tally::default() });
            // At 12 us the first has left, though nobody has fetched it: there is room for one.
            let later = Time::ZERO + Span::from_micros(12);
            link.accept(later, packet(4));
            link.accept(later, packet(5));
            assert_eq!(link.tally().dropped.total(), 2);
            assert_eq!(departures(&mut link), [(0, 12_000), (1, 24_000), (2, 36_000), (4, 48_000)]);
        }
    }

    #[test]
    fn a_link_with_a_wire_is_a_link_and_then_a_wire() {
        let delay = Span::from_millis(3);
        let mut both = DropTail::new(Rate::from_mbps(1000), Limit::Packets(5)).with_wire(delay);
        let mut link = DropTail::new(Rate::from_mbps(1000), Limit::Packets(5));
        let mut rng = thalweg_core::rng::Rng::new(4);
        let (mut now, mut from_link) = (0.0, Vec::new());
        for flow in 0..2_000 {
            now += rng.exponential(12.5e-6);
            let arrival = Time::ZERO + Span::from_secs_f64(now);
            both.accept(arrival, packet(flow));
            link.accept(arrival, packet(flow));
        }
        let later = |(flow, at): (u32, u64)| (flow, at + delay.as_nanos());
        from_link.extend(departures(&mut link).into_iter().map(later));
        assert!(from_link.len() < 2_000, "the queue was full at times");
        assert_eq!(departures(&mut both), from_link);
        assert_eq!(both.tally(), link.tally());
    }

    #[test]
    fn losses_are_counted_by_flow() {
        let mut link = DropTail::new(Rate::from_mbps(1000), Limit::Packets(1)).counting(2);
        for flow in [0, 1, 1, 0, 7] {
            link.accept(Time::ZERO, packet(flow));
        }
        let counts = [Offered { packets: 2, dropped: 1 }, Offered { packets: 2, dropped: 1 }];
        assert_eq!(link.offered(), counts);
    }
}
