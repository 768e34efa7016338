//! The source packets of each block that can be recovered.

use std::collections::VecDeque;

use super::Symbol;

/// The number of blocks whose packets may still arrive late.
const MEMORY: usize = 256;

/// The newest blocks of which a packet arrived, in their order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Blocks {
    recent: VecDeque<Block>,
    /// Source packets of all blocks before the newest that arrived or were recovered.
    recovered: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Block {
    name: u64,
    k: u16,
    /// Packets that arrived.
    came: u16,
    /// Source packets among them.
    sources: u16,
}

impl Block {
    fn new(symbol: &Symbol) -> Block {
        let mut block = Block { name: symbol.block, k: symbol.k, came: 0, sources: 0 };
        block.take(symbol);
        block
    }

    fn take(&mut self, symbol: &Symbol) {
        self.came += 1;
        self.sources += u16::from(symbol.is_source());
    }

    /// Any k packets recover all; with fewer, the source packets that arrived count, since the code is systematic.
    fn recovered(&self) -> u64 {
        u64::from(if self.came >= self.k { self.k } else { self.sources })
    }
}

impl Default for Blocks {
    fn default() -> Blocks {
        Blocks { recent: VecDeque::with_capacity(MEMORY), recovered: 0 }
    }
}

impl Blocks {
    /// Records a packet that has not arrived before.
    pub(super) fn take(&mut self, symbol: &Symbol) {
        match self.recent.back_mut() {
            Some(newest) if newest.name == symbol.block => newest.take(symbol),
            Some(newest) if newest.name > symbol.block => self.take_late(symbol),
            newest => {
                self.recovered += newest.map_or(0, |newest| newest.recovered());
                if self.recent.len() == MEMORY {
                    self.recent.pop_front();
                }
                self.recent.push_back(Block::new(symbol));
            }
        }
    }

    /// Records a packet of a block that is complete because a newer one has begun.
    fn take_late(&mut self, symbol: &Symbol) {
        let place = self.recent.partition_point(|block| block.name < symbol.block);
        if self.recent[place].name == symbol.block {
            let block = &mut self.recent[place];
            let before = block.recovered();
            block.take(symbol);
            self.recovered += block.recovered() - before;
        } else if self.recent.len() < MEMORY {
            let block = Block::new(symbol);
            self.recovered += block.recovered();
            self.recent.insert(place, block);
        } else if place > 0 {
            // The oldest block is dropped to free its place; its count stays.
            let block = Block::new(symbol);
            self.recovered += block.recovered();
            self.recent.pop_front();
            self.recent.insert(place - 1, block);
        }
    }

    /// Source packets of the complete blocks: all before the newest.
    pub(super) fn source(&self) -> u64 {
        self.recent.back().map_or(0, |newest| newest.name)
    }

    /// Source packets of the complete blocks that arrived or were recovered.
    pub(super) fn recovered(&self) -> u64 {
        self.recovered
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packet `index` of block `block`, blocks of 3 source and 2 repair packets.
    fn symbol(block: u64, index: u16) -> Symbol {
        Symbol { sequence: 5 * block + u64::from(index) + 1, block: 3 * block, index, k: 3, n: 5 }
    }

    fn after(arrivals: &[(u64, u16)]) -> (u64, u64) {
        let mut blocks = Blocks::default();
        arrivals.iter().for_each(|&(block, index)| blocks.take(&symbol(block, index)));
        (blocks.source(), blocks.recovered())
    }

    #[test]
    fn three_of_five_are_enough_and_of_two_only_source_packets_count() {
        assert_eq!(after(&[(0, 1), (0, 3), (0, 4), (1, 0)]), (3, 3));
        assert_eq!(after(&[(0, 1), (0, 3), (1, 0)]), (3, 1));
        assert_eq!(after(&[(0, 3), (0, 4), (1, 0)]), (3, 0));
        assert_eq!(after(&[(0, 0), (0, 1), (0, 2), (0, 3), (0, 4), (1, 0)]), (3, 3));
    }

    #[test]
    fn a_block_of_which_nothing_came_is_lost_whole() {
        assert_eq!(after(&[(0, 0), (0, 1), (0, 2), (4, 0)]), (12, 3));
    }

    #[test]
    fn a_packet_that_comes_late_completes_its_block() {
        let in_order = after(&[(0, 0), (0, 4), (1, 0), (1, 1), (1, 2), (2, 0)]);
        assert_eq!(in_order, (6, 4));
        assert_eq!(after(&[(0, 0), (0, 4), (1, 0), (1, 1), (1, 2), (2, 0), (0, 3)]), (6, 6));
        // A packet of a block of which none had arrived, then one of the block before that.
        assert_eq!(after(&[(0, 0), (2, 0), (1, 1), (0, 1)]), (6, 3));
    }

    #[test]
    fn what_is_older_than_the_memory_stays_lost() {
        let mut blocks = Blocks::default();
        (1..=MEMORY as u64).for_each(|block| blocks.take(&symbol(block, 0)));
        let recovered = blocks.recovered();
        blocks.take(&symbol(0, 0));
        assert_eq!((blocks.recovered(), blocks.recent.len()), (recovered, MEMORY));
    }
}
