//! The end nodes of a stream that repairs itself: GENEVA's sender and receiver as the paper simulates them, around the
//! very laws of [`thalweg_core::law::redundancy`], and the baselines that it compares itself with.
//!
//! | paper | here |
//! |---|---|
//! | block of one SYN, k source and Fwnd repair packets (§3.1, §3.2.1) | [`sender`]: a block collects for one SYN and leaves evenly over the next, source first |
//! | IPG = SYN / (Fwnd + k) (§3.2.2) | the spacing of a block's packets |
//! | report every SYN (§3.2.1) | [`receiver`], [`Report`] |
//! | pairs of packet number and sending time, SRTT (§3.2.2) | `history`, [`sender::Srtt`] |
//! | data loss, packet loss, bursty events, Fwnd and W_tot (§4) | [`counters`] |
//!
//! A packet of media is a length without bytes here; whether a block is recovered is told by counting, since with the
//! systematic MDS code of RFC 5510 any k of n packets give the block back.

mod arrivals;
mod blocks;
pub mod counters;
mod history;
pub mod live;
mod media;
pub mod receiver;
pub mod scheme;
pub mod sender;

/// One packet of a block: what its headers say.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Symbol {
    /// Its number among all packets of the stream in sending order, source and repair alike; the first is 1.
    pub sequence: u64,
    /// The block, named by the number of source packets that the stream had before it.
    pub block: u64,
    /// Place within the block, from 0; below `k` a source packet, from there on a repair packet.
    pub index: u16,
    /// Source packets of the block.
    pub k: u16,
    /// Packets of the block.
    pub n: u16,
}

impl Symbol {
    /// Whether it carries media itself.
    pub fn is_source(&self) -> bool {
        self.index < self.k
    }
}

/// What a receiver says of one interval.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Report {
    /// Counts the reports, from 0.
    pub number: u64,
    /// The highest sequence number that has come; 0 before the first.
    pub highest: u64,
    /// Packets that came within the interval.
    pub received: u32,
    /// Packets that were found lost within the interval.
    pub lost: u32,
}
