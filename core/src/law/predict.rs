//! Prediction: the answers to "what is the next value of this series?", one predictor per file.
//!
//! | predictor | module | |
//! |---|---|---|
//! | recursive least squares | [`rls`] | the filter of R3CP+, which follows trends and oscillations |
//! | an exponentially weighted mean | [`ewma`] | a baseline |
//! | the last value | [`last`] | a baseline |
//!
//! R3CP+ predicts the loss and the round trip of a path, each with a predictor of its own
//! ([`rate::r3cp`](super::rate::r3cp)).

mod choice;
pub mod ewma;
pub mod last;
pub mod rls;

pub use choice::{Choice, Law};

use super::{ParameterError, parameter};
use crate::probe::Probe;

/// A predictor of a series.
pub trait Predictor: Probe {
    /// Takes the next value of the series, and returns the error of its prediction: value less prediction.
    fn observe(&mut self, x: f64) -> f64;

    /// The prediction of the value that follows; 0 before the first.
    fn prediction(&self) -> f64;
}
