//! Repair by its worth: a schedule ([`crate::law::schedule::deadline`]) decides about each packet, and GENEVA's window
//! ([`super::geneva`]) is the most that it may send.

use super::geneva::{self, Geneva};
use super::{Interval, LossReport, ParameterError, Redundancy};
use crate::law::registry::{Entry, Scope};
use crate::law::schedule::deadline::Parameters;
use crate::probe::{Probe, Visitor};

/// GENEVA's window as a bound.
#[derive(Clone, PartialEq, Debug)]
pub struct Auto {
    bound: Geneva,
    deadline: Parameters,
}

impl Entry<()> for Auto {
    const NAME: &'static str = "auto";
    const ABOUT: &'static str = "resends and repair packets as far as each is worth its bytes, within geneva's bound";
    const SCOPE: Scope = Scope::Sessions;
    type Parameters = Parameters;

    fn start(parameters: &Parameters, _config: &()) -> Result<Auto, ParameterError> {
        parameters.check()?;
        Ok(Auto { bound: Geneva::new(geneva::Parameters::default())?, deadline: *parameters })
    }
}

impl Redundancy for Auto {
    fn on_report(&mut self, report: &LossReport) {
        self.bound.on_report(report);
    }

    fn repair(&self) -> u32 {
        self.bound.repair()
    }

    fn window(&self) -> f64 {
        self.bound.window()
    }

    fn bounds(&self) -> (f64, f64) {
        self.bound.bounds()
    }

    fn p_max(&self) -> f64 {
        self.bound.p_max()
    }

    fn interval(&self) -> Option<Interval> {
        self.bound.interval()
    }

    fn set_interval(&mut self, interval: Interval) -> Result<(), ParameterError> {
        self.bound.set_interval(interval)
    }

    fn w_tot(&self) -> Option<f64> {
        self.bound.w_tot()
    }

    fn deadline(&self) -> Option<Parameters> {
        Some(self.deadline)
    }
}

impl Probe for Auto {
    fn probe(&self, visit: &mut Visitor<'_>) {
        self.bound.probe(visit);
    }
}
