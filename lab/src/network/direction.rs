//! Observation of one direction of a hop: the packets that arrived, were lost or are queued.

use core::fmt;

use super::part::way;
use super::{Network, Nodes};
use crate::engine::NodeId;
use crate::node::Tallied;
use crate::node::drop_tail::{DropTail, Offered};
use crate::node::queue::Waiting;
use crate::node::wifi::Cell;

/// The direction of packets through a hop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// From the senders to the receivers.
    Forward,
    /// From the receivers to the senders.
    Backward,
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Direction::Forward => "forward",
            Direction::Backward => "backward",
        })
    }
}

impl Network {
    /// Packets that each flow offered to a hop's first drop-tail queue towards the receivers, and those dropped there.
    pub fn offered(&self, hop: usize) -> &[Offered] {
        self.of_flows(hop, Direction::Forward)
    }

    fn of_flows(&self, hop: usize, direction: Direction) -> &[Offered] {
        let links = self.lane(hop, direction).iter().filter_map(|id| self.engine.node(*id).as_drop_tail());
        links.map(DropTail::offered).next().unwrap_or_default()
    }

    /// Packets that arrived at a hop, and those of them that were dropped: at its first drop-tail queue, or, where it
    /// has none, at its first element and on the way to its end; or in a cell.
    pub fn came(&self, hop: usize, direction: Direction) -> Offered {
        if let Some(cell) = self.cell(hop) {
            return cell.offered(way(direction));
        }
        let (counted, lane) = (self.of_flows(hop, direction), self.lane(hop, direction));
        match (counted.is_empty(), lane.first()) {
            (true, Some(first)) => Offered {
                packets: self.engine.received(*first),
                dropped: lane.iter().map(|id| self.engine.node(*id).tally().dropped.total()).sum(),
            },
            _ => counted.iter().copied().sum(),
        }
    }

    /// Packets that wait now in the queues of a hop; none if it has no queue.
    pub fn waiting(&self, hop: usize, direction: Direction) -> Option<Waiting> {
        let now = self.engine.now();
        let queues = self.lane(hop, direction).iter().filter_map(|id| self.engine.node(*id).waiting(now, direction));
        queues.fold(None, |sum, queue| Some([queue].into_iter().chain(sum).sum()))
    }

    /// The cell that is a hop, if it is one.
    pub fn cell(&self, hop: usize) -> Option<&Cell> {
        match self.hops.get(hop)? {
            Nodes::Cell { cell, .. } => self.engine.node(*cell).as_cell(),
            Nodes::Lanes { .. } => None,
        }
    }

    /// The elements of one direction of a hop; a hop beyond the last has none.
    fn lane(&self, hop: usize, direction: Direction) -> &[NodeId] {
        self.hops.get(hop).map_or(&[], |nodes| nodes.lane(direction, 0))
    }
}
