//! What travels in the lab.

use thalweg_core::law::rate::tfrc;
use thalweg_core::units::Bytes;

use crate::stream::{Report, Symbol};
use crate::tcp::segment::Segment;
use crate::tfrc::Report as TfrcReport;

/// What a packet carries.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Body {
    /// The bytes of a UDP payload, or of an IP packet.
    Datagram(Vec<u8>),
    /// A source or repair packet of a stream, as long as its size says.
    Media(Symbol),
    /// What a stream's receiver has found.
    Report(Report),
    /// What TFRC's sender says to its receiver.
    Tfrc(tfrc::Data),
    /// What its receiver says to the sender.
    TfrcReport(TfrcReport),
    /// Nothing that anybody will read: cross traffic, and payloads that count by their length alone.
    Length,
    /// A segment of the lab's TCP.
    Segment(Segment),
}

/// One packet on its way.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Packet {
    /// Whose it is; the path hands it back so that ends can tell their packets from cross traffic.
    pub flow: u32,
    /// Size on the wire, IP and UDP headers included: what a link's rate and a queue's bytes count.
    pub size: Bytes,
    /// What it carries.
    pub body: Body,
}

/// The first flow number of cross traffic; those below are the ends' own.
pub const CROSS: u32 = 1 << 31;

/// IPv4 and UDP headers, which a datagram has on the wire before its payload.
pub const HEADERS: Bytes = Bytes(28);

impl Packet {
    /// A UDP datagram.
    pub fn datagram(flow: u32, payload: Vec<u8>) -> Packet {
        Packet { flow, size: Bytes(payload.len() as u64) + HEADERS, body: Body::Datagram(payload) }
    }

    /// Whether it belongs to cross traffic, which nobody waits for at the far end.
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
