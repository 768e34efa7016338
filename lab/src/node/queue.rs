//! How long a queue may get.

use core::fmt;
use core::iter::Sum;

use thalweg_core::units::Bytes;

/// The length at which a drop-tail queue is full.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Limit {
    /// Holds so many packets, whatever their size.
    Packets(u64),
    /// Holds packets of so many bytes in all, headers included.
    Bytes(Bytes),
}

impl Limit {
    /// Never full.
    pub const ENDLESS: Limit = Limit::Packets(u64::MAX);

    /// Whether a packet of `size` finds room behind `packets` packets of `bytes` in all.
    pub fn admits(self, packets: u64, bytes: Bytes, size: Bytes) -> bool {
        match self {
            Limit::Packets(most) => packets < most,
            Limit::Bytes(most) => bytes + size <= most,
        }
    }
}

/// What waits in a queue, without the packet that is being sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Waiting {
    /// How many packets.
    pub packets: u64,
    /// What they weigh, headers included.
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
