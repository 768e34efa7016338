//! The endpoints of a stream with repair: GENEVA's sender and receiver as the paper simulates them, around the same
//! laws of [`thalweg_core::law::redundancy`], and the baselines that the paper compares with.
//!
//! | paper | here |
//! |---|---|
//! | block of one SYN: k source, Fwnd repair packets (§3.1, §3.2.1) | [`sender`]: collects one SYN, leaves over the
//! next |
//! | IPG = SYN / (Fwnd + k) (§3.2.2) | the spacing of a block's packets |
//! | report every SYN (§3.2.1) | [`receiver`], [`Report`] |
//! | pairs of packet number and sending time, SRTT (§3.2.2) | `history`, [`sender::Srtt`] |
//! | data loss, packet loss, bursty events, Fwnd and W_tot (§4) | [`counters`] |
//!
//! A media packet is a length without bytes here. Received packets are counted to decide whether a block is recovered:
//! with the systematic MDS code of RFC 5510 any k of n packets recover the block.

mod arrivals;
mod blocks;
pub mod counters;
mod history;
pub(crate) mod media;
pub mod receiver;
pub mod scheme;
pub mod sender;

/// The maximum number of packets in a block of a Reed-Solomon code over GF(2^8), to which sessions cut longer blocks.
pub(crate) const MOST_SYMBOLS: u64 = 255;

/// The header of one packet of a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Symbol {
    /// Its number among all packets of the stream in sending order, source and repair alike; the first is 1.
    pub sequence: u64,
    /// The block, named by the number of source packets before it in the stream.
    pub block: u64,
    /// The index within the block, from 0; below `k` a source packet, from there on a repair packet.
    pub index: u16,
    /// The number of source packets in the block.
    pub k: u16,
    /// The number of packets in the block.
    pub n: u16,
}

impl Symbol {
    /// True if the packet carries media itself.
    pub fn is_source(&self) -> bool {
        self.index < self.k
    }
}

/// A receiver's report on one interval.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Report {
    /// The number of the report, from 0.
    pub number: u64,
    /// The highest sequence number received; 0 before the first.
    pub highest: u64,
    /// Packets received within the interval.
    pub received: u32,
    /// Packets found lost within the interval.
    pub lost: u32,
}
