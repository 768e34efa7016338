//! R3CP+'s evaluation (Y. S. Sun, F.-M. Tsou, M. C. Chen, "Predictive flow control for TCP-friendly end-to-end real-time
//! video on the Internet", §4).
//!
//! | paper | here |
//! |---|---|
//! | Figs. 3, 5 and 6 | [`Condition::Load`] |
//! | Fig. 4 | [`Condition::Crowded`] |
//! | Fig. 7 | [`Condition::Congested`] |
//! | Fig. 8 | [`Condition::Pair`] |
//! | Fig. 9 | [`Condition::Beside`] |
//! | Tables 2 and 3 | [`Condition::Internet`] |
//! | R3CP+, R3CP, TFCC, no control | [`Subject`] |
//!
//! The paper publishes neither thresholds nor the length of the buffer, so everything is run with each [`Setting`]. A
//! [`Plan`] lists jobs and begins them, and [`Results`] hold their records. [`figures`] and [`claims`] read results;
//! [`causes`] lists the reasons that some claims do not hold.

pub mod causes;
pub mod claims;
mod condition;
pub mod errata;
mod evaluation;
pub mod figures;
mod plan;
#[cfg(feature = "real")]
pub mod real;
mod record;
mod setting;
mod subject;
mod trace;
mod watch;

pub use self::condition::{Condition, Path};
pub use self::plan::{Job, Plan};
pub use self::record::{Record, Second};
pub use self::setting::Setting;
pub use self::subject::Subject;
pub use self::trace::{Trace, chapter};

/// Records of those jobs of a plan that have been run; missing ones prove nothing.
pub type Results = crate::results::Results<Plan>;
