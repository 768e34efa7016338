//! A link whose capacity was measured: mahimahi's trace of delivery opportunities.
//!
//! R. Netravali et al., "Mahimahi: Accurate Record-and-Replay for HTTP", USENIX ATC 2015, and its linkshell: at each
//! opportunity 1500 bytes leave the queue, of one packet or of several; capacity that an empty queue does not use is
//! lost.

use std::collections::VecDeque;

use thalweg_core::time::{Span, Time};
use thalweg_core::units::Bytes;

use super::delay_queue::DelayQueue;
use super::losses::Losses;
use super::queue::{Limit, Waiting};
use super::{Node, Tallied, Tally};
use crate::packet::Packet;

/// The bytes that one delivery opportunity carries.
const OPPORTUNITY: u64 = 1500;
/// The maximum number of lines, more than any published trace has: an hour at 1 Gb/s is 300 million, at 10 Mb/s 3
/// million.
const MOST_LINES: usize = 16_000_000;

/// Instants at which 1500 bytes may leave, repeated forever.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trace {
    stamps: Vec<Span>,
}

impl Trace {
    /// Reads a trace: one time in milliseconds per line, never decreasing; the last is the length of the trace.
    ///
    /// # Errors
    /// Names the first line that is invalid. A trace without lines, or of no duration, is refused as well.
    pub fn parse(text: &str) -> Result<Trace, String> {
        let mut stamps: Vec<Span> = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let refuse = |why: &str| Err(format!("line {}: '{}' {why}", index + 1, excerpt(line)));
            match line.trim().parse::<u32>() {
                Err(_) => return refuse("is not a whole number of milliseconds"),
                Ok(stamp) if stamps.last().is_some_and(|last| *last > Span::from_millis(stamp.into())) => {
                    return refuse("is earlier than the line before");
                }
                Ok(_) if stamps.len() == MOST_LINES => return refuse("is beyond the maximum number of lines"),
                Ok(stamp) => stamps.push(Span::from_millis(stamp.into())),
            }
        }
        match stamps.last() {
            None => Err("is empty".into()),
            Some(last) if *last == Span::ZERO => Err("has a duration of zero".into()),
            Some(_) => Ok(Trace { stamps }),
        }
    }

    fn period(&self) -> Span {
        self.stamps.last().copied().unwrap_or(Span::MAX)
    }

    /// The time of the opportunity `index`, counted over all repetitions.
    fn at(&self, index: u64) -> Time {
        let lines = self.stamps.len() as u64;
        Time::ZERO + self.period() * (index / lines) + self.stamps[(index % lines) as usize]
    }

    /// The index of the first opportunity after `now`.
    fn after(&self, now: Time) -> u64 {
        let period = self.period().as_nanos();
        let (round, phase) = (now.as_nanos() / period, Span::from_nanos(now.as_nanos() % period));
        round * self.stamps.len() as u64 + self.stamps.partition_point(|stamp| *stamp <= phase) as u64
    }
}

/// The start of a line, short enough for a message.
fn excerpt(line: &str) -> String {
    line.chars().take(20).collect()
}

/// A queue that is drained by a trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TraceLink {
    trace: Trace,
    limit: Limit,
    queue: VecDeque<Packet>,
    queued: Bytes,
    /// Bytes of the first packet that earlier opportunities have delivered.
    delivered: u64,
    opportunity: u64,
    out: DelayQueue,
    dropped: Losses,
}

impl TraceLink {
    /// An empty queue in front of a link that starts its trace at time zero.
    pub fn new(trace: Trace, limit: Limit) -> TraceLink {
        TraceLink {
            trace,
            limit,
            queue: VecDeque::new(),
            queued: Bytes(0),
            delivered: 0,
            opportunity: 0,
            out: DelayQueue::default(),
            dropped: Losses::default(),
        }
    }

    /// Packets of one flow that were dropped.
    pub(crate) fn lost_of(&self, flow: u32) -> u64 {
        self.dropped.of(flow)
    }

    /// Packets that wait for an opportunity, including a packet of which a part was delivered.
    pub(crate) fn waiting(&self) -> Waiting {
        Waiting { packets: self.queue.len() as u64, bytes: self.queued }
    }

    /// Uses every opportunity up to `now`.
    fn advance(&mut self, now: Time) {
        while !self.queue.is_empty() && self.trace.at(self.opportunity) <= now {
            self.deliver(self.trace.at(self.opportunity));
            self.opportunity += 1;
        }
        if self.queue.is_empty() {
            self.opportunity = self.opportunity.max(self.trace.after(now));
        }
    }

    fn deliver(&mut self, at: Time) {
        let mut budget = OPPORTUNITY;
        while let Some(first) = self.queue.front() {
            let missing = first.size.0 - self.delivered;
            if missing > budget {
                self.delivered += budget;
                return;
            }
            budget -= missing;
            self.delivered = 0;
            self.queued = Bytes(self.queued.0 - first.size.0);
            if let Some(packet) = self.queue.pop_front() {
                self.out.put(at, packet);
            }
        }
    }
}

impl Node for TraceLink {
    fn accept(&mut self, now: Time, packet: Packet) {
        self.advance(now);
        if self.limit.admits(self.queue.len() as u64, self.queued, packet.size) {
            self.queued += packet.size;
            self.queue.push_back(packet);
        } else {
            self.dropped.count(&packet);
        }
    }

    fn next(&self) -> Option<Time> {
        let delivery = (!self.queue.is_empty()).then(|| self.trace.at(self.opportunity));
        self.out.next().or(delivery)
    }

    fn poll(&mut self, now: Time) -> Option<Packet> {
        self.advance(now);
        self.out.take(now)
    }
}

impl Tallied for TraceLink {
    fn tally(&self) -> Tally {
        Tally { dropped: self.dropped.total(), held: self.queue.len() as u64 + self.out.len(), ..Tally::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    fn deliveries(link: &mut TraceLink, count: usize) -> Vec<(u32, Time)> {
        let mut out = Vec::new();
        while out.len() < count {
            let at = link.next().expect("more to come");
            out.extend(link.poll(at).map(|packet| (packet.flow, at)));
        }
        out
    }

    fn link(trace: &str) -> TraceLink {
        TraceLink::new(Trace::parse(trace).expect("a trace"), Limit::Packets(100))
    }

    #[test]
    fn a_trace_delivers_as_computed_by_hand_and_repeats() {
        // Opportunities at 3, 5, 5, 8 | 11, 13, 13, 16 | 19 ...
        let mut link = link("3\n5\n5\n8\n");
        for flow in 0..6 {
            link.accept(Time::ZERO, Packet::length(flow, Bytes(1500)));
        }
        let times = [(0, ms(3)), (1, ms(5)), (2, ms(5)), (3, ms(8)), (4, ms(11)), (5, ms(13))];
        assert_eq!(deliveries(&mut link, 6), times);
        assert_eq!(link.next(), None);
        // 13 ms is past and its second opportunity unused; unused opportunities are not saved.
        link.accept(ms(13), Packet::length(6, Bytes(1500)));
        assert_eq!(deliveries(&mut link, 1), [(6, ms(16))]);
    }

    #[test]
    fn an_opportunity_is_bytes_and_not_packets() {
        let mut link = link("10\n20\n30\n");
        for (flow, size) in [(0, 700), (1, 700), (2, 700), (3, 1500), (4, 900)] {
            link.accept(Time::ZERO, Packet::length(flow, Bytes(size)));
        }
        // 1500 = 700 + 700 + 100 | 600 + 900 | 600 + 900.
        assert_eq!(deliveries(&mut link, 5), [(0, ms(10)), (1, ms(10)), (2, ms(20)), (3, ms(30)), (4, ms(30))]);
    }

    #[test]
    fn a_bad_trace_is_refused_by_its_line() {
        for (text, why) in [
            ("", "is empty"),
            ("0\n0\n", "has a duration of zero"),
            ("1\nx\n", "line 2: 'x' is not a whole number of milliseconds"),
            ("5\n4\n", "line 2: '4' is earlier than the line before"),
        ] {
            assert_eq!(Trace::parse(text), Err(why.into()));
        }
    }
}
