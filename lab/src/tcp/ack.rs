//! Acknowledgements with SACK blocks (RFC 2018).
//!
//! All segments are of one size, so segments, from zero on, are numbered instead of bytes.

/// The number of SACK blocks that fit into one acknowledgement (RFC 2018 §3, beside timestamps).
pub const BLOCKS: usize = 3;

/// The segments that a receiver has.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Ack {
    /// The first segment that is missing: all segments before it have arrived.
    pub next: u64,
    /// The runs received behind it, most recent first (RFC 2018 §4); empty blocks are unused.
    pub blocks: [Block; BLOCKS],
}

/// A run of segments behind the first missing one, relative to that: `from` is inclusive, `to` exclusive.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Block {
    /// The first segment of the run.
    pub from: u32,
    /// The first segment behind the run.
    pub to: u32,
}

/// A run of segments by their numbers: `from` is inclusive, `to` exclusive.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Run {
    pub(crate) from: u64,
    pub(crate) to: u64,
}

impl Run {
    pub(crate) fn contains(self, number: u64) -> bool {
        self.from <= number && number < self.to
    }
}

impl Ack {
    /// The runs of its blocks, most recent first.
    pub(crate) fn runs(&self) -> [Run; BLOCKS] {
        self.blocks.map(|block| Run { from: self.next + u64::from(block.from), to: self.next + u64::from(block.to) })
    }

    /// A run as a block relative to `next`.
    pub(crate) fn block(next: u64, run: Run) -> Block {
        // A window is far below 2^32 segments.
        Block { from: (run.from.saturating_sub(next)) as u32, to: (run.to.saturating_sub(next)) as u32 }
    }
}
