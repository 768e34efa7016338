//! The packets of one track by their sequence numbers: those that arrived, and those to ask for.

use core::ops::Range;
use std::collections::VecDeque;

use crate::time::{Span, Time};
use crate::wire::rtp::SequenceUnwrapper;

/// The packets that are remembered: as many as the sender can retransmit.
const HISTORY: usize = 8_192;

/// A packet that may have arrived.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Packet {
    /// It is missing, and was last asked for at this time.
    Missing(Option<Time>),
    /// It arrived, as this packet of this frame; true if it was retransmitted.
    Arrived { frame: u32, packet: u16, packets: u16, is_resent: bool },
}

/// A missing packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Missing {
    /// Its sequence number, extended to 64 bits.
    pub(super) sequence: u64,
    /// Its frame, or the nearest before it that is known.
    pub(super) frame: u32,
    /// True if `frame` is its own.
    pub(super) is_own: bool,
}

/// The packets of one track.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Arrivals {
    unwrapper: SequenceUnwrapper,
    /// The number of the first remembered packet.
    base: u64,
    packets: VecDeque<Packet>,
}

impl Arrivals {
    /// Extends the sequence number of a group's first packet, which may not have arrived.
    pub(super) fn first_of_group(&mut self, sequence: u16) -> u64 {
        let number = self.unwrapper.peek(sequence.into());
        if self.packets.is_empty() && self.base == 0 {
            self.base = number;
            self.unwrapper.unwrap(sequence.into());
        }
        number
    }

    /// Takes a packet. Returns its number extended to 64 bits; none if it is too old or too far ahead.
    pub(super) fn take(
        &mut self,
        sequence: u16,
        is_resent: bool,
        (frame, packet, packets): (u32, u16, u16),
    ) -> Option<u64> {
        let number = self.unwrapper.peek(sequence.into());
        if self.packets.is_empty() && self.base == 0 {
            self.base = number;
        }
        let at = number.checked_sub(self.base)? as usize;
        if at >= self.packets.len() + HISTORY {
            return None;
        }
        self.unwrapper.unwrap(sequence.into());
        self.reach(number + 1);
        let at = number.checked_sub(self.base)? as usize;
        if let Some(slot @ Packet::Missing(_)) = self.packets.get_mut(at) {
            *slot = Packet::Arrived { frame, packet, packets, is_resent };
        }
        Some(number)
    }

    /// Remembers packets up to before `end` as missing, and forgets the oldest.
    fn reach(&mut self, end: u64) {
        while self.base + (self.packets.len() as u64) < end {
            self.packets.push_back(Packet::Missing(None));
        }
        while self.packets.len() > HISTORY {
            self.packets.pop_front();
            self.base += 1;
        }
    }

    /// The packets of `range` that arrived without being asked for.
    pub(super) fn received(&self, range: Range<u64>) -> u64 {
        let first = |packet: &&Packet| matches!(packet, Packet::Arrived { is_resent: false, .. });
        self.range(range).filter(first).count() as u64
    }

    fn range(&self, range: Range<u64>) -> impl DoubleEndedIterator<Item = &Packet> {
        let offset = |number: u64| (number.saturating_sub(self.base) as usize).min(self.packets.len());
        self.packets.range(offset(range.start)..offset(range.end).max(offset(range.start)))
    }

    /// The packets before `end` that are missing and were not asked for since `asked`, with their frames.
    pub(super) fn missing(&mut self, end: u64, asked: Time) -> Vec<Missing> {
        if end < self.base + self.packets.len() as u64 + HISTORY as u64 {
            self.reach(end);
        }
        let mut found = Vec::new();
        // The frame and the packet within it that the packet at hand would have, if it were of the frame before it.
        let mut before: Option<(u32, u16, u16)> = None;
        for (number, packet) in (self.base..end).zip(&self.packets) {
            match packet {
                Packet::Arrived { frame, packet, packets, .. } => before = Some((*frame, *packet, *packets)),
                Packet::Missing(last) => {
                    if let Some((_, packet, _)) = &mut before {
                        *packet = packet.saturating_add(1);
                    }
                    if last.is_none_or(|last| last <= asked) {
                        let (frame, is_own) = before.map_or((0, false), |(frame, packet, of)| (frame, packet < of));
                        found.push(Missing { sequence: number, frame, is_own });
                    }
                }
            }
        }
        found
    }

    /// Notes that a packet is asked for.
    pub(super) fn ask(&mut self, now: Time, sequence: u64) {
        let at = sequence.wrapping_sub(self.base) as usize;
        if let Some(Packet::Missing(asked)) = self.packets.get_mut(at) {
            *asked = Some(now);
        }
    }
}

/// The time of a request that may be repeated at `now`, if its answer takes `delay`.
pub(super) fn repeatable(now: Time, delay: Span) -> Time {
    Time::ZERO + now.since(Time::ZERO).saturating_sub(delay)
}
