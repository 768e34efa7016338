//! One direction of the emulator.

use thalweg_core::time::Time;
use thalweg_lab::check::{self, Leak};
use thalweg_lab::node::{Node, Tallied};
use thalweg_lab::packet::Packet;
use thalweg_lab::path::{Account, Path};

/// Limit on packets in a path: more do not fit, whatever its delays and queues; some 100 MB.
const MAX_INSIDE: u64 = 1 << 16;

/// A path, and a count of packets that it had no space for.
#[derive(Clone, PartialEq, Debug)]
pub struct Direction {
    path: Path,
    refused: u64,
}

impl Direction {
    pub(super) fn new(path: Path) -> Direction {
        Direction { path, refused: 0 }
    }

    pub(super) fn accept(&mut self, now: Time, packet: Packet) {
        if self.path.tally().held < MAX_INSIDE {
            self.path.accept(now, packet);
        } else {
            self.refused += 1;
        }
    }

    pub(super) fn next(&self) -> Option<Time> {
        self.path.next()
    }

    pub(super) fn poll(&mut self, now: Time) -> Option<Packet> {
        self.path.poll(now)
    }

    /// Packets that entered, refused ones included.
    pub fn received(&self) -> u64 {
        self.path.accepted() + self.refused
    }

    /// Packets that were delivered.
    pub fn delivered(&self) -> u64 {
        self.path.delivered()
    }

    /// Packets lost because the emulator itself was full.
    pub fn refused(&self) -> u64 {
        self.refused
    }

    /// Packets in flight now, cross traffic included.
    pub fn inside(&self) -> u64 {
        self.path.tally().held
    }

    /// The account of every element.
    pub fn accounts(&self) -> impl Iterator<Item = Account<'_>> {
        self.path.accounts()
    }

    /// Checks that no packet was invented or forgotten.
    ///
    /// # Errors
    /// Names the element whose account does not balance.
    pub fn check(&self) -> Result<(), Leak> {
        check::conservation(&self.path)
    }
}
