//! Capture of a network's packets, for traces and capture files.

use core::mem;

use super::{Network, Nodes, Part};
use crate::engine::NodeId;
use crate::node::ends::Sink;
use crate::node::watched::{Entry, Watched};
use crate::node::wifi::{Link, Way};
use crate::path::Element;

impl Network {
    /// Records from now on the packets that pass a hop's queue in each direction, or its first element where it has no
    /// queue. The records are kept until they are taken.
    pub fn watch(&mut self, hop: usize) {
        for id in self.watched(hop) {
            let node = self.engine.node_mut(id);
            if !matches!(node, Part::Watched(_)) {
                let inner = mem::replace(node, Sink::default().into());
                *node = Watched::new(inner).into();
            }
        }
    }

    /// Packets that have passed a watched hop since the last call: towards the receivers, and towards the senders.
    pub fn take_log(&mut self, hop: usize) -> [Vec<Entry>; 2] {
        let mut logs = self.watched(hop).into_iter().map(|id| match self.engine.node_mut(id) {
            Part::Watched(watched) => (watched.node().as_cell().is_some(), watched.take_log()),
            _ => (false, Vec::new()),
        });
        match (logs.next(), logs.next()) {
            // A cell is one node for both directions.
            (Some((true, log)), None) => {
                let (down, up) = log.into_iter().partition(|entry| Link::of(entry.port).way() == Way::Down);
                [down, up]
            }
            (forward, backward) => [forward, backward].map(|log| log.unwrap_or_default().1),
        }
    }

    /// The nodes that are watched: one for each direction, or a cell.
    fn watched(&self, hop: usize) -> Vec<NodeId> {
        let has_queue = |id: &&NodeId| match self.engine.node(**id) {
            Part::Watched(_) | Part::Link(_) => true,
            Part::Other(element) => matches!(**element, Element::TraceLink(_)),
            _ => false,
        };
        let place = |lane: &[NodeId]| lane.iter().find(has_queue).or(lane.first()).copied();
        match self.hops.get(hop) {
            Some(Nodes::Lanes { forward, backward }) => {
                [forward, backward].into_iter().filter_map(|lane| place(lane)).collect()
            }
            Some(Nodes::Cell { cell, .. }) => vec![*cell],
            None => Vec::new(),
        }
    }
}
