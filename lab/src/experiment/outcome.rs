//! What came of a run, within its measuring window: from the end of the warm-up to the end of the run.

use thalweg_core::time::{Span, Time};
use thalweg_core::units::Bytes;

use crate::node::drop_tail::Offered;
use crate::stream::counters::{Received, Sent};
use crate::tcp::Playing;

pub use self::group::{GROUP_QUANTITIES, GroupQuantity};
pub use self::summary::{QUANTITIES, Quantity};

mod group;
mod shown;
mod summary;

/// What came of a run.
#[derive(Clone, PartialEq, Debug)]
pub struct Outcome {
    /// The measuring window, which ends with the run.
    pub window: Span,
    /// When the run ended.
    pub end: Time,
    /// Each flow, by its number.
    pub flows: Vec<FlowOutcome>,
    /// Each hop, from the senders to the receivers.
    pub hops: Vec<HopOutcome>,
    /// Packets offered to the first hop in the whole run, the measure of a simulator's work.
    pub packets: u64,
    /// Turns of the event loop in the whole run.
    pub turns: u64,
}

/// One hop.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct HopOutcome {
    /// What came from the senders, and what of it was dropped.
    pub offered: Offered,
    /// What came from the receivers, and what of it was dropped.
    pub returned: Offered,
}

impl HopOutcome {
    /// What is left when an `earlier` reading of the same hop is taken off.
    pub(super) fn subtract(&mut self, earlier: &HopOutcome) {
        self.offered -= earlier.offered;
        self.returned -= earlier.returned;
    }
}

/// One flow.
#[derive(Clone, PartialEq, Debug)]
pub struct FlowOutcome {
    /// Its group, by its place in the experiment.
    pub group: usize,
    /// What it sent into its first hop, and what of it was lost in any of the hops.
    pub offered: Offered,
    /// Time that its packets waited in drop-tail queues of hops, all together; none without such a queue.
    pub waited: Option<Span>,
    /// What its ends say.
    pub ended: Ended,
}

/// What a flow's ends say.
#[derive(Clone, PartialEq, Debug)]
pub enum Ended {
    /// TCP.
    Tcp {
        /// Payload delivered in order.
        delivered: Bytes,
        /// Segments sent again.
        retransmitted: u64,
        /// Expiries of the retransmission timer.
        timeouts: u64,
        /// The transfer, if it was finite.
        transfer: Option<TransferOutcome>,
        /// The playback, if it was a film, from its start on.
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
    /// A stream under TFRC.
    Tfrc {
        /// What arrived, headers included.
        delivered: Bytes,
        /// Packets sent.
        sent: u64,
        /// Packets that the receiver found lost.
        lost: u64,
    },
    /// A source that listens to nobody.
    Open {
        /// What arrived, headers included.
        delivered: Bytes,
    },
}

/// A finite transfer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TransferOutcome {
    /// When it began.
    pub start: Time,
    /// Its payload.
    pub size: Bytes,
    /// When its last segment was acknowledged, if that lies within the run.
    pub completed: Option<Time>,
}

impl FlowOutcome {
    /// What is left when an `earlier` reading of the same flow is taken off.
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
            (Ended::Tfrc { delivered, sent, lost }, Ended::Tfrc { delivered: d, sent: s, lost: l }) => {
                delivered.0 -= d.0;
                *sent -= s;
                *lost = lost.saturating_sub(*l);
            }
            (Ended::Open { delivered }, Ended::Open { delivered: d }) => delivered.0 -= d.0,
            (ended, earlier) => unreachable!("two kinds of one flow: {ended:?}, {earlier:?}"),
        }
    }
}

impl Outcome {
    /// When measuring began.
    pub fn from(&self) -> Time {
        self.end - self.window
    }
}
