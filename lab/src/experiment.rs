//! One experiment: hops, groups of flows that cross them, and how long to watch.
//!
//! A description is a plain value; with a seed it becomes a [`Run`]. Every random choice has a stream of its own, named
//! after the group and the flow: the same seed gives paired runs of two schemes the same starts, delays and transfers.

mod flow;
mod outcome;
mod recorder;
mod run;

use core::fmt;
use core::ops::Range;

use thalweg_core::law::window::tcp_stream::Variant;
use thalweg_core::law::window::{Flavour, Start};
use thalweg_core::session::live::sender::Repair;
use thalweg_core::time::Span;
use thalweg_core::units::{Bytes, Rate};

pub use self::outcome::{
    Ended, FlowOutcome, GROUP_QUANTITIES, GroupQuantity, HopOutcome, Outcome, QUANTITIES, Quantity, TransferOutcome,
};
pub use self::recorder::{End, Place, Recorder};
pub use self::run::Run;
use crate::network::Hop;
use crate::path::Traffic;
use crate::stream::receiver::ReportSize;
use crate::stream::scheme::Scheme;
use crate::stream::sender::Srtt;
use crate::tcp::{Dialect, Recovery, Timeouts, Video};
use crate::traffic::transfers::Load;

/// Everything that a run follows from, its seed aside.
#[derive(Clone, PartialEq, Debug)]
pub struct Experiment {
    /// The links that flows share, in a row.
    pub hops: Vec<Hop>,
    /// Who crosses them.
    pub groups: Vec<Group>,
    /// When a run ends.
    pub duration: Span,
    /// When measuring begins.
    pub warmup: Span,
}

/// Flows of one kind.
#[derive(Clone, PartialEq, Debug)]
pub struct Group {
    /// Its name, in results and in the tree of random numbers.
    pub name: String,
    /// What they are.
    pub kind: Kind,
    /// How many.
    pub count: usize,
    /// When they start, each at random within it.
    pub start: Range<Span>,
    /// How much later each starts than the one before.
    pub every: Span,
    /// The links at their ends.
    pub access: AccessRange,
    /// The hops that they cross.
    pub hops: Range<usize>,
}

/// Access links whose delays are drawn for each flow.
#[derive(Clone, PartialEq, Debug)]
pub struct AccessRange {
    /// Rate of each link.
    pub rate: Rate,
    /// One-way delay between a sender and its first hop.
    pub near: Range<Span>,
    /// One-way delay between the last hop and a receiver.
    pub far: Range<Span>,
}

/// What a flow is.
#[derive(Clone, PartialEq, Debug)]
pub enum Kind {
    /// TCP that never ends.
    Tcp(Tcp),
    /// Finite TCP transfers as they come, each a flow of its own; `count` is how many such loads there are.
    Transfers(Tcp, Load),
    /// A stream with or without repair, by its paper.
    Stream(Stream),
    /// A stream of the live profile, by the very sessions of `send` and `recv`.
    Live(Live),
    /// A stream that TFRC slows down.
    Tfrc(Media),
    /// A source that listens to nobody.
    Open(Traffic),
}

/// A TCP sender and its receiver.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Tcp {
    /// The law.
    pub flavour: Flavour,
    /// The initial window and threshold.
    pub start: Start,
    /// How losses are repaired.
    pub recovery: Recovery,
    /// How its sender reads the RFCs.
    pub dialect: Dialect,
    /// How long an acknowledgement waits for a second segment; none acknowledges each.
    pub delayed_ack: Option<Span>,
    /// Bounds of the retransmission timer.
    pub timeouts: Timeouts,
    /// The payload of a segment.
    pub mss: Bytes,
    /// Segments that the receiver takes before the first that is missing.
    pub receive_window: u32,
    /// What it carries, if that is a film; laws that know its rate need one.
    pub film: Option<Film>,
}

/// A film over TCP.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Film {
    /// How fast it is read.
    pub rate: Rate,
    /// What TCP Stream's paper leaves open.
    pub variant: Variant,
    /// Its length and its player; without one it never ends, and nobody plays it.
    pub video: Option<Video>,
}

/// Media of a constant rate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Media {
    /// Its rate; headers count, as in the papers.
    pub rate: Rate,
    /// Size of every packet on the wire.
    pub packet: Bytes,
}

/// A stream.
#[derive(Clone, PartialEq, Debug)]
pub struct Stream {
    /// What it carries.
    pub media: Media,
    /// SYN: a block, and from report to report.
    pub syn: Span,
    /// How it is protected.
    pub scheme: Scheme,
    /// Which packet a round trip is measured by.
    pub srtt: Srtt,
    /// What reports weigh.
    pub reports: ReportSize,
}

/// A stream of the live profile.
#[derive(Clone, PartialEq, Debug)]
pub struct Live {
    /// What it carries. Packets are cut to what a session takes, and as many more of them sent.
    pub media: Media,
    /// How it is protected.
    pub repair: Repair,
    /// Time from input to output.
    pub latency: Span,
}

/// Why there is no such run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Impossible(pub String);

impl fmt::Display for Impossible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Impossible {}

/// More flows than any published scenario has: a slip, most likely.
pub const MOST_FLOWS: usize = 100_000;

/// More than any published scenario lasts, eleven days: a slip, most likely.
pub const LONGEST: Span = Span::from_secs(1_000_000);

impl Experiment {
    /// Whether it can be run.
    ///
    /// # Errors
    /// Says what is impossible.
    pub fn check(&self) -> Result<(), Impossible> {
        self.check_parts().map_err(|(_, why)| Impossible(why))
    }

    /// The same, with what it is that cannot be.
    pub(crate) fn check_parts(&self) -> Result<(), (Part, String)> {
        let (warmup, duration) = (self.warmup, self.duration);
        if duration > LONGEST {
            return Err((Part::Duration, format!("a run of {duration}, {LONGEST} are the most")));
        }
        if warmup >= duration {
            let why =
                format!("nothing is measured: warm-up is {warmup}, the run {duration}, expected a shorter warm-up");
            return Err((Part::Warmup, why));
        }
        let flows: Vec<f64> = self.groups.iter().map(|group| group.expected_flows(duration)).collect();
        let all = flows.iter().sum::<f64>();
        if all > MOST_FLOWS as f64 {
            let most = (0..flows.len()).max_by(|a, b| flows[*a].total_cmp(&flows[*b])).unwrap_or(0);
            return Err((Part::Group(most), format!("about {all:.0} flows, {MOST_FLOWS} are the most")));
        }
        for (nth, Group { name, hops, .. }) in self.groups.iter().enumerate() {
            if hops.is_empty() || hops.end > self.hops.len() {
                let why = format!("group '{name}' crosses hops {hops:?} of {}", self.hops.len());
                return Err((Part::Group(nth), why));
            }
        }
        Ok(())
    }
}

/// A part of an experiment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Part {
    /// How long the run is.
    Duration,
    /// What of it is not measured.
    Warmup,
    /// A group, by its place.
    Group(usize),
}

impl Experiment {
    /// The first group of flows without an end of which one may start behind the warm-up, where there is one, and when:
    /// what is measured of them has their absence in it.
    pub fn late(&self) -> Option<(&Group, Span)> {
        let endless = |group: &&Group| group.count > 0 && group.kind.is_endless();
        let mut starts = self.groups.iter().filter(endless).map(|group| (group, group.latest_start()));
        starts.find(|(_, latest)| self.warmup > Span::ZERO && *latest > self.warmup)
    }
}

impl Kind {
    fn is_endless(&self) -> bool {
        !matches!(self, Kind::Transfers(..)) && self.video().is_none()
    }

    /// The film that its flows carry, and the payload of their segments.
    fn video(&self) -> Option<(Video, Bytes)> {
        if let Kind::Tcp(tcp) = self { Some((tcp.film?.video?, tcp.mss)) } else { None }
    }
}

impl Group {
    /// By which the last of them has started.
    fn latest_start(&self) -> Span {
        self.start.end + self.every * (self.count as u64).saturating_sub(1)
    }

    fn expected_flows(&self, duration: Span) -> f64 {
        match &self.kind {
            Kind::Transfers(_, load) => self.count as f64 * load.arrivals * duration.as_secs_f64(),
            _ => self.count as f64,
        }
    }
}

#[cfg(test)]
mod tests;
