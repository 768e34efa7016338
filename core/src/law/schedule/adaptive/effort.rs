//! Windows of many originals are evaluated as often as bounded work allows. In between waiting originals are sent, and
//! if none waits, repair for all originals until they are decodable with enough probability, estimated from the last
//! evaluation and the packets sent since then; but losses found since then that no combination replaces go first.

use super::super::{Decision, Next, View};
use super::{Decodability, LARGEST, LIKELY, repair_value};

/// The work allowed per opportunity, and the results of the last evaluation.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Effort {
    /// The work allowed per opportunity, in the unit of [`super::Decodability::work`]; none if unbounded.
    most: Option<u64>,
    /// The work of the last evaluation that opportunities have not covered yet.
    uncovered_work: u64,
    /// Losses known at that evaluation.
    missing: usize,
    /// The probability that all of B..D is decodable, updated since then with packets sent, but not with
    /// acknowledgements.
    p_all: f64,
    /// The factor by which one more combination reduces the probability that something is missing.
    left: f64,
    /// The result of [`repair_value`], and the factor by which one more combination reduces it.
    repair_value: f64,
    fading: f64,
}

/// Values computed in about 15 us.
const MOST: u64 = 4096;
/// Values computed in an eighth of a second: a choice may take an eighth of its packet's time.
const AN_EIGHTH: f64 = 32e6;

impl Default for Effort {
    fn default() -> Effort {
        Effort { most: Some(MOST), ..Effort::UNBOUNDED }
    }
}

impl Effort {
    pub(super) const UNBOUNDED: Effort =
        Effort { most: None, uncovered_work: 0, missing: 0, p_all: 1.0, left: 1.0, repair_value: 0.0, fading: 1.0 };

    /// Accounts for one more opportunity; true if the window may be evaluated.
    pub(super) fn suffices(&mut self, view: &View<'_>) -> bool {
        let allowed = ((view.path.slot.as_secs_f64() * AN_EIGHTH) as u64).max(1);
        self.uncovered_work = self.most.map_or(0, |most| self.uncovered_work.saturating_sub(allowed.min(most)));
        self.missing = self.missing.min(view.queue.missing());
        self.uncovered_work == 0
    }

    /// Records an evaluation of the window.
    pub(super) fn spent(&mut self, work: usize, view: &View<'_>, now: &Decodability) {
        self.uncovered_work = work as u64;
        self.missing = view.queue.missing();
        self.p_all = now.p_all();
        self.left = (1.0 - now.p_all_repaired()) / (1.0 - now.p_all()).max(f64::MIN_POSITIVE);
        self.repair_value = repair_value(now.p_all(), now.q());
        let repaired = repair_value(now.p_all_repaired(), now.q_repaired(now.candidates() - 1));
        self.fading = (repaired / self.repair_value.max(f64::MIN_POSITIVE)).min(1.0);
    }

    /// Applies `decision` to the probability that all is decodable.
    pub(super) fn took(&mut self, decision: &Decision, eps: f64) {
        match decision.next {
            Next::New => {
                self.p_all *= 1.0 - eps;
                self.repair_value = 1.0 - (1.0 - self.repair_value) * (1.0 - eps);
            }
            Next::Repair { .. } => {
                self.p_all = 1.0 - (1.0 - self.p_all) * self.left;
                self.repair_value *= self.fading;
            }
            Next::Resend { .. } | Next::Idle => {}
        }
    }

    /// The decision while work is owed.
    pub(super) fn stands(&self, view: &View<'_>, sure: f64, is_allowed: impl Fn(f64) -> bool) -> Decision {
        let queue = view.queue;
        let covered = queue.coded_in_flight() + queue.coded_arrived();
        if queue.missing() > self.missing && queue.missing() as u64 > covered {
            return queue.first_missing().map_or(Decision::IDLE, Decision::resend);
        }
        if queue.m() > 0 {
            Decision::NEW
        } else if (self.p_all < LIKELY || self.repair_value >= 1.0 - sure)
            && queue.n() <= LARGEST
            && is_allowed(self.p_all)
        {
            Decision::repair(queue, queue.d() - 1, self.p_all)
        } else {
            Decision::IDLE
        }
    }
}
