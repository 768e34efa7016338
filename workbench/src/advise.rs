//! Advice for a path: what `thalweg send` and `recv` should be given, from a measurement of it.
//!
//! | part | contents |
//! |---|---|
//! | [`Measured`] | the delays and losses that the packets of a measurement met, and their path file |
//! | [`Candidate`] | settings of `send` and `recv`, and the list of those that are tried |
//! | [`Trial`] | one candidate, run by its sessions in the lab over the measured path |
//! | [`Outcome`] | the loss after repair, the bytes and the latency of a trial, each with its interval |
//! | [`choose`] | the candidate that is recommended |

mod candidate;
mod choice;
mod estimate;
mod measured;
mod outcome;
mod trial;
mod world;

pub use self::candidate::{Candidate, Media};
pub use self::choice::{Choice, choose};
pub use self::estimate::{Interval, Loss};
pub use self::measured::{Measured, Unusable};
pub use self::outcome::Outcome;
pub use self::trial::{Setting, Trial};
