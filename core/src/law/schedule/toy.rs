//! The example of a schedule that is added to its family: this file, and its lines in `schedule.rs`.
//! Unlike ARQ it sends new originals before it retransmits lost ones.

use super::{Config, Decision, ParameterError, Schedule, View};
use crate::law::registry::Entry;
use crate::probe::{Probe, Visitor};

/// A new original; if none waits, the earliest lost one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Toy;

impl Schedule for Toy {
    fn choose(&mut self, view: &View<'_>) -> Decision {
        match view.queue.first_missing() {
            _ if view.queue.m() > 0 => Decision::NEW,
            Some(original) => Decision::resend(original),
            None => Decision::IDLE,
        }
    }
}

impl Probe for Toy {
    fn probe(&self, _visit: &mut Visitor<'_>) {}
}

impl Entry<Config> for Toy {
    const NAME: &'static str = "toy";
    const ABOUT: &'static str = "new packets before lost ones";
    type Parameters = ();

    fn start(_parameters: &(), _config: &Config) -> Result<Toy, ParameterError> {
        Ok(Toy)
    }
}
