//! No repair: plain UDP, the first baseline of GENEVA §2.2.

use super::{LossReport, ParameterError, Redundancy};
use crate::law::registry::Entry;
use crate::probe::{Probe, Visitor};

/// Sends only the source packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct None;

impl Redundancy for None {
    fn on_report(&mut self, _report: &LossReport) {}

    fn repair(&self) -> u32 {
        0
    }

    fn bounds(&self) -> (f64, f64) {
        (0.0, 0.0)
    }

    fn is_none(&self) -> bool {
        true
    }
}

impl Entry<()> for None {
    const NAME: &'static str = "none";
    const ABOUT: &'static str = "no repair";
    type Parameters = ();

    fn start(_parameters: &(), _config: &()) -> Result<None, ParameterError> {
        Ok(None)
    }
}

impl Probe for None {
    fn probe(&self, visit: &mut Visitor<'_>) {
        visit("repair", 0.0);
    }
}
