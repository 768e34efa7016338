//! Retransmission alone: what was lost is sent again, and nothing else is ever sent twice.

use super::{Decision, Schedule, View};
use crate::probe::{Probe, Visitor};

/// The earliest original that was lost and of which no copy is under way; else a new one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Arq;

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
    /// There is nothing inside.
    fn probe(&self, _visit: &mut Visitor<'_>) {}
}
