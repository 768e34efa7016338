//! Limits of a queue's length.

use core::fmt;
use core::iter::Sum;

use thalweg_core::units::Bytes;

/// The length at which a drop-tail queue is full.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Limit {
    /// So many packets, whatever their size.
    Packets(u64),
    /// So many bytes of packets in total, headers included.
    Bytes(Bytes),
}

impl Limit {
    /// No limit: a queue that is never full.
    pub const ENDLESS: Limit = Limit::Packets(u64::MAX);

    /// True if a packet of `size` fits behind `packets` packets of `bytes` in total.
    pub fn admits(self, packets: u64, bytes: Bytes, size: Bytes) -> bool {
        match self {
            Limit::Packets(most) => packets < most,
            Limit::Bytes(most) => bytes + size <= most,
        }
    }
}

/// Packets that wait in a queue, without the packet that is being sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Waiting {
    /// The number of packets.
    pub packets: u64,
    /// Their size in total, headers included.
    pub bytes: Bytes,
}

impl Sum for Waiting {
    fn sum<I: Iterator<Item = Waiting>>(all: I) -> Waiting {
        all.fold(Waiting::default(), |sum, one| Waiting {
            packets: sum.packets + one.packets,
            bytes: sum.bytes + one.bytes,
        })
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Limit::Packets(most) => write!(f, "{most} packets"),
            Limit::Bytes(Bytes(most)) => write!(f, "{most} bytes"),
        }
    }
}
