//! The example of a window law that is added to its family: this file, and its lines in `window.rs`.
//! The window never changes.

use super::{Acked, Config, CongestionWindow, ParameterError};
use crate::law::registry::Entry;
use crate::probe::{Probe, Visitor};
use crate::time::Time;

/// The initial window for ever.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Toy(Config);

impl CongestionWindow for Toy {
    fn on_ack(&mut self, _acked: &Acked) {}

    fn on_loss(&mut self, _now: Time, _flight: u32) {}

    fn on_recovered(&mut self, _now: Time) {}

    fn on_timeout(&mut self, _now: Time, _flight: u32, _again: bool) {}

    fn cwnd(&self) -> f64 {
        self.0.start.iw.into()
    }

    fn ssthresh(&self) -> f64 {
        self.0.start.ssthresh
    }
}

impl Probe for Toy {
    fn probe(&self, visit: &mut Visitor<'_>) {
        visit("cwnd", self.cwnd());
    }
}

impl Entry<Config> for Toy {
    const NAME: &'static str = "toy";
    const ABOUT: &'static str = "a window that never changes";
    type Parameters = ();

    fn start(_parameters: &(), config: &Config) -> Result<Toy, ParameterError> {
        Ok(Toy(*config))
    }
}
