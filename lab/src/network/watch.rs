//! Capture of a network's packets, for traces and capture files.

use core::mem;

use super::{Network, Part};
use crate::engine::NodeId;
use crate::node::ends::Sink;
use crate::node::watched::{Entry, Watched};
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
            Part::Watched(watched) => watched.take_log(),
            _ => Vec::new(),
        });
        [logs.next().unwrap_or_default(), logs.next().unwrap_or_default()]
    }

    /// The node of each direction that is watched.
    fn watched(&self, hop: usize) -> Vec<NodeId> {
        let Some(lanes) = self.hops.get(hop) else { return Vec::new() };
        let has_queue = |id: &&NodeId| match self.engine.node(**id) {
            Part::Watched(_) | Part::Link(_) => true,
            Part::Other(element) => matches!(**element, Element::TraceLink(_)),
            _ => false,
        };
        let place = |lane: &[NodeId]| lane.iter().find(has_queue).or(lane.first()).copied();
        [&lanes.forward, &lanes.backward].into_iter().filter_map(|lane| place(lane)).collect()
    }
}
