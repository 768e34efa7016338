//! MPEG transport streams (ISO/IEC 13818-1), as needed to carry them: packets found among arbitrary bytes, seven to a
//! datagram, a file paced by its own clock and looped into one endless stream, access units muxed into a new stream, and
//! whole pictures dropped where a path cannot carry all.
#![forbid(unsafe_code)]

pub mod aac;
pub mod align;
pub mod clock;
#[cfg(test)]
mod files;
pub mod looper;
pub mod mux;
pub mod pace;
pub mod packet;
pub mod pes;
pub mod psi;
pub mod shed;
pub mod source;
pub mod stamp;
#[cfg(test)]
mod synthetic;
mod turn;

/// The size of a transport stream packet (§2.4.3.2).
pub const PACKET: usize = 188;

/// Packets in a full datagram: as many as an Ethernet frame holds beside RTP (RFC 2250 §2).
pub const PACKETS_PER_DATAGRAM: usize = 7;

/// The size of a full datagram.
pub const DATAGRAM: usize = PACKETS_PER_DATAGRAM * PACKET;

/// True if `bytes` are one or more whole packets and nothing else, as carried by RTP (RFC 2250 §2).
pub fn is_whole_packets(bytes: &[u8]) -> bool {
    !bytes.is_empty() && bytes.chunks(PACKET).all(|packet| packet.len() == PACKET && packet[0] == packet::SYNC)
}

/// The example of README.md, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
