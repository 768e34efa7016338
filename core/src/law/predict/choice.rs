//! The registry of the predictors.

use super::ewma::Ewma;
use super::last::Last;
use super::rls::{self, Rls};
use super::{ParameterError, Predictor};
use crate::law::registry::{Description, Line, Scope, forms, registry};
use crate::probe::{Probe, Visitor};

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
