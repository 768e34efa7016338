//! MPEG transport streams (ISO/IEC 13818-1), as far as carrying them needs: packets found among any bytes, seven to a
//! datagram, a file paced by its own clock and looped into one endless stream.

pub mod align;
pub mod clock;
#[cfg(test)]
mod files;
pub mod looper;
pub mod pace;
pub mod packet;
pub mod pes;
pub mod source;
pub mod stamp;
#[cfg(test)]
mod synthetic;
mod turn;

/// Size of a transport stream packet (§2.4.3.2).
pub const PACKET: usize = 188;

/// Packets in a full datagram: as many as an Ethernet frame takes beside RTP (RFC 2250 §2).
pub const PACKETS_PER_DATAGRAM: usize = 7;

/// Size of a full datagram.
pub const DATAGRAM: usize = PACKETS_PER_DATAGRAM * PACKET;

/// Whether `bytes` are packets and nothing else, one at least, as RTP carries them (RFC 2250 §2).
pub fn is_whole_packets(bytes: &[u8]) -> bool {
    !bytes.is_empty() && bytes.chunks(PACKET).all(|packet| packet.len() == PACKET && packet[0] == packet::SYNC)
}
