//! One source block: packets that wait for their repair, and then leave evenly, source first (GENEVA §3.2.2).
//!
//! A block with more symbols than the code allows is interleaved over several parts, so that a burst of losses hits all
//! parts alike.

mod shed;
#[cfg(test)]
mod tests;

pub(super) use shed::SEQUENCE;

use crate::code::reed_solomon::Encoder;
use crate::time::{Span, Time};
use crate::units::Bytes;
use crate::wire::fecframe::{Adui, BlockBounds, MAX_SYMBOLS, PayloadId};
use crate::wire::rtp;

/// Most source packets of a block, which closes early with so many. 8 parts of 255 symbols hold them with their repair.
const MOST: usize = 1600;
/// Encoders kept: a steady source alternates between two sizes. Ours: a new encoder computes its rows of the generator
/// matrix, a kept one takes the memory of them.
const KEPT: usize = 8;

/// Bytes of a repair packet's RTP header with block bounds, and of its payload ID.
const REPAIR_HEADERS: usize = rtp::HEADER_LEN + 8 + PayloadId::LEN;

/// The encoders of the block sizes used last.
#[derive(Clone, Default, PartialEq, Debug)]
pub(super) struct Encoders {
    recent: Vec<Encoder>,
}

impl Encoders {
    /// The encoder for blocks of `k` source symbols, 1 to 255.
    fn of(&mut self, k: usize) -> &mut Encoder {
        let at = self.recent.iter().position(|encoder| encoder.source_symbols() == k);
        let encoder = match at {
            Some(at) => self.recent.remove(at),
            None => Encoder::new(k).expect("a part has 1 to 255 source packets"),
        };
        self.recent.truncate(KEPT - 1);
        self.recent.insert(0, encoder);
        &mut self.recent[0]
    }
}

/// The next packet of a block.
#[derive(Debug)]
pub(super) enum Symbol<'a> {
    /// A whole RTP packet.
    Source { sequence: u64, produced: Time, packet: &'a [u8], id: PayloadId },
    /// A repair symbol.
    Repair { newest: Time, id: PayloadId, symbol: &'a [u8], bounds: BlockBounds },
}

/// Source packets with their repair symbols.
#[derive(Clone, Default, PartialEq, Debug)]
pub(super) struct Block {
    pub(super) opened: Time,
    /// Sequence number of the first source packet.
    first: u64,
    /// ADUIs, concatenated.
    aduis: Vec<u8>,
    /// The end of each ADUI.
    ends: Vec<usize>,
    produced: Vec<Time>,
    /// True if the block has held the most packets that it may, even if some were shed since.
    full: bool,
    parts: usize,
    /// Block number of the first part.
    sbn: u32,
    /// Space for each repair symbol, and the length of the symbols of each part.
    symbol_stride: usize,
    symbol_lens: Vec<usize>,
    /// Repair symbols, concatenated, of each part in turn.
    repair: Vec<u8>,
    repairs: usize,
    /// Packets that have left.
    left: usize,
    start: Time,
    over: Span,
}

impl Block {
    /// Empties the block for reuse, and keeps its memory.
    pub(super) fn reopen(&mut self, opened: Time, first: u64) {
        self.aduis.clear();
        self.ends.clear();
        self.produced.clear();
        self.repair.clear();
        *self = Block {
            opened,
            first,
            aduis: core::mem::take(&mut self.aduis),
            ends: core::mem::take(&mut self.ends),
            produced: core::mem::take(&mut self.produced),
            repair: core::mem::take(&mut self.repair),
            ..Block::default()
        };
    }

    /// Adds a packet that the source has produced now.
    pub(super) fn push(&mut self, now: Time, header: rtp::Header, payload: &[u8]) {
        let len = (rtp::HEADER_LEN + payload.len()) as u16;
        self.aduis.push(0);
        self.aduis.extend_from_slice(&len.to_be_bytes());
        let mut fixed = [0; rtp::HEADER_LEN];
        header.emit(&[], &mut fixed);
        self.aduis.extend_from_slice(&fixed);
        self.aduis.extend_from_slice(payload);
        self.ends.push(self.aduis.len());
        self.produced.push(now);
        self.full |= self.sources() == MOST;
    }

    pub(super) fn is_full(&self) -> bool {
        self.full
    }

    pub(super) fn sources(&self) -> usize {
        self.ends.len()
    }

    /// Bytes of the source packets, RTP headers included, and the most bytes that one repair packet can have.
    pub(super) fn bytes(&self) -> (Bytes, Bytes) {
        let sources = self.aduis.len() - Adui::OVERHEAD * self.sources();
        (Bytes(sources as u64), Bytes((self.longest(0, 1) + REPAIR_HEADERS) as u64))
    }

    /// Bytes of media, RTP headers excluded, in the source packets that have not left.
    pub(super) fn queued(&self) -> Bytes {
        let left = self.left.min(self.sources());
        let from = left.checked_sub(1).map_or(0, |last| self.ends[last]);
        let headers = (self.sources() - left) * (Adui::OVERHEAD + rtp::HEADER_LEN);
        Bytes((self.aduis.len() - from - headers) as u64)
    }

    /// Length of the longest ADUI of part `part` of `parts`.
    fn longest(&self, part: usize, parts: usize) -> usize {
        (part..self.sources()).step_by(parts).map(|at| self.adui(at).len()).max().unwrap_or(0)
    }

    /// The number of parts.
    pub(super) fn parts(&self) -> u32 {
        self.parts as u32
    }

    /// Makes `repairs` repair packets, or as many as the code allows, and numbers the parts from `sbn` on. Returns the
    /// number of repair packets made.
    pub(super) fn close(&mut self, repairs: usize, sbn: u32, encoders: &mut Encoders) -> usize {
        let sources = self.sources();
        // With more, a part would have no source packet.
        let repairs = repairs.min(sources * (MAX_SYMBOLS / 2));
        // Deviation(GENEVA §3.1): above 255 symbols, one block of the paper is several blocks of the code.
        self.parts = (1..).find(|&parts| sources.div_ceil(parts) + repairs.div_ceil(parts) <= MAX_SYMBOLS).unwrap_or(1);
        self.sbn = sbn;
        self.repairs = repairs;
        self.symbol_stride = self.longest(0, 1);
        self.symbol_lens = (0..self.parts).map(|part| self.longest(part, self.parts)).collect();
        let mut repair = core::mem::take(&mut self.repair);
        repair.resize(repairs * self.symbol_stride, 0);
        if repairs > 0 {
            let mut symbols: Vec<&mut [u8]> = repair.chunks_exact_mut(self.symbol_stride).collect();
            for part in 0..self.parts {
                let sources: Vec<&[u8]> = (part..sources).step_by(self.parts).map(|at| self.adui(at)).collect();
                // RFC 6865 §4.3: symbols are as long as the longest ADUI of their own source block.
                let len = self.symbol_lens[part];
                let mut targets: Vec<&mut [u8]> =
                    symbols.iter_mut().skip(part).step_by(self.parts).map(|symbol| &mut symbol[..len]).collect();
                encoders.of(sources.len()).encode(&sources, 0, &mut targets).expect("a part fits the code");
            }
        }
        self.repair = repair;
        repairs
    }

    /// Schedules the packets evenly from `start` on, over the time `over`.
    pub(super) fn schedule(&mut self, start: Time, over: Span) {
        (self.start, self.over) = (start, over);
    }

    /// Delays the packets to leave from `start` on at the earliest, at the same gaps. Returns the time at which all
    /// will have left.
    pub(super) fn delay(&mut self, start: Time) -> Time {
        self.start = self.start.max(start);
        self.start + self.over
    }

    /// The time at which the next packet leaves; none if all have left.
    pub(super) fn next(&self) -> Option<Time> {
        let all = self.sources() + self.repairs;
        (self.left < all).then(|| self.start + self.over.mul_div(self.left as u64, all as u64))
    }

    /// The time at which the media of the next packet was produced; of a repair packet, the newest that it covers.
    pub(super) fn produced(&self) -> Time {
        self.produced.get(self.left).copied().unwrap_or_else(|| self.newest())
    }

    /// The sequence number of the newest source packet that the next packet repairs; none if it is a source packet.
    pub(super) fn next_repairs(&self) -> Option<u64> {
        (self.left >= self.sources()).then(|| self.first + self.sources() as u64 - 1)
    }

    /// The gap between two packets.
    pub(super) fn gap(&self) -> Span {
        self.over / (self.sources() + self.repairs).max(1) as u64
    }

    /// Takes out the next packet.
    pub(super) fn pop(&mut self) -> Option<Symbol<'_>> {
        let (at, sources) = (self.left, self.sources());
        self.left += 1;
        if at < sources {
            let id = self.id(at, at / self.parts);
            let packet = &self.adui(at)[Adui::OVERHEAD..];
            return Some(Symbol::Source { sequence: self.first + at as u64, produced: self.produced[at], packet, id });
        }
        let at = at - sources;
        let k = self.k(at);
        let symbol = &self.repair.chunks_exact(self.symbol_stride).nth(at)?[..self.symbol_lens[at % self.parts]];
        let base = (self.first + (at % self.parts) as u64) as u16;
        let bounds = BlockBounds { base, stride: self.parts as u8 };
        Some(Symbol::Repair { newest: self.newest(), id: self.id(at, k + at / self.parts), symbol, bounds })
    }

    /// The time at which the newest packet was produced.
    pub(super) fn newest(&self) -> Time {
        self.produced.last().copied().unwrap_or_default()
    }

    /// Numbers the packets from `first` on, once [`Block::shed`] has removed those that are too late.
    pub(super) fn number_from(&mut self, first: u64) {
        self.first = first;
    }

    /// Gives the number of the source packet that was taken out last to the next one, as it will not be sent. Returns
    /// false if repair packets refer to that number.
    pub(super) fn reuse_number(&mut self) -> bool {
        let is_free = self.repairs == 0;
        self.first -= u64::from(is_free);
        is_free
    }

    fn id(&self, at: usize, esi: usize) -> PayloadId {
        let sbn = self.sbn.wrapping_add((at % self.parts) as u32) & 0x00ff_ffff;
        PayloadId { sbn, esi: esi as u8, k: self.k(at) as u8 }
    }

    /// Source packets of the part that packet `at` belongs to.
    fn k(&self, at: usize) -> usize {
        (self.sources() - at % self.parts).div_ceil(self.parts)
    }

    fn adui(&self, at: usize) -> &[u8] {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.aduis[start..self.ends[at]]
    }
}
