//! TCP Stream's evaluation (H. Oda, H. Hisamatsu, H. Noborio, "Design, Implementation and Evaluation of Congestion
//! Control Mechanism for Video Streaming", §5).
//!
//! | paper | here |
//! |---|---|
//! | Figs. 2 and 3 | [`Condition::Simulation`] |
//! | Figs. 4 and 5 | [`Condition::Testbed`] |
//! | not in the paper: two videos on the path of Fig. 5 | [`Condition::Pair`] |
//! | TCP Stream, NewReno, Cubic, and other congestion controls | [`Carrier`] |
//!
//! A [`Plan`] lists jobs and begins them, and [`Results`] hold their records. [`figures`] and [`claims`] read results;
//! [`causes`] lists the reasons that some claims do not hold. The playback of the videos, which the paper discusses but
//! does not show, is drawn beside its figures.

mod carrier;
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
mod results;
mod series;
mod watch;

pub use self::carrier::Carrier;
pub use self::condition::Condition;
pub use self::plan::{Job, Opening, Plan, QUEUES};
pub use self::record::{Record, Windows};
pub use self::results::Results;
pub use self::series::Series;
pub use self::watch::{Watch, Work};
