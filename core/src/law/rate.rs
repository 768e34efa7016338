//! How fast may I send? Answers to that question.
//!
//! | law | where | |
//! |---|---|---|
//! | a fixed rate | [`fixed`] | asks nobody |
//! | a congestion window | [`windowed`] | any of [`window`](super::window), with its pacing if it has one |
//! | TFRC | [`tfrc`] | a pair of endpoints, one that sends and one that reports, since its rate is decided by both |
//!
//! A session asks the first two in the same way, as an [`Allowance`].

mod allowance;
mod choice;
pub mod fixed;
mod pacer;
pub mod tfrc;
pub mod windowed;

pub use allowance::{Allowance, Report};
pub use choice::{Choice, Law};
pub use pacer::Pacer;
