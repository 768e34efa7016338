//! What a run shows now and then: its ends and queues as they stand, and what was counted since the last look.

use core::fmt;

use thalweg_core::probe::Probe;

use super::Run;
use super::run::Counted;
use crate::network::Way;

/// Looks at one run again and again.
#[derive(Clone, Debug)]
pub struct Recorder {
    /// The counters at the last look.
    before: Counted,
}

/// Where a value is seen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// At a flow, by its number.
    Flow(u32, End),
    /// In one way of a hop, of which the first is 0.
    Hop(usize, Way),
}

/// Which end of a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// The sender, as it stands.
    Sender,
    /// The receiver, as it stands.
    Receiver,
    /// Both, and the hops between them: what they counted since the last look.
    Both,
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            End::Sender => "sender",
            End::Receiver => "receiver",
            End::Both => "both",
        })
    }
}

impl Recorder {
    /// Whoever looks at `run` from now on.
    pub fn new(run: &Run) -> Recorder {
        Recorder { before: run.count() }
    }

    /// Shows every flow and then every hop, each value under its name; counts are those since the last look.
    pub fn look(&mut self, run: &Run, visit: &mut dyn FnMut(Place, &'static str, f64)) {
        let counted = run.count();
        let mut since = counted.clone();
        since.subtract(&self.before);
        self.before = counted;
        let network = run.network();
        for (flow, counted) in (0..).zip(&since.flows) {
            if let Some((sender, receiver)) = network.ends(flow) {
                sender.probe(&mut |name, value| visit(Place::Flow(flow, End::Sender), name, value));
                receiver.probe(&mut |name, value| visit(Place::Flow(flow, End::Receiver), name, value));
            }
            counted.probe(&mut |name, value| visit(Place::Flow(flow, End::Both), name, value));
        }
        for (hop, counted) in since.hops.iter().enumerate() {
            for (way, offered) in [(Way::Forward, counted.offered), (Way::Backward, counted.returned)] {
                let place = Place::Hop(hop, way);
                visit(place, "offered_packets", offered.packets as f64);
                visit(place, "dropped_packets", offered.dropped as f64);
                if let Some(waiting) = network.waiting(hop, way) {
                    visit(place, "queue_packets", waiting.packets as f64);
                    visit(place, "queue_bytes", waiting.bytes.0 as f64);
                }
            }
        }
    }
}
