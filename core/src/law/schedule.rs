//! What goes into the next packet? Answers to that question, one a file.
//!
//! The frame is that of S. Mehrotra, J. Li, Y. Huang, "Optimizing FEC Transmission Strategy for Minimizing Delay in
//! Lossless Sequential Streaming": a stream of numbered *originals* is delivered whole and in order; each *coded packet*
//! carries one original, or a random linear combination of a prefix of those that are not decoded yet.
//!
//! | paper | here |
//! |---|---|
//! | B\[n\], D\[n\], E\[n\] | [`Queue::b`], [`Queue::d`], [`Queue::e`] |
//! | b\[k\], e\[k\] | [`Coded`] |
//! | gamma_l | [`Place::entered`] |
//! | epsilon, round trip, T | [`Path`] |
//! | w, t, F, Eq. (9) | [`Overhead`] |
//! | p_l, Q | [`decodability`] |
//! | Eqs. (3), (6) | [`cost`] |
//! | §II-D | [`loss`] |
//! | time out | [`overdue`], or the caller's timer |
//!
//! | schedule | who sends by it |
//! |---|---|
//! | [`adaptive`] | every tunnel and pipe ([`crate::session::tunnel`]); beside the paper's in `thalweg lab reproduce fec-arq` |
//! | [`cost_based`] | `thalweg lab reproduce fec-arq`; `thalweg replay decodability` shows what it would choose |
//! | [`opportunistic`], [`arq`] | `thalweg lab reproduce fec-arq` |
//! | any of them, or one of your own | a stream of a program that uses the library: [`crate::session::stream::End::new`] |
//!
//! A law here decides and nothing else: what is in flight, what arrived and what is lost is the sender's to know, and it
//! keeps it in a [`Queue`]. The rate says when there is a next packet.

pub mod adaptive;
pub mod arq;
pub mod channel;
pub mod cost;
pub mod cost_based;
pub mod decodability;
pub mod gilbert_elliott;
pub mod loss;
pub mod opportunistic;
pub mod overdue;
mod overhead;
mod queue;
#[cfg(test)]
mod toy;

use channel::Channel;
pub use overhead::Overhead;
pub use queue::{Coded, Place, Queue};

use super::{ParameterError, parameter};
use crate::probe::Probe;
use crate::time::{Span, Time};

/// What a sender knows when it may send a packet.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct View<'a> {
    /// When.
    pub now: Time,
    /// The stream from the first original that is not known to be decoded.
    pub queue: &'a Queue,
    /// The path as it was measured.
    pub path: Path,
}

/// What a sender has measured of its path.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Path {
    /// Probability that a packet is lost, above 0 and below 1.
    pub eps: f64,
    /// The same for each packet by what became of those before it.
    pub channel: Channel,
    /// The round trip.
    pub rtt: Span,
    /// From one packet to the next, T.
    pub slot: Span,
}

/// What the next packet is to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Choice {
    /// The first original that was never sent, D.
    New,
    /// A combination of the originals from B to `last`, which is above B.
    Repair {
        /// The last of them.
        last: u64,
    },
    /// An original that was sent before, alone.
    Resend {
        /// Which.
        original: u64,
    },
    /// Nothing: the opportunity is left unused.
    Idle,
}

/// A choice, and what it is expected to waste.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Decision {
    /// The choice.
    pub choice: Choice,
    /// Probability that the packet will tell the receiver nothing new, p_{e\[k\]}\[k-1\] of Eq. (9); 0 from laws that do
    /// not reckon it.
    pub p_useless: f64,
}

/// A law that says what goes into the next packet.
pub trait Schedule: Probe {
    /// Decides about one opportunity to send.
    fn choose(&mut self, view: &View<'_>) -> Decision;

    /// All has arrived: memory that large windows took can be given back.
    fn rest(&mut self) {}
}

impl Decision {
    /// Nothing is sent.
    pub const IDLE: Decision = Decision { choice: Choice::Idle, p_useless: 0.0 };
    /// A new original.
    pub const NEW: Decision = Decision { choice: Choice::New, p_useless: 0.0 };

    /// An original again, of which no copy is under way.
    pub const fn resend(original: u64) -> Decision {
        Decision { choice: Choice::Resend { original }, p_useless: 0.0 }
    }

    /// The originals from B to `last` combined; B alone goes uncoded.
    pub const fn repair(queue: &Queue, last: u64, p_useless: f64) -> Decision {
        let choice = if last == queue.b() { Choice::Resend { original: last } } else { Choice::Repair { last } };
        Decision { choice, p_useless }
    }

    /// The packet that this makes of `queue`, if any.
    pub fn packet(&self, queue: &Queue) -> Option<Coded> {
        let (first, last) = match self.choice {
            Choice::New => (queue.d(), queue.d()),
            Choice::Repair { last } => (queue.b(), last),
            Choice::Resend { original } => (original, original),
            Choice::Idle => return None,
        };
        Some(Coded { first, last, p_useless: self.p_useless })
    }
}
