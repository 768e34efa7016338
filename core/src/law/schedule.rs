//! Schedules: the answers to "what goes into the next packet?", one law per file.
//!
//! Every profile asks this question of a [`Schedule`]; a profile's [`Backlog`] has the packets that may be sent. The model of
//! lossless streams is that of S. Mehrotra, J. Li, Y. Huang, "Optimizing FEC Transmission Strategy for Minimizing Delay in
//! Lossless Sequential Streaming": a stream of numbered *originals* is delivered complete and in order; each *coded
//! packet* carries one original, or a random linear combination of a prefix of those that are not decoded yet.
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
//! | time out | [`crate::loss_timer`], or the caller's timer |
//!
//! | schedule | used by |
//! |---|---|
//! | [`adaptive`] | tunnels and pipes by default ([`crate::session::tunnel`]) |
//! | any of [`Choice`] | `--schedule` of tunnels and pipes; `thalweg lab reproduce fec-arq` |
//! | [`in_order`] | live streams ([`crate::session::live`]) |
//! | [`cost_based`] | `thalweg replay decodability` shows its choices |
//! | [`deadline`] | `thalweg replay deadline` shows its choices |
//! | any of them, or a user's own | a stream of a program that uses the library: [`crate::session::stream::End::new`] |
//!
//! A law here only decides: the sender keeps track of packets in flight, arrivals and losses in a [`Queue`]. The rate
//! law determines the time of the next packet.
//!
//! The frames of a stored video, some of which may be skipped, are selected by another law, [`selective`].

pub mod adaptive;
pub mod arq;
pub mod channel;
pub mod cost;
pub mod cost_based;
pub mod deadline;
pub mod decodability;
pub mod gilbert_elliott;
pub mod in_order;
pub mod loss;
pub mod opportunistic;
mod overhead;
mod queue;
#[cfg(test)]
mod queues;
pub mod selective;
#[cfg(feature = "toy")]
pub mod toy;

pub use overhead::Overhead;
pub use queue::{Coded, Place, Queue};

use adaptive::Adaptive;
use arq::Arq;
use channel::Channel;
use cost_based::CostBased;
use opportunistic::Opportunistic;

use super::{ParameterError, parameter};
use crate::law::registry::{Description, Line, Scope, forms, registry};
use crate::probe::{Probe, Visitor};
use crate::time::{Span, Time};

/// The most originals that a combination covers (RFC 8681 §4.1.3, NSS).
pub const LARGEST: usize = 4095;

/// The packets that may be sent next, as a profile keeps them: the originals of a lossless stream ([`Queue`]), or the
/// head of a live stream's blocks ([`in_order::Head`]).
pub trait Backlog {
    /// The measurements of the path that the profile's laws need.
    type Path: Copy + PartialEq + core::fmt::Debug;
}

/// The sender's knowledge at an opportunity to send.
#[derive(Debug)]
pub struct View<'a, B: Backlog = Queue> {
    /// The time of the opportunity.
    pub now: Time,
    /// The packets that may be sent; of a lossless stream, from the first original that is not known to be decoded.
    pub queue: &'a B,
    /// The measured path.
    pub path: B::Path,
}

impl Backlog for Queue {
    type Path = Path;
}

/// The sender's measurements of its path.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Path {
    /// The probability that a packet is lost, above 0 and below 1.
    pub eps: f64,
    /// The same for each packet, conditional on the outcomes of earlier ones.
    pub channel: Channel,
    /// The round trip.
    pub rtt: Span,
    /// The time from one packet to the next, T.
    pub slot: Span,
}

/// The content of the next packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Next {
    /// The first original that was never sent, D.
    New,
    /// A combination of the originals from B to `last`, which is above B. In a live stream, a repair packet of the first
    /// block.
    Repair {
        /// The last original covered. In a live stream, the newest source packet of the block.
        last: u64,
    },
    /// An original that was sent before, uncoded.
    Resend {
        /// The original's number.
        original: u64,
    },
    /// No packet: the opportunity is left unused.
    Idle,
}

/// The content of the next packet, with its expected overhead.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Decision {
    /// The content of the packet.
    pub next: Next,
    /// The probability that the packet will not be innovative, p_{e\[k\]}\[k-1\] of Eq. (9); 0 from laws that do not
    /// compute it.
    pub p_useless: f64,
}

/// A law that determines the content of the next packet of a profile whose packets wait in `B`.
pub trait Schedule<B: Backlog = Queue>: Probe {
    /// Decides about one opportunity to send.
    fn choose(&mut self, view: &View<'_, B>) -> Decision;

    /// Frees the memory that large windows took; called when all originals have arrived.
    fn rest(&mut self) {}
}

impl Decision {
    /// No packet.
    pub const IDLE: Decision = Decision { next: Next::Idle, p_useless: 0.0 };
    /// A new original.
    pub const NEW: Decision = Decision { next: Next::New, p_useless: 0.0 };

    /// The retransmission of an original of which no copy is in flight.
    pub const fn resend(original: u64) -> Decision {
        Decision { next: Next::Resend { original }, p_useless: 0.0 }
    }

    /// A combination of the originals from B to `last`; B alone is sent uncoded.
    pub const fn repair(queue: &Queue, last: u64, p_useless: f64) -> Decision {
        let next = if last == queue.b() { Next::Resend { original: last } } else { Next::Repair { last } };
        Decision { next, p_useless }
    }

    /// The packet that this decision makes of `queue`, if any.
    pub fn packet(&self, queue: &Queue) -> Option<Coded> {
        let (first, last) = match self.next {
            Next::New => (queue.d(), queue.d()),
            Next::Repair { last } => (queue.b(), last),
            Next::Resend { original } => (original, original),
            Next::Idle => return None,
        };
        Some(Coded { first, last, p_useless: self.p_useless })
    }
}

/// The initial parameters of a schedule.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Config {
    /// U_MAX: packets that are not innovative for each one that is, at least 0. For schedules that estimate it.
    pub max_overhead: f64,
}

/// Implements [`Schedule`] for the running law.
macro_rules! delegate {
    ($($(#[cfg($($cfg:tt)*)])? $variant:ident)+) => {
        impl Schedule for Law {
            fn choose(&mut self, view: &View<'_>) -> Decision {
                match self { $( $(#[cfg($($cfg)*)])? Law::$variant(law) => law.choose(view), )+ }
            }

            fn rest(&mut self) {
                match self { $( $(#[cfg($($cfg)*)])? Law::$variant(law) => law.rest(), )+ }
            }
        }

        impl Probe for Law {
            fn probe(&self, visit: &mut Visitor<'_>) {
                match self { $( $(#[cfg($($cfg)*)])? Law::$variant(law) => law.probe(visit), )+ }
            }
        }
    };
}

registry! {
    config: Config, delegate: delegate;
    /// Thalweg's own.
    Adaptive(Adaptive),
    /// The cost-based choice of FEC-ARQ.
    CostBased(CostBased),
    /// Repair in free opportunities.
    Opportunistic(Opportunistic),
    /// Retransmission alone.
    Arq(Arq),
    /// The example of `docs/design.md`, in tests alone.
    #[cfg(feature = "toy")]
    Toy(toy::Toy),
}

impl Default for Choice {
    /// Thalweg's own.
    fn default() -> Choice {
        Choice::Adaptive(adaptive::Parameters::default())
    }
}

#[cfg(test)]
mod tests {
    use super::channel::Channel;
    use super::queues::in_flight;
    use super::*;
    use super::{Next, Path};

    #[test]
    fn names_and_laws_convert_both_ways() {
        for Description { name, .. } in Choice::all() {
            let choice: Choice = name.parse().expect(name);
            assert_eq!((choice.to_string(), choice.description().name), (name.to_owned(), name));
        }
        assert_eq!("adaptive".parse(), Ok(Choice::default()));
        assert!("fec".parse::<Choice>().is_err());
    }

    /// A free opportunity with ten originals in flight: ARQ alone never repairs ahead of a loss.
    #[test]
    fn each_law_is_started_by_its_name() {
        let queue = in_flight(10, 0);
        let path = Path {
            eps: 0.2,
            channel: Channel::independent(0.2),
            rtt: Span::from_millis(10),
            slot: Span::from_millis(1),
        };
        for (name, repairs) in [("adaptive", true), ("cost-based", true), ("opportunistic", true), ("arq", false)] {
            let config = Config { max_overhead: 10.0 };
            let mut law = Law::new(&name.parse().expect(name), &config).expect("in range");
            let next = law.choose(&View { now: Time::ZERO, queue: &queue, path }).next;
            assert_eq!(matches!(next, Next::Repair { .. }), repairs, "{name}: {next:?}");
        }
    }

    #[test]
    fn bound_on_the_overhead_and_parameters_are_refused_out_of_range() {
        let started = |choice: &Choice, max_overhead| Law::new(choice, &Config { max_overhead });
        for name in ["adaptive", "cost-based"] {
            let choice: Choice = name.parse().expect(name);
            assert!(started(&choice, 0.5).is_ok() && started(&choice, -1.0).is_err(), "{name}");
        }
        for (name, parameter, good, bad) in [
            ("adaptive", "sure", "0.9", "1.1"),
            ("cost-based", "kappa", "0.2", "0"),
            ("cost-based", "cap", "0.6", "0"),
            ("opportunistic", "cap", "0.6", "-1"),
        ] {
            for (value, is_good) in [(good, true), (bad, false)] {
                let mut choice: Choice = name.parse().expect(name);
                choice.set(parameter, value).expect("a number");
                assert_eq!(started(&choice, 0.5).is_ok(), is_good, "{name}, {parameter} = {value}");
            }
        }
    }
}
