//! Packets that the two endpoints of a TCP connection exchange.

use thalweg_core::units::Bytes;

use super::ack::Ack;
use crate::packet::{Body, Packet};

/// The size of IPv4 and TCP headers without options; SACK blocks add nothing.
// Deviation(RFC 2018 §3): the SACK option adds nothing to the size, so that all acknowledgements are equal.
pub const HEADERS: Bytes = Bytes(40);

impl Packet {
    /// A TCP segment with a payload of `payload` bytes.
    pub fn segment(flow: u32, payload: Bytes, number: u64, again: bool) -> Packet {
        Packet { flow, size: payload + HEADERS, body: Body::Segment { number, again } }
    }

    /// A TCP acknowledgement without data.
    pub fn ack(flow: u32, ack: Ack) -> Packet {
        Packet { flow, size: HEADERS, body: Body::Ack(ack) }
    }
}
