//! An exponentially weighted mean, the common way to smooth a measurement (RFC 6298 §2.3) and a baseline for prediction.

use super::parameter::{known, number, within};
use super::{ParameterError, Predictor};
use crate::law::registry::{self, Entry};
use crate::probe::{Probe, Visitor};

/// The weighted mean of all values so far.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Ewma {
    alpha: f64,
    mean: Option<f64>,
    error: Option<f64>,
}

/// The constant of the mean.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Parameters {
    /// The weight of the old value. 0 to below 1.
    pub alpha: f64,
}

impl Default for Parameters {
    /// 7/8, as for the smoothed round trip of RFC 6298.
    fn default() -> Parameters {
        Parameters { alpha: 0.875 }
    }
}

impl registry::Parameters for Parameters {
    const NAMES: &'static [&'static str] = &["alpha"];

    fn set(&mut self, name: &str, value: &str) -> Result<(), ParameterError> {
        let name = known(name, <Parameters as registry::Parameters>::NAMES)?;
        self.alpha = number(name, value)?;
        within(name, self.alpha, 0.0..1.0)
    }
}

impl Predictor for Ewma {
    fn observe(&mut self, x: f64) -> f64 {
        let error = x - self.prediction();
        // The first value is the first mean.
        let weight = if self.mean.is_some() { 1.0 - self.alpha } else { 1.0 };
        self.mean = Some(self.prediction() + weight * error);
        self.error = Some(error);
        error
    }

    fn prediction(&self) -> f64 {
        self.mean.unwrap_or(0.0)
    }
}

impl Entry<()> for Ewma {
    const NAME: &'static str = "ewma";
    const ABOUT: &'static str = "an exponentially weighted mean";
    type Parameters = Parameters;

    fn start(parameters: &Parameters, _config: &()) -> Result<Ewma, ParameterError> {
        within("alpha", parameters.alpha, 0.0..1.0)?;
        Ok(Ewma { alpha: parameters.alpha, mean: None, error: None })
    }
}

impl Probe for Ewma {
    /// Shows `error` of the last prediction, and `prediction` of the next value.
    fn probe(&self, visit: &mut Visitor<'_>) {
        visit("error", self.error.unwrap_or(f64::NAN));
        visit("prediction", self.prediction());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::registry::Parameters as _;

    #[test]
    fn step_is_approached_by_an_eighth_of_the_distance_at_a_time() {
        let mut mean = Ewma::start(&Parameters::default(), &()).expect("in range");
        assert_eq!((mean.observe(8.0), mean.prediction()), (8.0, 8.0));
        // After n values of 0 the mean is 8 (7/8)^n.
        for expected in [7.0, 6.125, 5.359_375] {
            mean.observe(0.0);
            assert_eq!(mean.prediction(), expected);
        }
    }

    #[test]
    fn weight_is_checked() {
        for value in ["1", "-0.1", "x"] {
            assert!(Parameters::default().set("alpha", value).is_err(), "{value}");
        }
        assert!(Ewma::start(&Parameters { alpha: 1.0 }, &()).is_err());
    }
}
