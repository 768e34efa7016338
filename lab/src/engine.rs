//! The only event loop: nodes, the routes of their packets, and the order of their turns.
//!
//! Two nodes that are due at one instant take turns in the order in which their turns were planned, so a run depends on
//! its nodes and their seeds alone. A packet that a node emits is accepted by the next node at the same instant: nodes
//! take time, routes do not.
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

/// The index of a node in an engine, or of a port of a node.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NodeId(u32);

/// The first index of ports; nodes have those below.
const PORTS: u32 = 1 << 31;

/// A port of a node: packets for it enter by the inlet of its number, and packets that leave by the outlet of its
/// number take its route.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Port {
    node: u32,
    number: usize,
}

/// The destination of a node's packets.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Route {
    /// Out of the network.
    Away,
    /// To one node, for all flows.
    To(NodeId),
    /// To one node per flow, by flow number; packets of other flows leave the network.
    ByFlow(Vec<Option<NodeId>>),
    /// By the route of each outlet, in the order of their numbers.
    ByOutlet(Vec<Route>),
}

impl Route {
    /// The destination of a packet of `flow` that left by `outlet`.
    fn of(&self, outlet: usize, flow: u32) -> Option<NodeId> {
        match self {
            Route::Away => None,
            Route::To(to) => Some(*to),
            Route::ByFlow(table) => table.get(flow as usize).copied().flatten(),
            Route::ByOutlet(routes) => routes.get(outlet)?.of(0, flow),
        }
    }
}

/// Nodes, driven through virtual time.
#[derive(Clone, Debug)]
pub struct Engine<N> {
    now: Time,
    places: Vec<Place<N>>,
    ports: Vec<Port>,
    agenda: Agenda,
    /// Nodes that have accepted a packet since their last turn.
    changed: Vec<u32>,
    /// The next event of the only node in `changed`, as its last `take_in` returned it; none if there are several.
    reported: Option<Time>,
    left: u64,
    turns: u64,
}

#[derive(Clone, Debug)]
#[repr(align(64))]
struct Place<N> {
    node: N,
    route: Route,
    /// The earliest entry of the agenda for this node, [`Time::NEVER`] if there is none; later entries are void.
    planned: Time,
    received: u64,
    sent: u64,
}

impl<N> Default for Engine<N> {
    fn default() -> Engine<N> {
        Engine {
            now: Time::ZERO,
            places: Vec::new(),
            ports: Vec::new(),
            agenda: Agenda::default(),
            changed: Vec::new(),
            reported: None,
            left: 0,
            turns: 0,
        }
    }
}

impl<N: Node> Engine<N> {
    /// Adds a node whose packets take `route`; [`Engine::set_route`] can change it later.
    ///
    /// # Panics
    /// With more than 2^31 nodes.
    pub fn add(&mut self, node: N, route: Route) -> NodeId {
        let id = u32::try_from(self.places.len()).ok().filter(|id| *id < PORTS).expect("at most 2^31 nodes");
        self.places.push(Place { node, route, planned: Time::NEVER, received: 0, sent: 0 });
        if let Some(next) = self.places[id as usize].node.next() {
            self.plan(id, next);
        }
        NodeId(id)
    }

    /// The port of a node that is its inlet and its outlet of this number. A route to the port leads to that inlet; the
    /// route from the port is that of packets which leave by that outlet.
    ///
    /// # Panics
    /// There is no such node.
    pub fn port(&mut self, node: NodeId, number: usize) -> NodeId {
        let id = PORTS + self.ports.len() as u32;
        self.ports.push(Port { node: node.0, number });
        let route = &mut self.places[node.0 as usize].route;
        match route {
            Route::ByOutlet(routes) => routes.resize(routes.len().max(number + 1), Route::Away),
            _ => *route = Route::ByOutlet(vec![Route::Away; number + 1]),
        }
        NodeId(id)
    }

    /// Routes `from`'s packets by `route` from now on.
    pub fn set_route(&mut self, from: NodeId, route: Route) {
        *self.route_mut(from) = route;
    }

    /// The route of a node, or of the outlet of a port.
    fn route_mut(&mut self, from: NodeId) -> &mut Route {
        let number = from.0.checked_sub(PORTS).map(|port| self.ports[port as usize].number);
        let place = self.index(from);
        match (&mut self.places[place].route, number) {
            (Route::ByOutlet(routes), Some(number)) => &mut routes[number],
            (route, _) => route,
        }
    }

    /// The index of a node, or of the node that has this port.
    fn index(&self, id: NodeId) -> usize {
        id.0.checked_sub(PORTS).map_or(id.0, |port| self.ports[port as usize].node) as usize
    }

    /// Routes the packets of one flow that leave `from` to the node `to` from now on.
    pub fn lead(&mut self, from: NodeId, flow: u32, to: NodeId) {
        let route = self.route_mut(from);
        if !matches!(route, Route::ByFlow(_)) {
            *route = Route::ByFlow(Vec::new());
        }
        if let Route::ByFlow(table) = route {
            table.resize(table.len().max(flow as usize + 1), None);
            table[flow as usize] = Some(to);
        }
    }

    /// Processes all events that are due by `end`, and sets the clock to `end`.
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

    /// Passes a packet to a node now, as if it came from outside.
    pub fn give(&mut self, to: NodeId, packet: Packet) {
        self.hand(to, packet);
        self.settle();
    }

    /// Gives a turn to every node that has accepted a packet, until nothing more happens at this instant.
    fn settle(&mut self) {
        while let Some(who) = self.changed.pop() {
            match self.reported.take() {
                Some(next) if next > self.now => {
                    self.turns += 1;
                    self.plan(who, next);
                }
                _ => self.turn(who),
            }
        }
    }

    /// Lets one node emit the packets that are due, and plans its next turn.
    fn turn(&mut self, who: u32) {
        self.turns += 1;
        let next = loop {
            let place = &mut self.places[who as usize];
            let out = place.node.hand_out(self.now);
            let Some(packet) = &out.packet else {
                // A turn without a packet may be internal work, which may have moved the node's next turn.
                break out.next.max(self.now);
            };
            place.sent += 1;
            let to = match &place.route {
                Route::To(to) => Some(*to),
                Route::ByFlow(table) => table.get(packet.flow as usize).copied().flatten(),
                Route::Away => None,
                route => route.of(place.node.outlet(), packet.flow),
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
        let Some(place) = self.places.get_mut(to.0 as usize) else { return self.hand_to_port(to, packet) };
        place.received += 1;
        let next = place.node.take_in(self.now, packet);
        self.note_change(to.0, next);
    }

    /// Passes a packet to a port, which is no index of a node.
    #[inline(never)]
    fn hand_to_port(&mut self, to: NodeId, packet: Packet) {
        let Port { node, number } = self.ports[(to.0 - PORTS) as usize];
        let place = &mut self.places[node as usize];
        place.received += 1;
        place.node.accept_at(self.now, number, packet);
        let next = place.node.next().unwrap_or(Time::NEVER);
        self.note_change(node, next);
    }

    /// Notes that a node has accepted a packet, and that its next event is at `next`.
    #[inline]
    fn note_change(&mut self, who: u32, next: Time) {
        if self.changed.last() != Some(&who) {
            self.changed.push(who);
        }
        // Of several changed nodes each is asked again: the turn of one may change the next event of another.
        self.reported = (self.changed.len() == 1).then_some(next);
    }

    /// Puts a node's next turn on the agenda, unless an earlier turn is there: a turn that is too early costs less than
    /// an entry for every timer that is postponed.
    #[inline]
    fn plan(&mut self, who: u32, next: Time) {
        let place = &mut self.places[who as usize];
        if next < place.planned {
            place.planned = next;
            self.agenda.push(next, who);
        }
    }

    /// The current simulated time.
    pub fn now(&self) -> Time {
        self.now
    }

    /// The node with the index `id`, or with the port.
    pub fn node(&self, id: NodeId) -> &N {
        &self.places[self.index(id)].node
    }

    /// A node, for changes from outside between two runs.
    pub fn node_mut(&mut self, id: NodeId) -> &mut N {
        let index = self.index(id);
        &mut self.places[index].node
    }

    /// Plans the turn of a node that was changed from outside: its next event may be earlier.
    pub fn plan_again(&mut self, id: NodeId) {
        let index = self.index(id);
        if let Some(next) = self.places[index].node.next() {
            self.plan(index as u32, next.max(self.now));
        }
    }

    /// Every node, in the order in which they were added.
    pub fn nodes(&self) -> impl Iterator<Item = (NodeId, &N)> {
        self.places.iter().enumerate().map(|(index, place)| (NodeId(index as u32), &place.node))
    }

    /// Packets that a node accepted.
    pub fn received(&self, id: NodeId) -> u64 {
        self.places[self.index(id)].received
    }

    /// Packets that a node emitted.
    pub fn sent(&self, id: NodeId) -> u64 {
        self.places[self.index(id)].sent
    }

    /// Packets that left the network.
    pub fn left(&self) -> u64 {
        self.left
    }

    /// The number of turns of all nodes, the measure of the engine's own work.
    pub fn turns(&self) -> u64 {
        self.turns
    }
}

impl<N: Tallied> Engine<N> {
    /// Checks that in + added = out + dropped + consumed + queued, for every node.
    ///
    /// # Errors
    /// Names the first node whose account does not balance.
    pub fn conservation(&self) -> Result<(), Leak> {
        self.places.iter().enumerate().try_for_each(|(index, place)| {
            check::balance(&format!("node {index}"), place.received, place.sent, place.node.tally())
        })
    }
}
