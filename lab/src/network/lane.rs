//! Looking at one way of a hop: what came to it, what it lost, and what waits in it.

use core::fmt;

use super::Network;
use crate::engine::NodeId;
use crate::node::Tallied;
use crate::node::drop_tail::{DropTail, Offered};
use crate::node::queue::Waiting;

/// Which way of a hop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// From the senders to the receivers.
    Forward,
    /// From the receivers to the senders.
    Backward,
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Way::Forward => "forward",
            Way::Backward => "backward",
        })
    }
}

impl Network {
    /// What each flow offered to the first queue of a hop, from the senders to the receivers, and what it lost there.
    pub fn offered(&self, hop: usize) -> &[Offered] {
        self.of_flows(hop, Way::Forward)
    }

    fn of_flows(&self, hop: usize, way: Way) -> &[Offered] {
        let links = self.lane(hop, way).iter().filter_map(|id| self.engine.node(*id).as_drop_tail());
        links.map(DropTail::offered).next().unwrap_or_default()
    }

    /// What came to a hop: to its first queue and was dropped there, or, where it has none, to its first element and was
    /// dropped on the way to its end.
    pub fn came(&self, hop: usize, way: Way) -> Offered {
        let (counted, lane) = (self.of_flows(hop, way), self.lane(hop, way));
        match (counted.is_empty(), lane.first()) {
            (true, Some(first)) => Offered {
                packets: self.engine.received(*first),
                dropped: lane.iter().map(|id| self.engine.node(*id).tally().dropped.total()).sum(),
            },
            _ => counted.iter().copied().sum(),
        }
    }

    /// What waits now in the queues of a hop; none if it has no queue.
    pub fn waiting(&self, hop: usize, way: Way) -> Option<Waiting> {
        let now = self.engine.now();
        let queues = self.lane(hop, way).iter().filter_map(|id| self.engine.node(*id).waiting(now));
        queues.fold(None, |sum, queue| Some([queue].into_iter().chain(sum).sum()))
    }

    /// The elements of one way of a hop; a hop beyond the last has none.
    fn lane(&self, hop: usize, way: Way) -> &[NodeId] {
        self.hops.get(hop).map_or(&[], |lanes| match way {
            Way::Forward => &lanes.forward,
            Way::Backward => &lanes.backward,
        })
    }
}
