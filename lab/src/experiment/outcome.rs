//! Results of a run, within its measuring window: from the end of the warm-up to the end of the run.

use thalweg_core::session::stream::sender::Counts;
use thalweg_core::time::{Span, Time};
use thalweg_core::units::{Bytes, Rate};

use crate::end::stored::Playback;
use crate::node::drop_tail::Offered;
use crate::node::wifi::LinkCounters;
use crate::statistics::delays::Delays;
use crate::statistics::transit::Transit;
use crate::stream::counters::{Received, Sent};
use crate::tcp::Playing;

pub use self::group::{GROUP_QUANTITIES, GroupQuantity};
pub use self::summary::{QUANTITIES, Quantity};

mod flow;
mod group;
mod shown;
mod summary;

/// The results of a run.
#[derive(Clone, PartialEq, Debug)]
pub struct Outcome {
    /// The measuring window, which ends with the run.
    pub window: Span,
    /// The time at which the run ended.
    pub end: Time,
    /// The results of each flow, by flow number.
    pub flows: Vec<FlowOutcome>,
    /// The results of each hop, from the senders to the receivers.
    pub hops: Vec<HopOutcome>,
    /// The results of each station of a cell.
    pub stations: Vec<StationOutcome>,
    /// Packets offered to the first hop in the whole run, the measure of a simulator's work.
    pub packets: u64,
    /// Turns of the event loop in the whole run.
    pub turns: u64,
}

/// The results of one hop.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct HopOutcome {
    /// Packets from the senders, and those of them that were dropped.
    pub offered: Offered,
    /// Packets from the receivers, and those of them that were dropped.
    pub returned: Offered,
}

impl HopOutcome {
    /// Subtracts an `earlier` reading of the same hop.
    pub(super) fn subtract(&mut self, earlier: &HopOutcome) {
        self.offered -= earlier.offered;
        self.returned -= earlier.returned;
    }
}

/// The results of one station of a cell.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StationOutcome {
    /// Its name.
    pub name: String,
    /// Packets from the access point.
    pub down: LinkCounters,
    /// Packets to the access point.
    pub up: LinkCounters,
}

impl StationOutcome {
    /// Subtracts an `earlier` reading of the same station.
    pub(super) fn subtract(&mut self, earlier: &StationOutcome) {
        self.down -= earlier.down;
        self.up -= earlier.up;
    }
}

/// The results of one flow.
#[derive(Clone, PartialEq, Debug)]
pub struct FlowOutcome {
    /// The index of its group in the experiment.
    pub group: usize,
    /// The rate that satisfies it, if one does.
    pub need: Option<Rate>,
    /// Packets that it sent into its first hop, and those of them that were lost in any of the hops.
    pub offered: Offered,
    /// The total time that its packets waited in drop-tail queues and cells; none without such a hop.
    pub waited: Option<Span>,
    /// The results of its endpoints.
    pub ended: Ended,
}

/// The results of a flow's endpoints.
#[derive(Clone, PartialEq, Debug)]
pub enum Ended {
    /// TCP.
    Tcp {
        /// Payload delivered in order.
        delivered: Bytes,
        /// Segments retransmitted.
        retransmitted: u64,
        /// Expiries of the retransmission timer.
        timeouts: u64,
        /// The transfer, if it was finite.
        transfer: Option<TransferOutcome>,
        /// The playback, if it was a video, from its start on.
        playing: Option<Playing>,
    },
    /// A stream.
    Stream {
        /// Size of its packets on the wire.
        packet: Bytes,
        /// The sender's counters.
        sent: Sent,
        /// The receiver's counters.
        received: Received,
    },
    /// Data through a tunnel.
    Tunnel {
        /// Bytes delivered in order.
        delivered: Bytes,
        /// Packets that the sender's schedule chose, and opportunities that it left unused.
        sent: Counts,
        /// Packets that the receiver needed to decode what it has delivered.
        innovative: u64,
        /// Packets that arrived and were not innovative.
        useless: u64,
        /// Delays from a write to its delivery in order.
        delays: Delays,
    },
    /// A stored video, from its start on.
    Stored(Playback),
    /// A stream under TFRC.
    Tfrc {
        /// Bytes that arrived, headers included.
        delivered: Bytes,
        /// Packets sent.
        sent: u64,
        /// Packets that the receiver found lost.
        lost: u64,
        /// Delays from one end to the other.
        transit: Transit,
    },
    /// A source without feedback.
    Open {
        /// Bytes that arrived, headers included.
        delivered: Bytes,
    },
}

/// The result of a finite transfer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TransferOutcome {
    /// The time at which it began.
    pub start: Time,
    /// The size of its payload.
    pub size: Bytes,
    /// The time at which its last segment was acknowledged, if that lies within the run.
    pub completed: Option<Time>,
}

impl FlowOutcome {
    /// Subtracts an `earlier` reading of the same flow.
    pub(super) fn subtract(&mut self, earlier: &FlowOutcome) {
        self.offered -= earlier.offered;
        self.waited = self.waited.zip(earlier.waited).map(|(waited, earlier)| waited.saturating_sub(earlier));
        self.ended.subtract(&earlier.ended);
    }
}

impl Ended {
    fn subtract(&mut self, earlier: &Ended) {
        match (self, earlier) {
            (
                Ended::Tcp { delivered, retransmitted, timeouts, .. },
                Ended::Tcp { delivered: d, retransmitted: r, timeouts: t, .. },
            ) => {
                delivered.0 -= d.0;
                *retransmitted -= r;
                *timeouts -= t;
            }
            (Ended::Stream { sent, received, .. }, Ended::Stream { sent: s, received: r, .. }) => {
                *sent = sent.since(s);
                *received = received.since(r);
            }
            (
                Ended::Tunnel { delivered, sent, innovative, useless, delays },
                Ended::Tunnel { delivered: d, sent: s, innovative: i, useless: u, delays: earlier },
            ) => {
                delivered.0 -= d.0;
                *sent = since(*sent, s);
                (*innovative, *useless) = (innovative.saturating_sub(*i), useless.saturating_sub(*u));
                delays.subtract(earlier);
            }
            (
                Ended::Tfrc { delivered, sent, lost, transit },
                Ended::Tfrc { delivered: d, sent: s, lost: l, transit: earlier },
            ) => {
                delivered.0 -= d.0;
                *sent -= s;
                *lost = lost.saturating_sub(*l);
                transit.subtract(earlier);
            }
            (Ended::Stored(_), Ended::Stored(_)) => {}
            (Ended::Open { delivered }, Ended::Open { delivered: d }) => delivered.0 -= d.0,
            (ended, earlier) => unreachable!("two kinds of one flow: {ended:?}, {earlier:?}"),
        }
    }
}

/// The packets of `sent` that were sent after `earlier`.
fn since(sent: Counts, earlier: &Counts) -> Counts {
    Counts {
        new: sent.new.saturating_sub(earlier.new),
        repair: sent.repair.saturating_sub(earlier.repair),
        resent: sent.resent.saturating_sub(earlier.resent),
        idle: sent.idle.saturating_sub(earlier.idle),
        lost: sent.lost.saturating_sub(earlier.lost),
        late: sent.late.saturating_sub(earlier.late),
        silences: sent.silences.saturating_sub(earlier.silences),
    }
}

impl Outcome {
    /// The time at which the measurement began.
    pub fn from(&self) -> Time {
        self.end - self.window
    }
}
