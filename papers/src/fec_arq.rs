//! The evaluation of hybrid FEC-ARQ (S. Mehrotra, J. Li, Y. Huang, "Optimizing FEC Transmission Strategy for Minimizing
//! Delay in Lossless Sequential Streaming", §IV).
//!
//! | paper | here |
//! |---|---|
//! | the simulation of §IV | [`slots`], [`Channel`] |
//! | ARQ, no cost, cost, lower bound | [`Contender`] |
//! | Tables II, III, IV | [`tables`] |
//! | Figs. 3 to 12 | [`figures`] |
//! | - | [`synthetic`] paths, beside recordings |
//!
//! A [`Plan`] lists jobs, a [`Job`] runs, and [`Results`] hold the outcomes; [`tables`], [`figures`] and [`claims`]
//! read results. The paper leaves open when its sender declares a packet lost, and its worked example does not lead to
//! its tables; each [`Variant`] is one way to read it.

mod case;
mod channel;
pub mod claims;
mod contender;
pub mod errata;
mod evaluation;
pub mod figures;
mod outcome;
mod plan;
mod recording;
mod results;
mod session;
pub mod slots;
pub mod synthetic;
pub mod tables;
pub mod ticks;

pub use self::case::{Case, Path};
pub use self::channel::{Channel, Trip};
pub use self::contender::{Contender, Strategy, Variant};
pub use self::outcome::{Outcome, Sent};
pub use self::plan::{Job, Plan};
pub use self::recording::Recording;
pub use self::results::Results;
