//! One experiment: hops, groups of flows that cross them, and the duration of the measurement.
//!
//! A description is a plain value; with a seed it becomes a [`Run`]. Every random choice has a random stream of its
//! own, named after the group and the flow: the same seed gives paired runs of two schemes the same starts, delays and
//! transfers.

mod failure;
mod flow;
mod outcome;
mod recorder;
mod run;
mod sharing;

use core::fmt;
use core::ops::Range;

use thalweg_core::law::rate;
use thalweg_core::law::rate::gca::Greediness;
use thalweg_core::law::redundancy;
use thalweg_core::law::window::Start;
use thalweg_core::time::Span;
use thalweg_core::units::{Bytes, Rate};

pub use self::failure::Failure;
pub use self::outcome::{
    Ended, FlowOutcome, GROUP_QUANTITIES, GroupQuantity, HopOutcome, Outcome, QUANTITIES, Quantity, StationOutcome,
    TransferOutcome,
};
pub use self::recorder::{End, Place, Recorder};
pub use self::run::Run;
pub use self::sharing::Share;
use crate::end::{stored, tunnel};
use crate::network::{Course, Direction, Hop};
use crate::path::Traffic;
use crate::stream::receiver::ReportSize;
use crate::stream::scheme::Scheme;
use crate::stream::sender::Srtt;
use crate::tcp::{self, Dialect, Recovery, Timeouts, Video};
use crate::traffic::transfers::Load;

/// Everything that determines a run, except its seed.
#[derive(Clone, PartialEq, Debug)]
pub struct Experiment {
    /// The links that flows share, in a row.
    pub hops: Vec<Hop>,
    /// The groups of flows that cross them.
    pub groups: Vec<Group>,
    /// The coupling of the flows that have a need, if there is one.
    pub share: Option<Share>,
    /// The time at which a run ends.
    pub duration: Span,
    /// The time at which the measurement begins.
    pub warmup: Span,
}

/// Flows of one kind.
#[derive(Clone, PartialEq, Debug)]
pub struct Group {
    /// The group's name, in results and in the tree of random numbers.
    pub name: String,
    /// The kind of its flows.
    pub kind: Kind,
    /// The number of flows, or of loads if they are transfers.
    pub count: usize,
    /// The range from which the start of each flow is drawn.
    pub start: Range<Span>,
    /// The time by which each flow's start is later than that of the flow before.
    pub every: Span,
    /// The access links of its flows.
    pub access: AccessRange,
    /// The hops that its flows cross.
    pub hops: Range<usize>,
    /// The direction from their senders to their receivers.
    pub direction: Direction,
    /// The stations at their ends, in turns, if they cross a cell.
    pub stations: Range<usize>,
    /// The rate that satisfies each of its flows, headers included, if one does.
    pub need: Option<Rate>,
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

/// The kind of a flow.
#[derive(Clone, PartialEq, Debug)]
pub enum Kind {
    /// TCP that never ends unless it carries a video of finite size.
    Tcp(Tcp),
    /// Finite TCP transfers as they arrive, each a flow of its own; `count` is the number of such loads.
    Transfers(Tcp, Load),
    /// A stream with or without repair, as in the paper of its scheme.
    Stream(Stream),
    /// A stream of the live profile, by the same sessions that `send` and `recv` use.
    Live(Live),
    /// A stream whose rate TFRC limits, or GCA.
    Tfrc(Media, Option<Greediness>),
    /// Data through a tunnel, by the same sessions that `tunnel` and `pipe` use.
    Tunnel(tunnel::Parameters),
    /// A stored video under a control that its receiver runs.
    Stored(stored::Parameters),
    /// A source without feedback.
    Open(Source),
}

/// A source without feedback.
#[derive(Clone, PartialEq, Debug)]
pub struct Source {
    /// The packets that it sends.
    pub traffic: Traffic,
    /// The time of the run at which it ends; none if it never does.
    pub until: Option<Span>,
}

impl<T: Into<Traffic>> From<T> for Source {
    fn from(traffic: T) -> Source {
        Source { traffic: traffic.into(), until: None }
    }
}

/// A TCP sender and its receiver.
#[derive(Clone, PartialEq, Debug)]
pub struct Tcp {
    /// The congestion control law.
    pub law: tcp::Law,
    /// The initial window and threshold.
    pub start: Start,
    /// The loss recovery algorithm.
    pub recovery: Recovery,
    /// The sender's reading of the RFCs.
    pub dialect: Dialect,
    /// The time that an acknowledgement waits for a second segment; if none, each segment is acknowledged.
    pub delayed_ack: Option<Span>,
    /// Bounds of the retransmission timer.
    pub timeouts: Timeouts,
    /// The payload of a segment.
    pub mss: Bytes,
    /// Segments that the receiver buffers, counted from the first that is missing.
    pub receive_window: u32,
    /// The video that the flow carries, if any; laws that use a video's rate need one.
    pub video: Option<StoredVideo>,
}

/// A video over TCP.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StoredVideo {
    /// The playback rate.
    pub rate: Rate,
    /// Its size and its player; without them the video never ends and is not played.
    pub played: Option<Video>,
}

/// Media of a constant rate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Media {
    /// The media rate, headers included, as in the papers.
    pub rate: Rate,
    /// Size of every packet on the wire.
    pub packet: Bytes,
}

/// A stream as in the papers.
#[derive(Clone, PartialEq, Debug)]
pub struct Stream {
    /// The media that it carries.
    pub media: Media,
    /// SYN: the duration of a block, and the interval of reports.
    pub syn: Span,
    /// The protection scheme.
    pub scheme: Scheme,
    /// The packet by which a round trip is measured.
    pub srtt: Srtt,
    /// The size of reports.
    pub reports: ReportSize,
}

/// A stream of the live profile.
#[derive(Clone, PartialEq, Debug)]
pub struct Live {
    /// The media that it carries. Packets are cut to a session's maximum payload, and as many more of them are sent.
    pub media: Media,
    /// The repair of lost packets.
    pub repair: redundancy::Law,
    /// The rate law of the session; none sends at the rate of the media.
    pub rate_law: Option<rate::Choice>,
    /// The time from input to output.
    pub latency: Span,
    /// The maximum rate of the session, if it has one.
    pub max_rate: Option<Rate>,
    /// True for a source that follows the rate which the session leaves to media, `media` at most.
    pub follows: bool,
    /// A time without media, from the start of the run on.
    pub pause: Option<Range<Span>>,
}

/// The reason why an experiment cannot be run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Impossible(pub String);

impl fmt::Display for Impossible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Impossible {}

/// The maximum number of flows, more than any published scenario has: a larger number is most likely a mistake.
pub const MOST_FLOWS: usize = 100_000;

/// The maximum duration, eleven days, more than any published scenario has: a longer one is most likely a mistake.
pub const LONGEST: Span = Span::from_secs(1_000_000);

impl Experiment {
    /// Checks that the experiment can be run.
    ///
    /// # Errors
    /// Names what is impossible.
    pub fn check(&self) -> Result<(), Impossible> {
        self.check_parts().map_err(|(_, why)| Impossible(why))
    }

    /// Does the same check, and also returns the part that is at fault.
    pub(crate) fn check_parts(&self) -> Result<(), (Part, String)> {
        let (warmup, duration) = (self.warmup, self.duration);
        if duration > LONGEST {
            return Err((Part::Duration, format!("a run of {duration}, expected at most {LONGEST}")));
        }
        if warmup >= duration {
            let why = format!(
                "nothing is measured: the warm-up is {warmup} and the run {duration}, expected a shorter warm-up"
            );
            return Err((Part::Warmup, why));
        }
        let flows: Vec<f64> = self.groups.iter().map(|group| group.expected_flows(duration)).collect();
        let all = flows.iter().sum::<f64>();
        if all > MOST_FLOWS as f64 {
            let most = (0..flows.len()).max_by(|a, b| flows[*a].total_cmp(&flows[*b])).unwrap_or(0);
            return Err((Part::Group(most), format!("about {all:.0} flows, expected at most {MOST_FLOWS}")));
        }
        for (nth, Group { name, hops, stations, .. }) in self.groups.iter().enumerate() {
            let crossed = self.hops.get(hops.clone()).unwrap_or_default();
            if crossed.is_empty() {
                let why = format!("group '{name}' crosses hops {hops:?} of {}", self.hops.len());
                return Err((Part::Group(nth), why));
            }
            for cell in crossed.iter().filter_map(Hop::cell) {
                let all = cell.stations().len();
                if stations.is_empty() || stations.end > all {
                    let why = format!("group '{name}' has stations {stations:?} of {all}");
                    return Err((Part::Group(nth), why));
                }
            }
        }
        self.share.map_or(Ok(()), |_| sharing::check(&self.groups))
    }
}

/// A part of an experiment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Part {
    /// The duration of the run.
    Duration,
    /// The warm-up, which is not measured.
    Warmup,
    /// A group, by its index.
    Group(usize),
    /// The coupling.
    Share,
}

impl Experiment {
    /// The first group of endless flows of which one may start after the warm-up, if there is one, and its latest
    /// start: the measured values of such flows include the time before their start.
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

    /// The video that its flows carry, and the payload of their segments.
    fn video(&self) -> Option<(Video, Bytes)> {
        if let Kind::Tcp(tcp) = self { Some((tcp.video?.played?, tcp.mss)) } else { None }
    }
}

impl Group {
    /// The course of one of its flows through the network.
    fn course(&self, member: usize) -> Course {
        let station = self.stations.start + member % self.stations.len().max(1);
        Course { hops: self.hops.clone(), direction: self.direction, station }
    }

    /// The time by which the last of its flows has started.
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
