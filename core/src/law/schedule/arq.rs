//! Retransmission alone: only lost originals are sent again.

use super::{Config, Decision, ParameterError, Schedule, View};
use crate::law::registry::Entry;
use crate::probe::{Probe, Visitor};

/// Sends the earliest lost original of which no copy is in flight; else a new one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Arq;

impl Entry<Config> for Arq {
    const NAME: &'static str = "arq";
    const ABOUT: &'static str = "retransmits lost packets only";
    type Parameters = ();

    fn start(_parameters: &(), _config: &Config) -> Result<Arq, ParameterError> {
        Ok(Arq)
    }
}

impl Schedule for Arq {
    fn choose(&mut self, view: &View<'_>) -> Decision {
        match view.queue.first_missing() {
            Some(original) => Decision::resend(original),
            None if view.queue.m() > 0 => Decision::NEW,
            None => Decision::IDLE,
        }
    }
}

impl Probe for Arq {
    /// Shows nothing: there is no state.
    fn probe(&self, _visit: &mut Visitor<'_>) {}
}
