//! Both directions of the emulator, each with its counts.

use std::net::IpAddr;

use thalweg_core::time::Time;
use thalweg_lab::check::Leak;
use thalweg_lab::node::wifi::Cell;
use thalweg_lab::packet::Packet;
use thalweg_lab::path::{Account, Pair, Path, Side};
use thalweg_lab::scenario::Scenario;

/// Limit on packets in a direction: more do not fit, whatever its delays and queues; some 100 MB.
const MAX_INSIDE: u64 = 1 << 16;

/// The paths of both directions, and the Wi-Fi cell between them and the servers.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Paths {
    pair: Pair,
    /// The addresses of the cell's stations, if the scenario has them.
    addresses: Vec<IpAddr>,
    /// By side: forward, reverse.
    counts: [Counts; 2],
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Counts {
    received: u64,
    delivered: u64,
    refused: u64,
}

impl Paths {
    pub(super) fn new(scenario: Scenario) -> Paths {
        let addresses = scenario.addresses.clone();
        Paths { pair: scenario.into(), addresses, counts: [Counts::default(); 2] }
    }

    /// Takes a packet; with a cell, the station of flow n is n modulo their number.
    pub(super) fn accept(&mut self, side: Side, now: Time, packet: Packet) {
        if self.pair.inside(side) >= MAX_INSIDE {
            return self.refuse(side);
        }
        self.counts[side as usize].received += 1;
        self.pair.accept(side, now, packet);
    }

    /// Counts a packet for which there is no space or no station.
    pub(super) fn refuse(&mut self, side: Side) {
        let counts = &mut self.counts[side as usize];
        counts.received += 1;
        counts.refused += 1;
    }

    pub(super) fn next(&self) -> Option<Time> {
        self.pair.next()
    }

    pub(super) fn poll(&mut self, side: Side, now: Time) -> Option<Packet> {
        let packet = self.pair.poll(side, now)?;
        self.counts[side as usize].delivered += 1;
        Some(packet)
    }

    /// The number of stations; 1 without a cell.
    pub(super) fn stations(&self) -> usize {
        self.pair.cell().map_or(1, |cell| cell.stations().len())
    }

    /// The station that has an address; without a cell the first.
    pub(super) fn station_of(&self, address: Option<IpAddr>) -> Option<usize> {
        match self.pair.cell() {
            Some(_) => self.addresses.iter().position(|own| Some(*own) == address),
            None => Some(0),
        }
    }

    /// True if there is a cell whose stations have no addresses.
    pub(super) fn lacks_addresses(&self) -> bool {
        self.pair.cell().is_some() && self.addresses.is_empty()
    }

    pub(super) fn cell(&self) -> Option<&Cell> {
        self.pair.cell()
    }

    pub(super) fn check(&self) -> Result<(), Leak> {
        self.pair.conservation()
    }

    pub(super) fn direction(&self, side: Side) -> Direction<'_> {
        Direction { path: self.pair.path(side), counts: self.counts[side as usize], pair: &self.pair, side }
    }
}

/// One direction of the emulator.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Direction<'a> {
    pair: &'a Pair,
    path: &'a Path,
    side: Side,
    counts: Counts,
}

impl<'a> Direction<'a> {
    /// Packets that entered, refused ones included.
    pub fn received(self) -> u64 {
        self.counts.received
    }

    /// Packets that were delivered.
    pub fn delivered(self) -> u64 {
        self.counts.delivered
    }

    /// Packets lost because the emulator itself was full, or had no station for them.
    pub fn refused(self) -> u64 {
        self.counts.refused
    }

    /// Packets in flight now, cross traffic included.
    pub fn inside(self) -> u64 {
        self.pair.inside(self.side)
    }

    /// The account of every element.
    pub fn accounts(self) -> impl Iterator<Item = Account<'a>> {
        self.path.accounts()
    }
}
