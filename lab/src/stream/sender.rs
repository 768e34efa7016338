//! The sending endpoint.

use thalweg_core::law::redundancy::{Law, LossReport, ParameterError, Redundancy, none};
use thalweg_core::probe::{Probe, Visitor};
use thalweg_core::time::{Span, Time};
use thalweg_core::units::{Bytes, Rate, Seconds};

use super::counters::Sent;
use super::history::History;
use super::media::MediaClock;
use super::scheme::Scheme;
use super::{Report, Symbol};
use crate::node::{Node, Tallied, Tally};
use crate::packet::{Body, Packet};

/// The parameters of a sender.
#[derive(Clone, PartialEq, Debug)]
pub struct Config {
    /// The flow that its packets belong to.
    pub flow: u32,
    /// The time at which the source produces its first packet.
    pub start: Time,
    /// The time at which the source ends, if it does.
    pub stop: Option<Time>,
    /// Rate of the media, headers included, as in the paper.
    pub rate: Rate,
    /// Size of every packet on the wire.
    pub packet: Bytes,
    /// SYN: the duration of a block (§3.2.1).
    pub syn: Span,
    /// The protection scheme.
    pub scheme: Scheme,
    /// The packet by which a round trip is measured.
    pub srtt: Srtt,
}

impl Default for Config {
    /// The paper's 30 Mb/s stream without repair.
    fn default() -> Config {
        Config {
            flow: 0,
            start: Time::ZERO,
            stop: None,
            rate: Rate::from_mbps(30),
            packet: Bytes(1500),
            syn: Span::from_millis(10),
            scheme: Scheme::blocks(none::None),
            srtt: Srtt::Highest,
        }
    }
}

/// The packet that SRTT is measured by. SRTT is the time from the departure of a packet to the arrival of the first
/// report that covers the packet; the paper does not say which packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Srtt {
    /// The highest sequence number: waiting for the report does not count.
    #[default]
    Highest,
    /// The mean departure of all packets first covered by the report: half a SYN of waiting counts.
    Mean,
}

/// The sender of a stream, over any law of repair.
#[derive(Clone, PartialEq, Debug)]
pub struct Sender<L = Law> {
    config: Config,
    media: MediaClock,
    law: L,
    /// The source packets of the closed blocks, and the number of these blocks.
    closed: (u64, u64),
    leaving: Leaving,
    history: History,
    /// The number of the newest report, and the highest sequence number that was reported.
    reported: Option<(u64, u64)>,
    sent: Sent,
    /// Packets received.
    taken: u64,
}

/// The block that is being sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Leaving {
    from: Time,
    name: u64,
    /// The index of the next packet; n when all have left.
    index: u16,
    k: u16,
    n: u16,
}

impl Sender {
    /// A sender that has received no report yet.
    ///
    /// # Errors
    /// Rate, packet or SYN is zero, a block would have more than 65535 packets, the law refuses its parameters, or the
    /// law is one's own, which experiments alone can start.
    pub fn new(config: Config) -> Result<Sender, ParameterError> {
        Sender::with_law(config, |config, k| config.scheme.law(k, Seconds::from(config.syn)))
    }
}

impl<L: Redundancy> Sender<L> {
    /// A sender whose law `start` gives for blocks of so many source packets.
    pub(crate) fn with_law(
        config: Config,
        start: impl FnOnce(&Config, f64) -> Result<L, ParameterError>,
    ) -> Result<Sender<L>, ParameterError> {
        let refused = |why: &str| Err(ParameterError::Refused(why.to_owned()));
        let rate = if let Scheme::Cbr(rate) = config.scheme { rate } else { config.rate };
        if rate.as_bps() == 0 || config.packet.0 == 0 || config.syn == Span::ZERO {
            return refused("rate, packet size and SYN must be above zero");
        }
        let media = MediaClock { start: config.start, rate, packet: config.packet };
        let k = media.k(config.syn);
        if k + 1.0 + f64::from(config.scheme.most()) > f64::from(u16::MAX) {
            return refused("a block must not have more than 65535 packets");
        }
        Ok(Sender {
            law: start(&config, k)?,
            media,
            closed: (0, 0),
            leaving: Leaving::default(),
            history: History::default(),
            reported: None,
            sent: Sent::default(),
            taken: 0,
            config,
        })
    }

    /// The counters.
    pub fn sent(&self) -> Sent {
        self.sent
    }

    /// The law.
    pub fn law(&self) -> &L {
        &self.law
    }

    /// The time at which the next block closes, until the source ends. Without blocks each packet is one, closed when
    /// produced.
    fn closes_at(&self) -> Option<Time> {
        let (source, blocks) = self.closed;
        let (begins, ends) = if self.config.scheme.has_blocks() {
            let begins = self.config.start + self.config.syn * blocks;
            (begins, begins + self.config.syn)
        } else {
            (self.media.at(source), self.media.at(source))
        };
        self.config.stop.is_none_or(|stop| begins < stop).then_some(ends)
    }

    /// Fixes the repair of the block that ends now (§3.1); its packets leave from now on.
    fn close(&mut self, now: Time) {
        let (name, blocks) = self.closed;
        let produced = if self.config.scheme.has_blocks() {
            self.media.before(self.config.stop.map_or(now, |stop| stop.min(now)))
        } else {
            name + 1
        };
        self.closed = (produced, blocks + 1);
        let k = (produced - name) as u16;
        // A block that holds no media needs no protection.
        let repair = if k == 0 { 0 } else { self.law.repair() };
        self.leaving = Leaving { from: now, name, index: 0, k, n: k + repair as u16 };
        self.sent.blocks += 1;
        self.sent.windows += f64::from(repair);
        self.sent.widest += u64::from(self.config.scheme.widest() == Some(repair));
        if let Some(w) = self.law.w_tot() {
            self.sent.w_blocks += 1;
            self.sent.w += w;
        }
    }

    /// The time at which the block's next packet leaves: IPG after the last, so that all n are spread over one SYN
    /// (§3.2.2).
    fn departs(&self) -> Option<Time> {
        let Leaving { from, index, n, .. } = self.leaving;
        (index < n).then(|| from + self.config.syn.mul_div(index.into(), n.into()))
    }

    fn depart(&mut self, now: Time) -> Packet {
        let Leaving { name, index, k, n, .. } = self.leaving;
        self.leaving.index += 1;
        let symbol = Symbol { sequence: self.history.note(now), block: name, index, k, n };
        self.sent.source += u64::from(symbol.is_source());
        self.sent.repair += u64::from(!symbol.is_source());
        Packet { flow: self.config.flow, size: self.config.packet, body: Body::Media(symbol) }
    }

    /// Reports are used once and in order (§3.2.1); the counts of a lost report are not recovered.
    fn on_report(&mut self, now: Time, report: &Report) {
        if self.reported.is_some_and(|(newest, _)| report.number <= newest) {
            self.sent.stale += 1;
            return;
        }
        let srtt = self.round_trip(now, report);
        let known = self.reported.map_or(0, |(_, highest)| highest);
        self.reported = Some((report.number, report.highest.max(known)));
        self.sent.reports += 1;
        let Report { received: delivered, lost, .. } = *report;
        self.law.on_report(&LossReport { lost, delivered, srtt, at: Seconds(now.as_secs_f64()) });
    }

    /// A round-trip sample, if the report covers a packet that no report before has covered.
    fn round_trip(&self, now: Time, report: &Report) -> Option<Seconds> {
        let is_newer = self.reported.is_none_or(|(_, highest)| report.highest > highest);
        if report.received == 0 || !is_newer {
            return None;
        }
        let covered = u64::from(report.received) + u64::from(report.lost);
        let sent = match self.config.srtt {
            Srtt::Highest => self.history.sent(report.highest),
            Srtt::Mean => self.history.mean_sent(report.highest, covered),
        };
        sent.map(|sent| Seconds::from(now.since(sent)))
    }
}

impl<L: Redundancy> Node for Sender<L> {
    /// Takes a report; packets of other kinds are only counted.
    fn accept(&mut self, now: Time, packet: Packet) {
        self.taken += 1;
        if let Body::Report(report) = packet.body {
            self.on_report(now, &report);
        }
    }

    fn next(&self) -> Option<Time> {
        // All packets of a block leave before the next block closes.
        self.departs().or_else(|| self.closes_at())
    }

    fn poll(&mut self, now: Time) -> Option<Packet> {
        loop {
            let due = self.next().filter(|due| *due <= now)?;
            if self.departs().is_some() {
                return Some(self.depart(due));
            }
            self.close(due);
        }
    }
}

impl<L: Redundancy> Tallied for Sender<L> {
    fn tally(&self) -> Tally {
        Tally { added: self.sent.source + self.sent.repair, consumed: self.taken, ..Tally::default() }
    }
}

impl<L: Redundancy> Probe for Sender<L> {
    /// Reports the values of the law.
    fn probe(&self, visit: &mut Visitor<'_>) {
        self.law.probe(visit);
    }
}

#[cfg(test)]
mod tests;
