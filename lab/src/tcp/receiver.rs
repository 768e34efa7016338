//! The receiving endpoint, which acknowledges data (RFC 5681 §4.2, RFC 2018 §4).
//!
//! Data in order is consumed at once, so the receive window never shrinks, and acknowledgements do not contain it.
//! Duplicates are acknowledged at once, and not reported as blocks of their own (RFC 2883).

mod gaps;

use thalweg_core::probe::{Probe, Visitor};
use thalweg_core::time::{Span, Time};

use self::gaps::Gaps;
use super::ack::{Ack, BLOCKS};
use super::player::Player;
use crate::node::{Node, Tallied, Tally};
use crate::packet::{Body, Packet};

/// The acknowledgement behavior of a receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReceiverConfig {
    /// The flow that its acknowledgements belong to.
    pub flow: u32,
    /// True if it reports segments received out of order (RFC 2018).
    pub sack: bool,
    /// The longest time that an acknowledgement waits for a second segment; if none, every segment is acknowledged (RFC
    /// 5681 §4.2: at most 500 ms).
    pub delay: Option<Span>,
}

impl ReceiverConfig {
    /// A receiver with SACK that acknowledges every segment.
    pub fn new(flow: u32) -> ReceiverConfig {
        ReceiverConfig { flow, sack: true, delay: None }
    }
}

/// The usual value of [`ReceiverConfig::delay`].
pub const DELAYED_ACK: Span = Span::from_millis(40);

/// The counters of a receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ReceiverCounters {
    /// Segments that arrived.
    pub received: u64,
    /// Those of them that had arrived before.
    pub duplicates: u64,
    /// Acknowledgements sent.
    pub acks: u64,
}

/// A TCP receiver.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Receiver {
    config: ReceiverConfig,
    /// The first segment that is missing.
    next: u64,
    gaps: Gaps,
    /// Segments received in order that no acknowledgement covers yet.
    unanswered: u32,
    /// Acknowledgements that are due at once.
    pending: u32,
    /// The time at which `poll` has something to do.
    wake: Time,
    counters: ReceiverCounters,
    /// Packets received, of any kind.
    taken: u64,
    /// Boxed, since few receivers have a player.
    player: Option<Box<Player>>,
}

impl Receiver {
    /// A receiver that has received nothing.
    pub fn new(config: ReceiverConfig) -> Receiver {
        Receiver {
            config,
            next: 0,
            gaps: Gaps::default(),
            unanswered: 0,
            pending: 0,
            wake: Time::NEVER,
            counters: ReceiverCounters::default(),
            taken: 0,
            player: None,
        }
    }

    /// The same receiver, with a player behind it.
    pub fn with_player(self, player: Player) -> Receiver {
        Receiver { player: Some(player.into()), ..self }
    }

    /// The player behind it.
    pub fn player(&self) -> Option<&Player> {
        self.player.as_deref()
    }

    /// Segments delivered in order: goodput.
    pub fn delivered(&self) -> u64 {
        self.next
    }

    /// Segments that wait behind a gap.
    pub fn held(&self) -> u64 {
        self.gaps.held()
    }

    /// Its counters.
    pub fn counters(&self) -> ReceiverCounters {
        self.counters
    }

    fn on_data(&mut self, now: Time, number: u64) {
        self.counters.received += 1;
        let in_order = number == self.next && self.gaps.is_empty();
        if number == self.next {
            self.next = self.gaps.fill(number + 1);
            if let Some(player) = &mut self.player {
                player.receive(now, self.next);
            }
        } else if number < self.next || !self.gaps.insert(number) {
            self.counters.duplicates += 1;
        }
        self.unanswered += u32::from(in_order);
        match self.config.delay {
            // A second segment ends the wait, and a segment that is out of order or fills a gap does not wait at all.
            Some(delay) if in_order && self.unanswered < 2 && self.pending == 0 => self.wake = now + delay,
            _ => {
                self.unanswered = 0;
                self.pending += 1;
                self.wake = now;
            }
        }
    }

    fn ack(&mut self) -> Packet {
        self.counters.acks += 1;
        let mut ack = Ack { next: self.next, ..Ack::default() };
        if self.config.sack && !self.gaps.is_empty() {
            let mut runs = self.gaps.recent();
            ack.blocks =
                [(); BLOCKS].map(|()| runs.next().map_or_else(Default::default, |run| Ack::block(self.next, run)));
        }
        Packet::ack(self.config.flow, ack)
    }
}

impl Node for Receiver {
    fn accept(&mut self, now: Time, packet: Packet) {
        self.taken += 1;
        if let Body::Segment { number, .. } = packet.body {
            self.on_data(now, number);
        }
    }

    #[inline]
    fn next(&self) -> Option<Time> {
        (self.wake != Time::NEVER).then_some(self.wake)
    }

    fn poll(&mut self, now: Time) -> Option<Packet> {
        if now < self.wake {
            return None;
        }
        // If none is pending, the delay is over.
        self.pending = self.pending.saturating_sub(1);
        self.unanswered = 0;
        if self.pending == 0 {
            self.wake = Time::NEVER;
        }
        Some(self.ack())
    }
}

impl Tallied for Receiver {
    fn tally(&self) -> Tally {
        Tally { added: self.counters.acks, consumed: self.taken, ..Tally::default() }
    }
}

impl Probe for Receiver {
    fn probe(&self, visit: &mut Visitor<'_>) {
        visit("delivered", self.next as f64);
        visit("held", self.held() as f64);
        visit("received", self.counters.received as f64);
        visit("duplicates", self.counters.duplicates as f64);
        visit("acks", self.counters.acks as f64);
    }
}

#[cfg(test)]
mod tests {
    use thalweg_core::units::Bytes;

    use super::*;
    use crate::tcp::ack::Block;

    fn ms(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    fn take(receiver: &mut Receiver, now: Time, numbers: &[u64]) -> Vec<Ack> {
        let mut acks = Vec::new();
        for &number in numbers {
            receiver.accept(now, Packet::segment(0, Bytes(1460), number, false));
            acks.extend(drain(receiver, now));
        }
        acks
    }

    fn drain(receiver: &mut Receiver, now: Time) -> Vec<Ack> {
        let packets = std::iter::from_fn(|| receiver.poll(now));
        packets.map(|packet| if let Body::Ack(ack) = packet.body { ack } else { panic!("data") }).collect()
    }

    fn delayed() -> Receiver {
        Receiver::new(ReceiverConfig { delay: Some(DELAYED_ACK), ..ReceiverConfig::new(0) })
    }

    fn block(from: u32, to: u32) -> Block {
        Block { from, to }
    }

    #[test]
    fn every_second_segment_is_acknowledged_and_a_lone_one_after_the_delay() {
        let mut receiver = delayed();
        assert_eq!(take(&mut receiver, ms(0), &[0]), []);
        assert_eq!(take(&mut receiver, ms(1), &[1]).len(), 1);
        assert_eq!(receiver.next(), None);
        assert_eq!(take(&mut receiver, ms(2), &[2]), []);
        assert_eq!(receiver.next(), Some(ms(42)));
        assert_eq!(drain(&mut receiver, ms(41)), []);
        assert_eq!(drain(&mut receiver, ms(42)), [Ack { next: 3, ..Ack::default() }]);
        assert_eq!(receiver.next(), None);
    }

    #[test]
    fn a_gap_and_what_fills_it_are_acknowledged_at_once() {
        let mut receiver = delayed();
        take(&mut receiver, ms(0), &[0, 1]);
        let acks = take(&mut receiver, ms(1), &[3, 5, 2, 4]);
        let seen: Vec<_> = acks.iter().map(|ack| (ack.next, ack.blocks[0], ack.blocks[1])).collect();
        let none = Block::default();
        assert_eq!(
            seen,
            [(2, block(1, 2), none), (2, block(3, 4), block(1, 2)), (4, block(1, 2), none), (6, none, none)]
        );
        assert_eq!((receiver.delivered(), receiver.held()), (6, 0));
    }

    #[test]
    fn the_first_block_is_the_most_recent_as_in_the_examples_of_rfc_2018() {
        // RFC 2018 §7, case 3: of eight segments the second, fourth, sixth and eighth are lost.
        let mut receiver = Receiver::new(ReceiverConfig::new(0));
        let acks = take(&mut receiver, ms(0), &[0, 2, 4, 6]);
        let last = acks[3];
        assert_eq!((last.next, last.blocks), (1, [block(5, 6), block(3, 4), block(1, 2)]));
        // The fourth arrives late: its block merges with both its neighbors.
        let acks = take(&mut receiver, ms(1), &[3]);
        assert_eq!(acks[0].blocks, [block(1, 4), block(5, 6), Block::default()]);
        // The second arrives late.
        let acks = take(&mut receiver, ms(2), &[1]);
        assert_eq!((acks[0].next, acks[0].blocks[0]), (5, block(1, 2)));
    }

    #[test]
    fn a_duplicate_is_counted_and_answered_and_delivered_once() {
        let mut receiver = delayed();
        assert_eq!(take(&mut receiver, ms(0), &[0, 0, 2, 2]).len(), 3);
        assert_eq!((receiver.delivered(), receiver.held(), receiver.counters().duplicates), (1, 1, 2));
    }
}
