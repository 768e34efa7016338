//! What two ends of a TCP connection send each other.
//!
//! Segments are all of one size, so they are numbered, from zero on, instead of their bytes.

use thalweg_core::units::Bytes;

use crate::packet::{Body, Packet};

/// IPv4 and TCP headers without options, which SACK blocks do not add to.
// Deviation(RFC 2018 §3): the SACK option adds nothing to the size, so that all acknowledgements are equal.
pub const HEADERS: Bytes = Bytes(40);

/// SACK blocks that one acknowledgement has room for (RFC 2018 §3, beside timestamps).
pub const BLOCKS: usize = 3;

/// One segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Segment {
    /// A full segment of data.
    Data {
        /// Its place in the stream.
        number: u64,
        /// Whether it was sent before.
        again: bool,
    },
    /// An acknowledgement without data.
    Ack(Ack),
}

/// What a receiver has.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Ack {
    /// The first segment that is missing: everything before it has come.
    pub next: u64,
    /// What came behind it, most recent first (RFC 2018 §4); empty ones mean nothing.
    pub blocks: [Block; BLOCKS],
}

/// A run of segments behind the first missing one, counted from there: `from` belongs to it, `to` does not.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Block {
    /// The first of the run.
    pub from: u32,
    /// The first behind the run.
    pub to: u32,
}

/// A run of segments by their numbers: `from` belongs to it, `to` does not.
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

    /// A run as a block behind `next`.
    pub(crate) fn block(next: u64, run: Run) -> Block {
        // A window is far below 2^32 segments.
        Block { from: (run.from.saturating_sub(next)) as u32, to: (run.to.saturating_sub(next)) as u32 }
    }
}

impl Packet {
    /// A TCP segment that is `payload` long.
    pub fn segment(flow: u32, payload: Bytes, segment: Segment) -> Packet {
        Packet { flow, size: payload + HEADERS, body: Body::Segment(segment) }
    }
}
