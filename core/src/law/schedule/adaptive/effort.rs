//! Windows of many originals are reckoned as often as bounded work allows. In between what waits goes, and where nothing waits
//! all is repaired until it is decodable with enough probability, as far as that follows from what was reckoned and what left since
//! then; but what was found to be lost since then, and nothing replaces, goes first.

use super::super::{Choice, Decision, View};
use super::{Decodability, LARGEST, LIKELY, doubt};

/// The work that an opportunity allows, and what came of the last.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Effort {
    /// Values of [`super::Decodability::work`] that an opportunity allows at most; without a bound if there is none.
    most: Option<u64>,
    /// What is owed for the last reckoning.
    owed: u64,
    /// Losses that were known to it.
    missing: usize,
    /// The probability that all of B..D is decodable, followed since then without what was heard.
    p_all: f64,
    /// Part that one more combination leaves of the probability that something is missing.
    left: f64,
    /// Effect of one packet against that probability, and the part of it that one more combination leaves.
    doubt: f64,
    fading: f64,
}

/// Values that take about 15 us.
const MOST: u64 = 4096;
/// Values of an eighth of a second: a choice may take an eighth of the time that its packet takes.
const AN_EIGHTH: f64 = 32e6;

impl Default for Effort {
    fn default() -> Effort {
        Effort { most: Some(MOST), ..Effort::BOUNDLESS }
    }
}

impl Effort {
    pub(super) const BOUNDLESS: Effort =
        Effort { most: None, owed: 0, missing: 0, p_all: 1.0, left: 1.0, doubt: 0.0, fading: 1.0 };

    /// One more opportunity: whether the window may be reckoned.
    pub(super) fn suffices(&mut self, view: &View<'_>) -> bool {
        let allowed = ((view.path.slot.as_secs_f64() * AN_EIGHTH) as u64).max(1);
        self.owed = self.most.map_or(0, |most| self.owed.saturating_sub(allowed.min(most)));
        self.missing = self.missing.min(view.queue.missing());
        self.owed == 0
    }

    /// The window was reckoned.
    pub(super) fn spent(&mut self, work: usize, view: &View<'_>, now: &Decodability) {
        self.owed = work as u64;
        self.missing = view.queue.missing();
        self.p_all = now.p_all();
        self.left = (1.0 - now.p_all_repaired()) / (1.0 - now.p_all()).max(f64::MIN_POSITIVE);
        self.doubt = doubt(now.p_all(), now.q());
        let repaired = doubt(now.p_all_repaired(), now.q_repaired(now.candidates() - 1));
        self.fading = (repaired / self.doubt.max(f64::MIN_POSITIVE)).min(1.0);
    }

    /// `decision` was taken: what it makes of the probability that all is decodable.
    pub(super) fn took(&mut self, decision: &Decision, eps: f64) {
        match decision.choice {
            Choice::New => {
                self.p_all *= 1.0 - eps;
                self.doubt = 1.0 - (1.0 - self.doubt) * (1.0 - eps);
            }
            Choice::Repair { .. } => {
                self.p_all = 1.0 - (1.0 - self.p_all) * self.left;
                self.doubt *= self.fading;
            }
            Choice::Resend { .. } | Choice::Idle => {}
        }
    }

    /// What stands while work is owed.
    pub(super) fn stands(&self, view: &View<'_>, sure: f64, is_allowed: impl Fn(f64) -> bool) -> Decision {
        let queue = view.queue;
        let covered = queue.coded_in_flight() + queue.coded_arrived();
        if queue.missing() > self.missing && queue.missing() as u64 > covered {
            return queue.first_missing().map_or(Decision::IDLE, Decision::resend);
        }
        if queue.m() > 0 {
            Decision::NEW
        } else if (self.p_all < LIKELY || self.doubt >= 1.0 - sure) && queue.n() <= LARGEST && is_allowed(self.p_all) {
            Decision::repair(queue, queue.d() - 1, self.p_all)
        } else {
            Decision::IDLE
        }
    }
}
