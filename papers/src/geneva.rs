//! GENEVA's evaluation (K. Matsuzono et al., "GENEVA: Streaming Control Algorithm Using Generalized
//! Multiplicative-Increase/Additive-Decrease", §2.2 and §4).
//!
//! | paper | here |
//! |---|---|
//! | Fig. 2 | [`Condition::OneStream`] |
//! | Figs. 8, 9, 10 | [`Condition::LongTcp`] |
//! | Table 1, Fig. 11 | [`Condition::ShortTcp`] |
//! | Table 2, Fig. 12 | [`Condition::MixedRates`] |
//! | Figs. 5, 6 | [`figures`], from the law itself |
//!
//! A [`Plan`] lists jobs, a [`Work`] runs one of them, and [`Results`] hold their records. [`figures`], [`tables`],
//! [`claims`] and [`lockin`] read results. [`bars`] lists the bounds of the claims, [`causes`] the reasons that some
//! claims do not hold, [`topics`] their subjects, and [`constants`] the constants of the streams.

pub mod bars;
pub mod causes;
pub mod claims;
mod condition;
pub mod constants;
pub mod errata;
mod evaluation;
pub mod figures;
pub mod lockin;
mod plan;
mod record;
mod results;
pub mod tables;
pub mod topics;
mod trace;
mod work;

pub use self::condition::{Acks, Arrivals, Condition, Phases, Reading, RoundTrip, Scheme, Setting};
pub use self::plan::{Job, Length, Plan};
pub use self::record::{Record, StreamRecord};
pub use self::results::Results;
pub use self::trace::{Trace, Watch};
pub use self::work::Work;
