//! Everything that stands on a path.

pub mod corrupt;
pub mod drop_tail;
pub mod duplicate;
pub mod ends;
pub mod jitter;
pub mod loss;
pub(crate) mod losses;
pub mod queue;
pub mod recorded;
pub mod reorder;
pub(crate) mod shelf;
pub mod tap;
pub mod trace_link;
pub mod watched;
pub mod wire;

use core::ops::Add;

use thalweg_core::time::{Span, Time};

use crate::packet::Packet;

/// An element of a path: packets go in, and come out later, changed, more than once or never.
///
/// After every `accept`, and whenever the clock reaches `next`, the driver drains `poll` until it gives none.
pub trait Node {
    /// Takes a packet at `now`. Calls come in time order.
    fn accept(&mut self, now: Time, packet: Packet);

    /// When `poll` will next have something to do; none while nothing is pending.
    fn next(&self) -> Option<Time>;

    /// The next packet that is out by `now`.
    fn poll(&mut self, now: Time) -> Option<Packet>;

    /// No packet comes out earlier than this after it went in.
    fn least_delay(&self) -> Span {
        Span::ZERO
    }

    /// `accept`, and what `next` says then: one call for a loop that asks after each packet. [`Time::NEVER`] is none.
    fn take_in(&mut self, now: Time, packet: Packet) -> Time {
        self.accept(now, packet);
        self.next().unwrap_or(Time::NEVER)
    }

    /// `poll` if its time has come, and what `next` says then.
    fn hand_out(&mut self, now: Time) -> Out {
        let packet = if self.next().is_some_and(|next| next <= now) { self.poll(now) } else { None };
        Out { packet, next: self.next().unwrap_or(Time::NEVER) }
    }
}

/// What [`Node::hand_out`] gives.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Out {
    /// A packet that is out.
    pub packet: Option<Packet>,
    /// When there will be something to do; [`Time::NEVER`] is none.
    pub next: Time,
}

/// What a node says of the packets it took in, for [`crate::check`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tally {
    /// Packets it made itself: copies, and those of an end.
    pub added: u64,
    /// Packets it will never let out.
    pub dropped: Drops,
    /// Packets it let through changed, or out of their turn.
    pub changed: u64,
    /// Packets that have reached their end here.
    pub consumed: u64,
    /// Packets that are still inside.
    pub held: u64,
}

/// Packets that were lost, by whose they were.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Drops {
    /// Packets that came in at the near end.
    pub of_ends: u64,
    /// Packets of cross traffic.
    pub of_cross: u64,
}

impl Drops {
    /// One more.
    pub(crate) fn count(&mut self, packet: &Packet) {
        if packet.is_cross() {
            self.of_cross += 1;
        } else {
            self.of_ends += 1;
        }
    }

    /// All of them.
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
}

impl<N: Tallied + ?Sized> Tallied for Box<N> {
    fn tally(&self) -> Tally {
        (**self).tally()
    }
}
