//! The example of a law that is added to its family: this file, and its lines in `redundancy.rs`.
//!
//! A block gets as many repair packets as the last report had losses.

use super::{LossReport, ParameterError, Redundancy};
use crate::law::parameter::{known, number, within};
use crate::law::registry::{self, Entry};
use crate::probe::{Probe, Visitor};

/// As many repair packets as the last report had losses, within bounds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Toy {
    parameters: Parameters,
    lost: u32,
}

/// The bounds of the window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Parameters {
    /// The least number of packets. 0 to 100.
    pub least: u32,
}

impl Default for Parameters {
    fn default() -> Parameters {
        Parameters { least: 3 }
    }
}

impl registry::Parameters for Parameters {
    const NAMES: &'static [&'static str] = &["least"];

    fn set(&mut self, name: &str, value: &str) -> Result<(), ParameterError> {
        let name = known(name, Parameters::NAMES)?;
        let value = number(name, value)?;
        within(name, value, 0.0..=100.0).map(|()| self.least = value as u32)
    }
}

impl Redundancy for Toy {
    fn on_report(&mut self, report: &LossReport) {
        self.lost = report.lost;
    }

    fn repair(&self) -> u32 {
        self.lost.clamp(self.parameters.least, 100)
    }

    fn bounds(&self) -> (f64, f64) {
        (self.parameters.least.into(), 100.0)
    }
}

impl Probe for Toy {
    fn probe(&self, visit: &mut Visitor<'_>) {
        visit("repair", self.repair().into());
    }
}

impl Entry<()> for Toy {
    const NAME: &'static str = "toy";
    const ABOUT: &'static str = "as many packets as were lost before";
    type Parameters = Parameters;

    fn start(parameters: &Parameters, _config: &()) -> Result<Toy, ParameterError> {
        Ok(Toy { parameters: *parameters, lost: 0 })
    }
}
