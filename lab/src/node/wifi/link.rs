//! The ways through a cell, and their accounts.

use core::ops::SubAssign;

use thalweg_core::time::Span;
use thalweg_core::units::Bytes;

use crate::node::drop_tail::Offered;

/// The contender that is the access point; station k is contender k + 1.
const ACCESS_POINT: usize = 0;

/// One of the two ways through a cell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// From the access point to the stations.
    Down,
    /// From the stations to the access point.
    Up,
}

/// The way of a packet through a cell, with the station at which it leaves or enters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Link {
    /// From the access point to a station.
    Down(usize),
    /// From a station to the access point.
    Up(usize),
}

impl Link {
    /// The number of the link among all of a cell: [`Node::accept_at`](crate::node::Node::accept_at) takes it,
    /// [`Node::outlet`](crate::node::Node::outlet) returns it.
    pub fn number(self) -> usize {
        match self {
            Link::Down(station) => 2 * station,
            Link::Up(station) => 2 * station + 1,
        }
    }

    /// The link of a number.
    pub fn of(number: usize) -> Link {
        if number.is_multiple_of(2) { Link::Down(number / 2) } else { Link::Up(number / 2) }
    }

    /// The way of its packets.
    pub fn way(self) -> Way {
        match self {
            Link::Down(_) => Way::Down,
            Link::Up(_) => Way::Up,
        }
    }

    /// The contender that sends its packets.
    pub(super) fn contender(self) -> usize {
        match self {
            Link::Down(_) => ACCESS_POINT,
            Link::Up(station) => station + 1,
        }
    }
}

/// The account of one link of a cell.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LinkCounters {
    /// Packets that arrived, and those of them that were dropped: by a full queue, or at the retry limit.
    pub offered: Offered,
    /// Packets dropped at the retry limit.
    pub given_up: u64,
    /// Packets delivered.
    pub delivered: u64,
    /// Bytes of these packets, IP headers included.
    pub bytes: Bytes,
    /// Transmissions that collided.
    pub collisions: u64,
    /// The time during which its frames and their acknowledgements were on the medium.
    pub airtime: Span,
}

impl SubAssign for LinkCounters {
    fn sub_assign(&mut self, earlier: LinkCounters) {
        self.offered -= earlier.offered;
        self.given_up -= earlier.given_up;
        self.delivered -= earlier.delivered;
        self.bytes.0 -= earlier.bytes.0;
        self.collisions -= earlier.collisions;
        self.airtime = self.airtime.saturating_sub(earlier.airtime);
    }
}
