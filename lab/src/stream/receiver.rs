//! The receiving endpoint.

use thalweg_core::session::MAX_DATAGRAM;
use thalweg_core::time::{Span, Time};
use thalweg_core::units::Bytes;
use thalweg_core::wire::feedback;

use super::arrivals::Arrivals;
use super::blocks::Blocks;
use super::counters::Received;
use super::{Report, Symbol};
use crate::node::{Node, Tallied, Tally};
use crate::packet::{Body, HEADERS, Packet};

/// The parameters of a receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Config {
    /// The flow that its reports belong to.
    pub flow: u32,
    /// SYN: the interval of reports (§3.2.1).
    pub syn: Span,
    /// The size of reports; if none, no reports are sent, as for plain UDP.
    pub reports: Option<ReportSize>,
}

/// Size of a report on the wire.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReportSize {
    /// The size of an RFC 8888 report on every packet of the interval, with IP and UDP headers.
    Rfc8888,
    /// A fixed size.
    Fixed(Bytes),
}

impl Default for Config {
    fn default() -> Config {
        Config { flow: 0, syn: Span::from_millis(10), reports: Some(ReportSize::Rfc8888) }
    }
}

/// The receiver of a stream. Its clock starts with the first packet: the first report leaves one SYN later.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Receiver {
    config: Config,
    arrivals: Arrivals,
    blocks: Blocks,
    /// The time at which the next report leaves.
    due: Option<Time>,
    reports: u64,
    /// The highest sequence number of the last report, and the packets received since.
    covered: u64,
    received: u32,
    /// Packets received in total, duplicates and late ones included.
    taken: u64,
}

impl Receiver {
    /// A receiver that waits for its first packet.
    pub fn new(config: Config) -> Receiver {
        Receiver {
            config,
            arrivals: Arrivals::default(),
            blocks: Blocks::default(),
            due: None,
            reports: 0,
            covered: 0,
            received: 0,
            taken: 0,
        }
    }

    /// The counters.
    pub fn received(&self) -> Received {
        Received {
            packets: self.arrivals.highest(),
            lost: self.arrivals.lost(),
            bursts: self.arrivals.bursts(),
            source: self.blocks.source(),
            recovered: self.blocks.recovered(),
        }
    }

    fn on_symbol(&mut self, now: Time, symbol: &Symbol) {
        if self.due.is_none() && self.config.reports.is_some() {
            self.due = Some(now + self.config.syn);
        }
        if self.arrivals.take(symbol.sequence) {
            self.received += 1;
            self.blocks.take(symbol);
        }
    }

    /// Reports the packets received since the last report. A gap counts when a packet behind it arrives; late packets
    /// are set off against losses.
    fn report(&mut self) -> Report {
        let highest = self.arrivals.highest();
        let lost = (highest - self.covered).saturating_sub(u64::from(self.received));
        let lost = u32::try_from(lost).unwrap_or(u32::MAX);
        let report = Report { number: self.reports, highest, received: self.received, lost };
        self.reports += 1;
        self.covered = highest;
        self.received = 0;
        report
    }
}

impl ReportSize {
    /// The size of a report on `packets` packets; those that do not fit into one datagram are left out.
    fn covering(self, packets: u64) -> Bytes {
        match self {
            ReportSize::Rfc8888 => {
                // Two bytes per packet.
                let most = (MAX_DATAGRAM - HEADERS.0 as usize - feedback::packet_len(0)) / 2;
                let packets = usize::try_from(packets).map_or(most, |packets| packets.min(most));
                HEADERS + Bytes(feedback::packet_len(packets) as u64)
            }
            ReportSize::Fixed(size) => size,
        }
    }
}

impl Node for Receiver {
    /// Takes a packet of the stream; packets of other kinds are only counted.
    fn accept(&mut self, now: Time, packet: Packet) {
        self.taken += 1;
        if let Body::Media(symbol) = packet.body {
            self.on_symbol(now, &symbol);
        }
    }

    fn next(&self) -> Option<Time> {
        self.due
    }

    fn poll(&mut self, now: Time) -> Option<Packet> {
        let due = self.due.filter(|due| *due <= now)?;
        self.due = Some(due + self.config.syn);
        let covered = self.arrivals.highest() - self.covered;
        let size = self.config.reports?.covering(covered);
        Some(Packet { flow: self.config.flow, size, body: Body::Report(self.report()) })
    }
}

impl Tallied for Receiver {
    fn tally(&self) -> Tally {
        Tally { added: self.reports, consumed: self.taken, ..Tally::default() }
    }
}

#[cfg(test)]
mod tests;
