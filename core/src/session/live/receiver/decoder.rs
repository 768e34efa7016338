//! Source blocks that wait for enough symbols to be decoded.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use super::window::Window;
use crate::code::reed_solomon;
use crate::time::Time;
use crate::wire::fecframe::{BlockBounds, MAX_SYMBOLS, PayloadId};
use crate::wire::sequence::nearest;

/// Most blocks at a time: a latency of a second at 400 Mb/s. A new block replaces the oldest.
const MOST: usize = 256;

/// The received symbols of one block.
#[derive(Clone, PartialEq, Debug)]
struct Block {
    sbn: u32,
    opened: Time,
    k: usize,
    /// Sequence numbers of the source packets, as far as they are known.
    sources: Vec<Option<u64>>,
    /// The number of source packets that have arrived.
    have: usize,
    symbol_len: usize,
    repair: Vec<(u8, Vec<u8>)>,
    done: bool,
}

/// Recovers source packets.
#[derive(Clone, Default, PartialEq, Debug)]
pub(super) struct Decoder {
    blocks: VecDeque<Block>,
    spare: Vec<Vec<u8>>,
    /// Recovered symbols, each an ADUI; to be taken out by [`Decoder::pop_recovered`].
    recovered: Vec<Vec<u8>>,
}

impl Decoder {
    /// Takes source packet `sequence`, new in `window`. It is symbol `id` of its block; `id` is none if only repair
    /// packets carry IDs.
    pub(super) fn on_source(&mut self, now: Time, sequence: u64, id: Option<PayloadId>, window: &Window) {
        let at = match id {
            Some(id) => {
                let Some(at) = self.block(now, id) else { return };
                let place = &mut self.blocks[at].sources[usize::from(id.esi)];
                if place.replace(sequence).is_some() {
                    return;
                }
                at
            }
            None => {
                let of = |block: &Block| !block.done && block.sources.contains(&Some(sequence));
                let Some(at) = self.blocks.iter().rposition(of) else { return };
                at
            }
        };
        self.blocks[at].have += 1;
        self.attempt(at, window);
    }

    /// Takes a repair symbol. `bounds` names the packets that it protects, near sequence number `reference`.
    pub(super) fn on_repair(
        &mut self,
        now: Time,
        id: PayloadId,
        symbol: &[u8],
        bounds: Option<(BlockBounds, u64)>,
        window: &Window,
    ) {
        let Some(at) = self.block(now, id) else { return };
        let block = &mut self.blocks[at];
        let known = block.repair.iter().any(|(esi, _)| *esi == id.esi);
        let fits = block.symbol_len == 0 || block.symbol_len == symbol.len();
        if block.done || known || !fits || block.repair.len() == MAX_SYMBOLS - block.k {
            return;
        }
        block.symbol_len = symbol.len();
        if let Some((bounds, reference)) = bounds.filter(|_| block.sources.iter().all(Option::is_none)) {
            let base = nearest::<16>(reference, bounds.base.into());
            for (source, esi) in block.sources.iter_mut().zip(0..) {
                let sequence = base + esi * u64::from(bounds.stride);
                *source = Some(sequence);
                block.have += usize::from(window.adui(sequence).is_some());
            }
        }
        let mut kept = self.spare.pop().unwrap_or_default();
        kept.clear();
        kept.extend_from_slice(symbol);
        block.repair.push((id.esi, kept));
        self.attempt(at, window);
    }

    /// Takes out a recovered ADUI, to be given back by [`Decoder::recycle`].
    pub(super) fn pop_recovered(&mut self) -> Option<Vec<u8>> {
        self.recovered.pop()
    }

    pub(super) fn recycle(&mut self, adui: Vec<u8>) {
        self.spare.push(adui);
    }

    /// Forgets blocks whose first packet arrived before `before`.
    pub(super) fn forget(&mut self, before: Time) {
        while self.blocks.front().is_some_and(|block| block.opened < before) {
            self.drop_first();
        }
    }

    fn drop_first(&mut self) {
        if let Some(block) = self.blocks.pop_front() {
            self.spare.extend(block.repair.into_iter().map(|(_, symbol)| symbol));
        }
    }

    /// The index of the block of `id`, which is added if it is new; none if a block of that number has another size.
    fn block(&mut self, now: Time, id: PayloadId) -> Option<usize> {
        let k = usize::from(id.k);
        if let Some(at) = self.blocks.iter().rposition(|block| block.sbn == id.sbn) {
            return (self.blocks[at].k == k).then_some(at);
        }
        if self.blocks.len() == MOST {
            self.drop_first();
        }
        self.blocks.push_back(Block {
            sbn: id.sbn,
            opened: now,
            k,
            sources: vec![None; k],
            have: 0,
            symbol_len: 0,
            repair: Vec::new(),
            done: false,
        });
        Some(self.blocks.len() - 1)
    }

    /// Decodes the block if that is possible and necessary.
    fn attempt(&mut self, at: usize, window: &Window) {
        let Decoder { blocks, spare, recovered } = self;
        let block = &mut blocks[at];
        block.done |= block.have >= block.k;
        if block.done || block.have + block.repair.len() < block.k {
            return;
        }
        let here = |source: &Option<u64>| source.and_then(|sequence| window.adui(sequence));
        let mut received: Vec<(u8, &[u8])> = Vec::with_capacity(block.k);
        let mut missing = Vec::new();
        for (esi, source) in (0..).zip(&block.sources) {
            match here(source) {
                // A packet longer than the block's symbols does not belong to the block.
                Some(adui) if adui.len() > block.symbol_len => return,
                Some(adui) => received.push((esi, adui)),
                None => missing.push(esi),
            }
        }
        received.extend(block.repair.iter().map(|(esi, symbol)| (*esi, &symbol[..])));
        let from = recovered.len();
        recovered.extend(missing.iter().map(|_| {
            let mut symbol = spare.pop().unwrap_or_default();
            symbol.resize(block.symbol_len, 0);
            symbol
        }));
        let mut targets: Vec<&mut [u8]> = recovered[from..].iter_mut().map(|symbol| &mut symbol[..]).collect();
        block.done = reed_solomon::decode(block.k, &received, &missing, &mut targets).is_ok();
        if !block.done {
            spare.extend(recovered.drain(from..));
        }
    }
}
