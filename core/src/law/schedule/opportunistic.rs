//! The opportunistic law ("no cost" in the paper's tables): Y. Huang, S. Mehrotra, J. Li, "A hybrid FEC-ARQ protocol for
//! low-delay lossless sequential data streaming", ICME 2009, as §IV describes it.
//!
//! What is known to be lost and what nothing under way can replace is sent again; else a new original; and when none
//! waits, every free opportunity takes a combination of all that was sent.

use super::{Decision, ParameterError, Queue, Schedule, View, parameter};
use crate::probe::{Probe, Visitor};

/// Repair in free opportunities alone.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Opportunistic {
    cap: Option<f64>,
}

impl Opportunistic {
    /// As the paper has it.
    pub fn new() -> Opportunistic {
        Opportunistic::default()
    }

    /// Leaves a free opportunity unused while combinations in flight are at least `cap` of what was sent and is in doubt.
    ///
    /// # Errors
    /// `cap` is not positive.
    pub fn capped(cap: f64) -> Result<Opportunistic, ParameterError> {
        parameter::within("cap", cap, parameter::positive(1e6))?;
        Ok(Opportunistic { cap: Some(cap) })
    }
}

impl Schedule for Opportunistic {
    fn choose(&mut self, view: &View<'_>) -> Decision {
        let queue = view.queue;
        match queue.first_missing() {
            Some(original) if is_short(queue) => Decision::resend(original),
            _ if queue.m() > 0 => Decision::NEW,
            _ if queue.n() == 0 || is_full(queue, self.cap) => Decision::IDLE,
            _ => Decision::repair(queue, queue.d() - 1, 0.0),
        }
    }
}

impl Probe for Opportunistic {
    /// Shows `cap`.
    fn probe(&self, visit: &mut Visitor<'_>) {
        visit("cap", self.cap.unwrap_or(f64::INFINITY));
    }
}

/// Whether there are combinations enough in flight.
pub(super) fn is_full(queue: &Queue, cap: Option<f64>) -> bool {
    cap.is_some_and(|cap| queue.coded_in_flight() as f64 >= cap * queue.n() as f64)
}

/// Whether something would still be missing if all that is in flight arrived.
fn is_short(queue: &Queue) -> bool {
    let deficiency = queue.in_doubt().fold(0, |deficiency: u64, place| {
        let covered = u64::from(place.coded) + u64::from(place.coded_arrived);
        (deficiency + u64::from(place.is_missing())).saturating_sub(covered)
    });
    deficiency > 0
}
