//! Nodes: the elements of a path, and endpoints.

pub mod corrupt;
pub(crate) mod delay_queue;
pub mod drop_tail;
pub mod duplicate;
pub mod ends;
pub mod jitter;
pub mod loss;
pub(crate) mod losses;
pub mod queue;
pub mod recorded;
pub mod reorder;
pub mod tap;
pub mod trace_link;
pub mod watched;
pub mod wifi;
pub mod wire;

use core::ops::Add;

use thalweg_core::time::{Span, Time};

use crate::packet::Packet;

/// An element of a path: packets enter, and leave later, changed, more than once or never.
///
/// After every `accept`, and whenever the clock reaches `next`, the driver calls `poll` until it returns none.
pub trait Node {
    /// Takes a packet at `now`. Calls come in time order.
    fn accept(&mut self, now: Time, packet: Packet);

    /// The time at which `poll` will next have something to do; none while nothing is pending.
    fn next(&self) -> Option<Time>;

    /// The next packet that leaves by `now`.
    fn poll(&mut self, now: Time) -> Option<Packet>;

    /// The minimum delay between a packet's entry and its exit.
    fn least_delay(&self) -> Span {
        Span::ZERO
    }

    /// Takes a packet at one of several inlets; most nodes have one.
    fn accept_at(&mut self, now: Time, inlet: usize, packet: Packet) {
        let _ = inlet;
        self.accept(now, packet);
    }

    /// The number of the outlet by which the last packet left; most nodes have one, 0.
    fn outlet(&self) -> usize {
        0
    }

    /// Calls `accept`, then `next`: one call for a loop that needs both for each packet. [`Time::NEVER`] is none.
    fn take_in(&mut self, now: Time, packet: Packet) -> Time {
        self.accept(now, packet);
        self.next().unwrap_or(Time::NEVER)
    }

    /// Calls `poll` if it is due, then `next`.
    fn hand_out(&mut self, now: Time) -> Out {
        let packet = if self.next().is_some_and(|next| next <= now) { self.poll(now) } else { None };
        Out { packet, next: self.next().unwrap_or(Time::NEVER) }
    }
}

/// The result of [`Node::hand_out`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Out {
    /// A packet that leaves.
    pub packet: Option<Packet>,
    /// The time at which there will be something to do; [`Time::NEVER`] is none.
    pub next: Time,
}

/// A node's account of the packets it accepted, for [`crate::check`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tally {
    /// Packets that the node created: copies, and those of an endpoint.
    pub added: u64,
    /// Packets that it will never emit.
    pub dropped: Drops,
    /// Packets that it passed on changed, or out of order.
    pub changed: u64,
    /// Packets that have reached their destination here.
    pub consumed: u64,
    /// Packets that are still inside.
    pub held: u64,
}

/// Lost packets, by their origin.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Drops {
    /// Packets that entered at the near end.
    pub of_ends: u64,
    /// Packets of cross traffic.
    pub of_cross: u64,
}

impl Drops {
    /// Counts one more lost packet.
    pub(crate) fn count(&mut self, packet: &Packet) {
        if packet.is_cross() {
            self.of_cross += 1;
        } else {
            self.of_ends += 1;
        }
    }

    /// The number of all lost packets.
    pub fn total(self) -> u64 {
        self.of_ends + self.of_cross
    }
}

impl Add for Tally {
    type Output = Tally;
    fn add(self, other: Tally) -> Tally {
        Tally {
            added: self.added + other.added,
            dropped: Drops {
                of_ends: self.dropped.of_ends + other.dropped.of_ends,
                of_cross: self.dropped.of_cross + other.dropped.of_cross,
            },
            changed: self.changed + other.changed,
            consumed: self.consumed + other.consumed,
            held: self.held + other.held,
        }
    }
}

/// A node that accounts for its packets.
pub trait Tallied: Node {
    /// The account so far.
    fn tally(&self) -> Tally;
}

impl<N: Node + ?Sized> Node for Box<N> {
    fn accept(&mut self, now: Time, packet: Packet) {
        (**self).accept(now, packet);
    }

    fn next(&self) -> Option<Time> {
        (**self).next()
    }

    fn poll(&mut self, now: Time) -> Option<Packet> {
        (**self).poll(now)
    }

    fn least_delay(&self) -> Span {
        (**self).least_delay()
    }

    fn accept_at(&mut self, now: Time, inlet: usize, packet: Packet) {
        (**self).accept_at(now, inlet, packet);
    }

    fn outlet(&self) -> usize {
        (**self).outlet()
    }
}

impl<N: Tallied + ?Sized> Tallied for Box<N> {
    fn tally(&self) -> Tally {
        (**self).tally()
    }
}
