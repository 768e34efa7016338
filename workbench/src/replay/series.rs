//! Predictors over the values of a series.

use serde::Deserialize;
use thalweg_core::law::ParameterError;
use thalweg_core::law::predict::{self, Predictor};
use thalweg_core::probe::{Probe, Visitor};

use super::Replayed;
use super::line::{LARGEST, checked, parsed};

/// A predictor of one series.
pub(super) struct Series {
    law: predict::Law,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Value {
    x: f64,
}

impl Series {
    /// The predictor of `choice` with `settings`.
    pub(super) fn new(choice: &predict::Choice, settings: &[(String, String)]) -> Result<Series, ParameterError> {
        let mut choice = choice.clone();
        settings.iter().try_for_each(|(name, value)| choice.set(name, value))?;
        Ok(Series { law: predict::Law::new(&choice, &())? })
    }
}

impl Replayed for Series {
    fn take(&mut self, line: &[u8]) -> Result<(), String> {
        let Value { x } = parsed(line)?;
        self.law.observe(checked("x", x, -LARGEST..=LARGEST)?);
        Ok(())
    }
}

impl Probe for Series {
    fn probe(&self, visit: &mut Visitor<'_>) {
        self.law.probe(visit);
    }
}
