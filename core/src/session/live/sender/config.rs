//! What a sender is told, and what it tells.

use core::net::SocketAddr;

use crate::law::redundancy::geneva::Geneva;
use crate::session::live::{Ending, Media};
use crate::time::Span;
use crate::units::Rate;

/// Which repair a stream gets.
#[derive(Clone, PartialEq, Debug)]
pub enum Repair {
    /// None at all.
    None,
    /// This number of packets for each interval of the law: one SYN, or as long as 21 source packets take.
    Static(u32),
    /// The law of the paper.
    Geneva(Geneva),
}

/// Which breaker ends a stream that would flood its path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Breaker {
    /// First take repair down, then ask for a lower rate, then end; but not by loss that is shown to be the path's own.
    RepairFirst,
    /// RFC 8083 to the letter.
    Rfc8083,
    /// Only report.
    Off,
}

/// Where a receiver finds the block of a source packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SourceId {
    /// Behind each source packet (RFC 6865 §5.1.2).
    Explicit,
    /// In the repair packets alone: source packets are untouched RTP, and receivers need not be Thalweg's.
    Plain,
}

/// What a sender is told at its start.
#[derive(Clone, PartialEq, Debug)]
pub struct Config {
    /// The receiver.
    pub to: SocketAddr,
    /// Where bare RFC 6865 repair packets go; none sends them as an RTP stream beside the source.
    pub fec_to: Option<SocketAddr>,
    /// What the datagrams are.
    pub media: Media,
    /// Which repair.
    pub repair: Repair,
    /// Time from input to output.
    pub latency: Span,
    /// Bound on everything that is sent, IP and UDP headers included.
    pub max_rate: Option<Rate>,
    /// Length of a block; none is what the latency leaves.
    pub block: Option<Span>,
    /// Where block numbers travel.
    pub source_id: SourceId,
    /// Which breaker ends the stream.
    pub breaker: Breaker,
    /// Time without an answer to the first hello after which the session ends; none waits for ever.
    pub answer_timeout: Option<Span>,
}

/// What a sender tells.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Event {
    /// The receiver answered; this is the latency that both keep.
    Connected {
        /// The receiver.
        to: SocketAddr,
        /// Time from input to output.
        latency: Span,
    },
    /// The receiver has proved a new address.
    Moved {
        /// The receiver's new address.
        to: SocketAddr,
    },
    /// The path takes so long that repair comes too late; with this latency or more it would not.
    TooShort {
        /// The least round trip of late.
        round_trip: Span,
        /// The least latency at which repair is of any use.
        needed: Span,
    },
    /// The latency keeps blocks so short that their repair costs much and mends little. Once a session.
    FewPackets {
        /// Source packets of a block.
        packets: f64,
        /// The latency at which a block has enough of them.
        needed: Span,
    },
    /// The round trip is shorter, and repair comes in time.
    InTime,
    /// Media came faster than the greatest rate lets it leave, and what would have come too late was dropped. At most once
    /// a second.
    OverRate {
        /// The greatest rate.
        greatest: Rate,
        /// Media datagrams dropped since this was said last.
        unsent: u64,
    },
    /// The receiver takes another stream, and hellos go on; once until it has a place.
    Busy,
    /// No feedback for so long that media has stopped; hellos go on.
    Silent,
    /// A goodbye of the receiver, so that media has stopped; hellos go on.
    Left,
    /// Loss stays too high: the source should come down to this rate.
    LowerRate(Rate),
    /// The brake is off again.
    RateRestored,
    /// Over.
    Ended(Ending),
}
