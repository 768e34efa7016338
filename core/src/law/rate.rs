//! How fast may I send? Answers to that question.
//!
//! | law | where | |
//! |---|---|---|
//! | a fixed rate | [`fixed`] | asks nobody |
//! | a congestion window | [`windowed`] | any of [`window`](super::window), with its pacing if it has one |
//! | TFRC | [`tfrc`] | a pair of endpoints, one that sends and one that reports, since its rate is decided by both |
//! | the same, from acknowledgements | [`one_sided`] | both of them at the sender |
//! | any of these, and a bound | [`capped`] | |
//!
//! A session asks all but the pair in the same way, as an [`Allowance`].

mod allowance;
pub mod capped;
mod choice;
pub mod fixed;
pub mod one_sided;
mod pacer;
pub mod tfrc;
pub mod windowed;

pub use allowance::{Allowance, Report};
pub use choice::{Choice, Config, Law};
pub use pacer::Pacer;
