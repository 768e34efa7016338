//! Networks as researchers draw them: a chain of bottlenecks, and flows that cross some of them.
//!
//! ```text
//! sender --access--+                      +--access-- receiver
//!                  +==hop 0==+==hop 1==...+
//! sender --access--+         +--access-- receiver
//! ```
//!
//! One hop is a dumbbell, several are a parking lot. Every flow has access links of its own, one at each end for each
//! direction, and returns through the same hops. A flow may also have its sender at the right and its receiver at the
//! left. A hop may be a Wi-Fi cell, one medium for both directions, with stations at its right.

mod coupling;
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
use crate::node::wifi::{Cell, Link};
use crate::path::Element;

/// A hop that flows share.
#[derive(Clone, PartialEq, Debug)]
pub enum Hop {
    /// Elements one behind the other, separate for each direction.
    Lanes {
        /// From the senders to the receivers.
        forward: Vec<Element>,
        /// From the receivers to the senders.
        backward: Vec<Element>,
    },
    /// A Wi-Fi cell, whose medium both directions share. Its access point is at the senders' end.
    Cell(Box<Cell>),
}

impl Hop {
    /// A link of `rate` with a queue of `limit` before it and a wire of `delay` behind it, the same in both directions.
    pub fn link(rate: Rate, limit: Limit, delay: Span) -> Hop {
        let link = Element::from(DropTail::new(rate, limit).with_wire(delay));
        Hop::Lanes { forward: vec![link.clone()], backward: vec![link] }
    }

    /// The elements of one direction; a cell has none.
    pub fn lane(&self, direction: Direction) -> &[Element] {
        match (self, direction) {
            (Hop::Lanes { forward, .. }, Direction::Forward) => forward,
            (Hop::Lanes { backward, .. }, Direction::Backward) => backward,
            (Hop::Cell(_), _) => &[],
        }
    }

    /// The cell, if it is one.
    pub fn cell(&self) -> Option<&Cell> {
        if let Hop::Cell(cell) = self { Some(cell) } else { None }
    }
}

/// The way of a flow through the hops.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Course {
    /// The hops that it crosses.
    pub hops: Range<usize>,
    /// The direction from its sender to its receiver.
    pub direction: Direction,
    /// The station at its end, if it crosses a cell.
    pub station: usize,
}

impl From<Range<usize>> for Course {
    /// Forward across `hops`, to the first station of a cell.
    fn from(hops: Range<usize>) -> Course {
        Course { hops, direction: Direction::Forward, station: 0 }
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
    /// The direction from the sender to the receiver.
    direction: Direction,
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
    hops: Vec<Nodes>,
    flows: Vec<Flow>,
}

/// The nodes of one hop.
#[derive(Clone, Debug)]
enum Nodes {
    /// Elements; the last one of each direction routes each flow separately.
    Lanes { forward: Vec<NodeId>, backward: Vec<NodeId> },
    /// A cell, and the port of each of its links, each of which routes each flow separately.
    Cell { cell: NodeId, ports: Vec<NodeId> },
}

impl Nodes {
    /// The nodes and ports of one direction. Without such a station in a cell there are none.
    fn lane(&self, direction: Direction, station: usize) -> &[NodeId] {
        match (self, direction) {
            (Nodes::Lanes { forward, .. }, Direction::Forward) => forward,
            (Nodes::Lanes { backward, .. }, Direction::Backward) => backward,
            (Nodes::Cell { ports, .. }, direction) => {
                let link = match direction {
                    Direction::Forward => Link::Down(station),
                    Direction::Backward => Link::Up(station),
                };
                ports.get(link.number()..=link.number()).unwrap_or_default()
            }
        }
    }
}

impl Network {
    /// An idle network whose hops form a chain; its queues count the first `flows` flows one by one.
    ///
    /// # Errors
    /// A hop has no element in one direction.
    pub fn new(hops: Vec<Hop>, flows: usize) -> Result<Network, EmptyHop> {
        let mut engine = Engine::default();
        let hops = hops.into_iter().map(|hop| match hop {
            Hop::Lanes { forward, backward } => {
                let forward = lane(&mut engine, forward, flows)?;
                Ok(Nodes::Lanes { forward, backward: lane(&mut engine, backward, flows)? })
            }
            Hop::Cell(cell) => {
                let links = 2 * cell.stations().len();
                let cell = engine.add(Part::Cell(cell), Route::Away);
                Ok(Nodes::Cell { cell, ports: (0..links).map(|link| engine.port(cell, link)).collect() })
            }
        });
        let hops = hops.collect::<Result<_, _>>()?;
        Ok(Network { engine, hops, flows: Vec::new() })
    }

    /// The number of the next flow, which the packets of its ends must carry.
    pub fn next_flow(&self) -> u32 {
        self.flows.len() as u32
    }

    /// Adds a flow of a course; if that ends beyond the last hop, the flow crosses none.
    pub fn add(
        &mut self,
        sender: impl Into<Part>,
        receiver: impl Into<Part>,
        access: Access,
        course: impl Into<Course>,
    ) {
        let Course { hops, direction, station } = course.into();
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
        let forward = crossed.iter().map(|hop| hop.lane(Direction::Forward, station));
        let backward = crossed.iter().rev().map(|hop| hop.lane(Direction::Backward, station));
        let (first, second) = match direction {
            Direction::Forward => ((from_sender, to_receiver), (from_receiver, to_sender)),
            Direction::Backward => ((from_receiver, to_sender), (from_sender, to_receiver)),
        };
        join(engine, number, first, forward);
        join(engine, number, second, backward);
        self.flows.push(Flow { sender, receiver, entry: from_sender, direction });
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
        let Some(Flow { entry, direction, .. }) = self.flows.get(flow as usize) else { return Offered::default() };
        Offered {
            packets: self.engine.sent(*entry),
            dropped: self.nodes(*direction).map(|node| node.lost_of(flow, *direction)).sum(),
        }
    }

    /// The total time that the packets of a flow waited in the drop-tail queues and cells of all hops on the way to its
    /// receiver; none if no hop has such a queue.
    pub fn waited_of_flow(&self, flow: u32) -> Option<Span> {
        let direction = self.flows.get(flow as usize)?.direction;
        self.nodes(direction).filter_map(|node| node.waited_of(flow, direction)).reduce(|sum, one| sum + one)
    }

    /// The nodes of one direction of all hops.
    fn nodes(&self, direction: Direction) -> impl Iterator<Item = &Part> {
        self.hops.iter().flat_map(move |hop| hop.lane(direction, 0)).map(|id| self.engine.node(*id))
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

/// Routes a flow from the first of two nodes over `lanes` to the second.
fn join<'a>(
    engine: &mut Engine<Part>,
    flow: u32,
    (from, to): (NodeId, NodeId),
    lanes: impl Iterator<Item = &'a [NodeId]>,
) {
    let mut shared = None;
    let mut lead = |to, next| {
        match shared {
            None => engine.set_route(from, Route::To(to)),
            Some(last) => engine.lead(last, flow, to),
        }
        shared = next;
    };
    lanes.for_each(|lane| lane.first().into_iter().for_each(|first| lead(*first, lane.last().copied())));
    lead(to, None);
}

#[cfg(test)]
mod tests;
