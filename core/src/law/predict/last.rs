//! The prediction "the same as last time", a baseline that has no parameters.

use super::{ParameterError, Predictor};
use crate::law::registry::Entry;
use crate::probe::{Probe, Visitor};

/// The last value; 0 before the first.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Last {
    value: f64,
    error: Option<f64>,
}

impl Predictor for Last {
    fn observe(&mut self, x: f64) -> f64 {
        let error = x - self.value;
        *self = Last { value: x, error: Some(error) };
        error
    }

    fn prediction(&self) -> f64 {
        self.value
    }
}

impl Entry<()> for Last {
    const NAME: &'static str = "last";
    const ABOUT: &'static str = "the last value";
    type Parameters = ();

    fn start(_parameters: &(), _config: &()) -> Result<Last, ParameterError> {
        Ok(Last::default())
    }
}

impl Probe for Last {
    /// Shows `error` of the last prediction, and `prediction` of the next value.
    fn probe(&self, visit: &mut Visitor<'_>) {
        visit("error", self.error.unwrap_or(f64::NAN));
        visit("prediction", self.value);
    }
}
