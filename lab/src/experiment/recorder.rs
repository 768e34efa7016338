//! Samples of a run: the current state of its endpoints and queues, and the counts since the last sample.

use core::fmt;

use thalweg_core::probe::Probe;

use super::Run;
use super::run::Counted;
use crate::network::Direction;

/// Samples one run repeatedly.
#[derive(Clone, Debug)]
pub struct Recorder {
    /// The counters at the last sample.
    before: Counted,
}

/// The place at which a value is measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// One or both ends of a flow, by its number.
    Flow(u32, End),
    /// One direction of a hop; the first hop is 0.
    Hop(usize, Direction),
}

/// The end of a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// The sender: its current state.
    Sender,
    /// The receiver: its current state.
    Receiver,
    /// Both ends, and the hops between them: their counts since the last sample.
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
    /// A recorder that samples `run` from now on.
    pub fn new(run: &Run) -> Recorder {
        Recorder { before: run.count() }
    }

    /// Reports every flow and then every hop, each value under its name; counts are those since the last call.
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
            for (direction, offered) in [(Direction::Forward, counted.offered), (Direction::Backward, counted.returned)]
            {
                let place = Place::Hop(hop, direction);
                visit(place, "offered_packets", offered.packets as f64);
                visit(place, "dropped_packets", offered.dropped as f64);
                if let Some(waiting) = network.waiting(hop, direction) {
                    visit(place, "queue_packets", waiting.packets as f64);
                    visit(place, "queue_bytes", waiting.bytes.0 as f64);
                }
            }
        }
    }
}
