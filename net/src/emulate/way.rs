//! One direction of the emulator.

use thalweg_core::time::Time;
use thalweg_lab::check::{self, Leak};
use thalweg_lab::node::{Node, Tallied};
use thalweg_lab::packet::Packet;
use thalweg_lab::path::{Account, Path};

/// More packets than this do not fit on a path, whatever its delays and queues are: some 100 MB.
const MAX_INSIDE: u64 = 1 << 16;

/// A path and what it has carried.
#[derive(Clone, PartialEq, Debug)]
pub struct Way {
    path: Path,
    refused: u64,
}

impl Way {
    pub(super) fn new(path: Path) -> Way {
        Way { path, refused: 0 }
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

    /// Packets that came in.
    pub fn received(&self) -> u64 {
        self.path.accepted() + self.refused
    }

    /// Packets that went out.
    pub fn delivered(&self) -> u64 {
        self.path.delivered()
    }

    /// Packets that were lost because the emulator itself was full.
    pub fn refused(&self) -> u64 {
        self.refused
    }

    /// Packets on the way now, cross traffic included.
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
