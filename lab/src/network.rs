//! Networks as researchers draw them: a chain of bottlenecks, and flows that cross some of them.
//!
//! ```text
//! sender --access--+                      +--access-- receiver
//!                  +==hop 0==+==hop 1==...+
//! sender --access--+         +--access-- receiver
//! ```
//!
//! One hop is a dumbbell, several are a parking lot. Every flow has access links of its own, one at each end for each
//! direction, and returns through the same hops.

mod direction;
mod part;
mod watch;

use core::fmt;
use core::ops::Range;

use thalweg_core::time::{Span, Time};
use thalweg_core::units::Rate;

pub use self::direction::Direction;
pub use self::part::Part;
use crate::check::Leak;
use crate::engine::{Engine, NodeId, Route};
use crate::node::drop_tail::{DropTail, Offered};
use crate::node::queue::Limit;
use crate::path::Element;

/// A hop that flows share: elements one behind the other, separate for each direction.
#[derive(Clone, PartialEq, Debug)]
pub struct Hop {
    /// From the senders to the receivers.
    pub forward: Vec<Element>,
    /// From the receivers to the senders.
    pub backward: Vec<Element>,
}

impl Hop {
    /// A link of `rate` with a queue of `limit` before it and a wire of `delay` behind it, the same in both directions.
    pub fn link(rate: Rate, limit: Limit, delay: Span) -> Hop {
        let link = Element::from(DropTail::new(rate, limit).with_wire(delay));
        Hop { forward: vec![link.clone()], backward: vec![link] }
    }
}

/// A flow's own links, with queues that never fill.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Access {
    /// Rate of each link.
    pub rate: Rate,
    /// One-way delay between the sender and its first hop.
    pub near: Span,
    /// One-way delay between the last hop and the receiver.
    pub far: Span,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Flow {
    sender: NodeId,
    receiver: NodeId,
    /// The access link from the sender to the first hop.
    entry: NodeId,
}

/// A hop has no element in one direction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EmptyHop;

impl fmt::Display for EmptyHop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a hop has no element in one direction")
    }
}

impl std::error::Error for EmptyHop {}

/// A network under simulation.
#[derive(Debug)]
pub struct Network {
    engine: Engine<Part>,
    hops: Vec<Lanes>,
    flows: Vec<Flow>,
}

/// The elements of one hop, as nodes; the last one of each direction routes each flow separately.
#[derive(Clone, Debug)]
struct Lanes {
    forward: Vec<NodeId>,
    backward: Vec<NodeId>,
}

impl Network {
    /// An idle network whose hops form a chain; its queues count the first `flows` flows one by one.
    ///
    /// # Errors
    /// A hop has no element in one direction.
    pub fn new(hops: Vec<Hop>, flows: usize) -> Result<Network, EmptyHop> {
        let mut engine = Engine::default();
        let hops = hops.into_iter().map(|hop| {
            let forward = lane(&mut engine, hop.forward, flows)?;
            Ok(Lanes { forward, backward: lane(&mut engine, hop.backward, flows)? })
        });
        let hops = hops.collect::<Result<_, _>>()?;
        Ok(Network { engine, hops, flows: Vec::new() })
    }

    /// The number of the next flow, which the packets of its ends must carry.
    pub fn next_flow(&self) -> u32 {
        self.flows.len() as u32
    }

    /// Adds a flow that crosses `hops`; if that range ends beyond the last hop, the flow crosses none.
    pub fn add(&mut self, sender: impl Into<Part>, receiver: impl Into<Part>, access: Access, hops: Range<usize>) {
        let number = self.next_flow();
        let engine = &mut self.engine;
        let mut link = |delay, to| {
            let link = DropTail::new(access.rate, Limit::ENDLESS).with_wire(delay);
            engine.add(link.into(), to)
        };
        let (to_receiver, to_sender) = (link(access.far, Route::Away), link(access.near, Route::Away));
        let (from_sender, from_receiver) = (link(access.near, Route::Away), link(access.far, Route::Away));
        let sender = engine.add(sender.into(), Route::To(from_sender));
        let receiver = engine.add(receiver.into(), Route::To(from_receiver));
        engine.set_route(to_receiver, Route::To(receiver));
        engine.set_route(to_sender, Route::To(sender));
        let crossed = self.hops.get(hops).unwrap_or_default();
        join(engine, number, from_sender, crossed.iter().map(|hop| &hop.forward), to_receiver);
        join(engine, number, from_receiver, crossed.iter().rev().map(|hop| &hop.backward), to_sender);
        self.flows.push(Flow { sender, receiver, entry: from_sender });
    }

    /// Processes all events up to `end`.
    pub fn run_until(&mut self, end: Time) {
        self.engine.run_until(end);
    }

    /// The sender and the receiver of a flow.
    pub fn ends(&self, flow: u32) -> Option<(&Part, &Part)> {
        let Flow { sender, receiver, .. } = self.flows.get(flow as usize)?;
        Some((self.engine.node(*sender), self.engine.node(*receiver)))
    }

    /// The number of hops.
    pub fn hops(&self) -> usize {
        self.hops.len()
    }

    /// Packets that a flow sent into its first hop, and those of them that any hop lost on the way to its receiver.
    pub fn of_flow(&self, flow: u32) -> Offered {
        let elements = self.hops.iter().flat_map(|hop| &hop.forward);
        Offered {
            packets: self.flows.get(flow as usize).map_or(0, |flow| self.engine.sent(flow.entry)),
            dropped: elements.map(|id| self.engine.node(*id).lost_of(flow)).sum(),
        }
    }

    /// The total time that the packets of a flow waited in the drop-tail queues of all hops on the way to its receiver;
    /// none if no hop has such a queue.
    pub fn waited_of_flow(&self, flow: u32) -> Option<Span> {
        let nodes = self.hops.iter().flat_map(|hop| &hop.forward).map(|id| self.engine.node(*id));
        nodes.filter_map(Part::as_drop_tail).map(|link| link.waited_of(flow)).reduce(|sum, one| sum + one)
    }

    /// Checks that in + added = out + dropped + consumed + queued, for every node.
    ///
    /// # Errors
    /// Names the first node whose account does not balance.
    pub fn conservation(&self) -> Result<(), Leak> {
        self.engine.conservation()
    }

    /// The event loop, for its clock and counters.
    pub fn engine(&self) -> &Engine<Part> {
        &self.engine
    }
}

/// Adds the elements of one direction of a hop, one behind the other.
fn lane(engine: &mut Engine<Part>, elements: Vec<Element>, flows: usize) -> Result<Vec<NodeId>, EmptyHop> {
    let mut nodes: Vec<NodeId> = Vec::new();
    for element in elements {
        let node = match element {
            Element::DropTail(link) => Part::from(link.counting(flows)),
            other => Part::from(other),
        };
        let id = engine.add(node, Route::Away);
        if let Some(before) = nodes.last() {
            engine.set_route(*before, Route::To(id));
        }
        nodes.push(id);
    }
    if nodes.is_empty() { Err(EmptyHop) } else { Ok(nodes) }
}

/// Routes a flow from the node `from` over `lanes` to the node `to`.
fn join<'a>(
    engine: &mut Engine<Part>,
    flow: u32,
    from: NodeId,
    lanes: impl Iterator<Item = &'a Vec<NodeId>>,
    to: NodeId,
) {
    let mut shared = None;
    let mut lead = |to, next| {
        match shared {
            None => engine.set_route(from, Route::To(to)),
            Some(last) => engine.lead(last, flow, to),
        }
        shared = next;
    };
    lanes.for_each(|lane| lead(lane[0], lane.last().copied()));
    lead(to, None);
}

#[cfg(test)]
mod tests;
