//! No repair at all: plain UDP, the first baseline of GENEVA §2.2.

use super::{LossReport, Redundancy};
use crate::probe::{Probe, Visitor};

/// Sends the source packets and nothing else.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct None;

impl Redundancy for None {
    fn on_report(&mut self, _report: &LossReport) {}

    fn repair(&self) -> u32 {
        0
    }
}

impl Probe for None {
    fn probe(&self, visit: &mut Visitor<'_>) {
        visit("repair", 0.0);
    }
}
