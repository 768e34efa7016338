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

pub mod ewma;
pub mod last;
pub mod rls;

use ewma::Ewma;
use last::Last;
use rls::Rls;

use super::{ParameterError, parameter};
use crate::law::registry::{Description, Line, Scope, forms, registry};
use crate::probe::{Probe, Visitor};

/// A predictor of a series.
pub trait Predictor: Probe {
    /// Takes the next value of the series, and returns the error of its prediction: value less prediction.
    fn observe(&mut self, x: f64) -> f64;

    /// The prediction of the value that follows; 0 before the first.
    fn prediction(&self) -> f64;
}

/// Implements [`Predictor`] for the running law.
macro_rules! delegate {
    ($($(#[cfg($($cfg:tt)*)])? $variant:ident)+) => {
        impl Predictor for Law {
            fn observe(&mut self, x: f64) -> f64 {
                match self { $( $(#[cfg($($cfg)*)])? Law::$variant(law) => law.observe(x), )+ }
            }

            fn prediction(&self) -> f64 {
                match self { $( $(#[cfg($($cfg)*)])? Law::$variant(law) => law.prediction(), )+ }
            }
        }

        impl Probe for Law {
            fn probe(&self, visit: &mut Visitor<'_>) {
                match self { $( $(#[cfg($($cfg)*)])? Law::$variant(law) => law.probe(visit), )+ }
            }
        }
    };
}

registry! {
    config: (), delegate: delegate;
    /// Recursive least squares.
    Rls(Rls),
    /// An exponentially weighted mean.
    Ewma(Ewma),
    /// The last value.
    Last(Last),
}

impl Default for Choice {
    /// The filter of R3CP+.
    fn default() -> Choice {
        Choice::Rls(rls::Parameters::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_predictor_is_named_and_returns_the_error_of_its_last_prediction() {
        for law in Choice::all() {
            let choice: Choice = law.name.parse().expect("its own name");
            assert_eq!(choice.to_string(), law.name);
            let mut law = Law::new(&choice, &()).expect("its own parameters");
            assert_eq!(law.prediction(), 0.0);
            for n in 0..50 {
                let (x, predicted) = (f64::from(n % 7) / 10.0, law.prediction());
                assert_eq!(law.observe(x), x - predicted);
            }
        }
        assert_eq!(Choice::default(), "rls".parse().expect("a predictor"));
        assert!("kalman".parse::<Choice>().is_err());
    }
}
