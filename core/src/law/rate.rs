//! Rate control: the answers to "how fast may I send?".
//!
//! | law | module | |
//! |---|---|---|
//! | a fixed rate | [`fixed`] | independent of the path |
//! | a congestion window | [`windowed`] | any of [`window`](super::window), with its pacing if it has one |
//! | TFRC | [`tfrc`] | a pair of endpoints, a sender and a reporting receiver, since both determine its rate |
//! | TFRC from acknowledgements | [`one_sided`] | both at the sender |
//! | any of these, and an upper bound | [`capped`] | |
//!
//! A session uses all but the pair through the same interface, [`Allowance`].
//!
//! Two laws belong to the receiver of a stored video, which asks its sender for a rate once per period. They decide from
//! its buffer as well, so they have interfaces of their own, and no sender can be given one:
//!
//! | law | module | |
//! |---|---|---|
//! | R3CP+ | [`r3cp`] | by forecast, state of the path and the content of the buffer |
//! | TFCC | [`tfcc`] | additive increase, multiplicative decrease; the baseline of R3CP+ |

mod allowance;
pub mod capped;
mod choice;
pub mod fixed;
pub mod one_sided;
mod pacer;
pub mod r3cp;
pub mod tfcc;
pub mod tfrc;
pub mod windowed;

pub use allowance::{Allowance, Report};
pub use choice::{Choice, Config, Law};
pub use pacer::Pacer;
