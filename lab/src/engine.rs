//! The only event loop: nodes, where their packets go, and whose turn it is.
//!
//! Two nodes that are due at one instant take turns in the order in which that became known, so a run depends on its
//! nodes and their seeds alone. What a node hands out is taken in by the next one at the same instant: nodes, not routes,
//! are what takes time.
//!
//! ```
//! use thalweg_core::time::{Span, Time};
//! use thalweg_lab::engine::{Engine, Route};
//! use thalweg_lab::node::wire::Wire;
//! use thalweg_lab::packet::Packet;
//!
//! let mut engine = Engine::default();
//! let far = engine.add(Wire::new(Span::from_millis(2)), Route::Away);
//! let near = engine.add(Wire::new(Span::from_millis(3)), Route::To(far));
//! engine.give(near, Packet::datagram(0, b"hello".to_vec()));
//! engine.run_until(Time::ZERO + Span::from_millis(4));
//! assert_eq!(engine.received(far), 1);
//! assert_eq!(engine.left(), 0);
//! engine.run_until(Time::ZERO + Span::from_millis(5));
//! assert_eq!(engine.left(), 1);
//! ```

mod agenda;

use thalweg_core::time::Time;

use self::agenda::Agenda;
use crate::check::{self, Leak};
use crate::node::{Node, Tallied};
use crate::packet::Packet;

/// A node of an engine.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NodeId(u32);

/// Where a node's packets go.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Route {
    /// Out of the network.
    Away,
    /// To one node, whosever they are.
    To(NodeId),
    /// Each flow's to a node of its own, by flow number; those of other flows out of the network.
    ByFlow(Vec<Option<NodeId>>),
}

/// Nodes, driven through virtual time.
#[derive(Clone, Debug)]
pub struct Engine<N> {
    now: Time,
    places: Vec<Place<N>>,
    agenda: Agenda,
    /// Nodes that something has just happened to.
    stirred: Vec<u32>,
    /// When the next turn of the only one of them is, as it said when that happened.
    said: Option<Time>,
    left: u64,
    turns: u64,
}

#[derive(Clone, Debug)]
#[repr(align(64))]
struct Place<N> {
    node: N,
    route: Route,
    /// The earliest entry of the agenda for this node, [`Time::NEVER`] if there is none; later ones are void.
    planned: Time,
    received: u64,
    sent: u64,
}

impl<N> Default for Engine<N> {
    fn default() -> Engine<N> {
        Engine {
            now: Time::ZERO,
            places: Vec::new(),
            agenda: Agenda::default(),
            stirred: Vec::new(),
            said: None,
            left: 0,
            turns: 0,
        }
    }
}

impl<N: Node> Engine<N> {
    /// A further node. Its packets take `route`, which [`Engine::set_route`] can still change.
    ///
    /// # Panics
    /// With more than 2^32 nodes.
    pub fn add(&mut self, node: N, route: Route) -> NodeId {
        let id = u32::try_from(self.places.len()).expect("fewer than 2^32 nodes");
        self.places.push(Place { node, route, planned: Time::NEVER, received: 0, sent: 0 });
        if let Some(next) = self.places[id as usize].node.next() {
            self.plan(id, next);
        }
        NodeId(id)
    }

    /// Sends `from`'s packets elsewhere from now on.
    pub fn set_route(&mut self, from: NodeId, route: Route) {
        self.places[from.0 as usize].route = route;
    }

    /// Sends the packets of one flow that leave `from` to a node of their own from now on.
    pub fn lead(&mut self, from: NodeId, flow: u32, to: NodeId) {
        let route = &mut self.places[from.0 as usize].route;
        if !matches!(route, Route::ByFlow(_)) {
            *route = Route::ByFlow(Vec::new());
        }
        if let Route::ByFlow(table) = route {
            table.resize(table.len().max(flow as usize + 1), None);
            table[flow as usize] = Some(to);
        }
    }

    /// Does everything that is due by `end`, which is then the time.
    pub fn run_until(&mut self, end: Time) {
        while let Some((at, who)) = self.agenda.pop(end) {
            let place = &mut self.places[who as usize];
            if place.planned != at {
                continue;
            }
            place.planned = Time::NEVER;
            self.now = at;
            self.turn(who);
            self.settle();
        }
        self.now = self.now.max(end);
    }

    /// Gives a packet to a node now, as if it came from outside.
    pub fn give(&mut self, to: NodeId, packet: Packet) {
        self.hand(to, packet);
        self.settle();
    }

    /// Lets every node that something has happened to hand out what is due, until nothing more happens now.
    fn settle(&mut self) {
        while let Some(who) = self.stirred.pop() {
            match self.said.take() {
                Some(next) if next > self.now => {
                    self.turns += 1;
                    self.plan(who, next);
                }
                _ => self.turn(who),
            }
        }
    }

    /// Lets one node hand out what is due.
    fn turn(&mut self, who: u32) {
        self.turns += 1;
        let next = loop {
            let place = &mut self.places[who as usize];
            let out = place.node.hand_out(self.now);
            let Some(packet) = &out.packet else {
                // If it did something of its own, that may have moved its next turn.
                break out.next.max(self.now);
            };
            place.sent += 1;
            let to = match &place.route {
                Route::To(to) => Some(*to),
                Route::ByFlow(table) => table.get(packet.flow as usize).copied().flatten(),
                Route::Away => None,
            };
            match (to, out.packet) {
                (Some(to), Some(packet)) => self.hand(to, packet),
                _ => self.left += 1,
            }
            if out.next > self.now {
                break out.next;
            }
        };
        self.plan(who, next);
    }

    #[inline]
    fn hand(&mut self, to: NodeId, packet: Packet) {
        let place = &mut self.places[to.0 as usize];
        place.received += 1;
        let next = place.node.take_in(self.now, packet);
        if self.stirred.last() != Some(&to.0) {
            self.stirred.push(to.0);
        }
        // Of several each is asked again: what happens to the one may change what another said.
        self.said = (self.stirred.len() == 1).then_some(next);
    }

    /// Puts a node's next turn on the agenda, unless an earlier one stands there: a turn too early costs less than an
    /// entry for every timer that is put off.
    #[inline]
    fn plan(&mut self, who: u32, next: Time) {
        let place = &mut self.places[who as usize];
        if next < place.planned {
            place.planned = next;
            self.agenda.push(next, who);
        }
    }

    /// The time.
    pub fn now(&self) -> Time {
        self.now
    }

    /// A node.
    pub fn node(&self, id: NodeId) -> &N {
        &self.places[id.0 as usize].node
    }

    /// A node, to be changed from outside between two runs.
    pub fn node_mut(&mut self, id: NodeId) -> &mut N {
        &mut self.places[id.0 as usize].node
    }

    /// Every node, in the order in which they were added.
    pub fn nodes(&self) -> impl Iterator<Item = (NodeId, &N)> {
        self.places.iter().enumerate().map(|(index, place)| (NodeId(index as u32), &place.node))
    }

    /// Packets that a node took in.
    pub fn received(&self, id: NodeId) -> u64 {
        self.places[id.0 as usize].received
    }

    /// Packets that a node handed out.
    pub fn sent(&self, id: NodeId) -> u64 {
        self.places[id.0 as usize].sent
    }

    /// Packets that left the network.
    pub fn left(&self) -> u64 {
        self.left
    }

    /// How often a node had its turn, the measure of the engine's own work.
    pub fn turns(&self) -> u64 {
        self.turns
    }
}

impl<N: Tallied> Engine<N> {
    /// In + added = out + dropped + consumed + queued, for every node.
    ///
    /// # Errors
    /// Names the first node whose account does not balance.
    pub fn conservation(&self) -> Result<(), Leak> {
        self.places.iter().enumerate().try_for_each(|(index, place)| {
            check::balance(&format!("node {index}"), place.received, place.sent, place.node.tally())
        })
    }
}
