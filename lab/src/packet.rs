//! The packets of the lab.

use thalweg_core::units::Bytes;

pub use crate::end::body::Body;

/// One packet in flight.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Packet {
    /// The flow number; the path preserves it so that endpoints can tell their packets from cross traffic.
    pub flow: u32,
    /// The size on the wire, IP and UDP headers included: it counts for a link's rate and a queue's bytes.
    pub size: Bytes,
    /// The contents.
    pub body: Body,
}

/// The first flow number of cross traffic; lower numbers are those of the endpoints.
pub const CROSS: u32 = 1 << 31;

/// The size of the IPv4 and UDP headers, which precede a datagram's payload on the wire.
pub const HEADERS: Bytes = Bytes(28);

impl Packet {
    /// A UDP datagram.
    pub fn datagram(flow: u32, payload: Vec<u8>) -> Packet {
        Packet { flow, size: Bytes(payload.len() as u64) + HEADERS, body: Body::Datagram(payload) }
    }

    /// True if the packet is cross traffic, which no receiver at the far end expects.
    pub fn is_cross(&self) -> bool {
        self.flow >= CROSS
    }

    /// A packet of which only the size on the wire matters.
    pub fn length(flow: u32, size: Bytes) -> Packet {
        Packet { flow, size, body: Body::Length }
    }
}

#[cfg(test)]
mod tests {
    use thalweg_core::time::Time;

    use super::*;

    #[test]
    fn a_packet_and_a_time_fit_a_cache_line() {
        assert!(size_of::<Packet>() + size_of::<Time>() <= 64, "{}", size_of::<Packet>());
    }
}
