//! TCP Stream's evaluation (H. Oda, H. Hisamatsu, H. Noborio, "Design, Implementation and Evaluation of Congestion Control
//! Mechanism for Video Streaming", §5).
//!
//! | paper | here |
//! |---|---|
//! | Figs. 2 and 3 | [`Condition::Simulation`] |
//! | Figs. 4 and 5 | [`Condition::Testbed`] |
//! | nothing: two films on the path of Fig. 5 | [`Condition::Pair`] |
//! | TCP Stream, NewReno, Cubic, and what else may carry a film | [`Carrier`] |
//!
//! A [`Plan`] lists jobs and begins them, [`Results`] keep what came of them. [`figures`] and [`claims`] read results;
//! [`causes`] say why some claims do not hold. What playing the films was like, which the paper argues and does not show,
//! is drawn beside its figures.

mod carrier;
pub mod causes;
pub mod claims;
mod condition;
pub mod errata;
pub mod figures;
mod plan;
mod record;
mod results;
mod series;
mod watch;

pub use self::carrier::Carrier;
pub use self::condition::Condition;
pub use self::plan::{Job, Opening, Plan, QUEUES};
pub use self::record::Record;
pub use self::results::Results;
pub use self::series::Series;
pub use self::watch::{Watch, Windows, Work};
