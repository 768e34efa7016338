//! Claims that prove nothing about GENEVA even if they hold.

use super::{Evaluator, FWND};
use crate::claim::Qualification;

/// The largest distance of a mean window from Fwnd_min, in packets, that counts as static repair.
const OF_STATIC_8: f64 = 0.05;

/// Claims with a part about DP-FEC, of which only a stand-in is run.
const ON_STAND_IN: [&str; 9] = ["G-8d2", "G-8c1", "G-8a2", "G-9d2", "G-9c1", "G-T1d", "G-T1f", "G-T2b", "G-A1"];

/// Claims that GENEVA is like static 8 at 100 ms, or opens its window no further.
const LIKE_STATIC_8: [&str; 2] = ["G-9d1", "G-9c2"];

impl Evaluator<'_> {
    /// The reason that a claim does not count if it holds, if there is one.
    pub(in crate::geneva) fn qualification(&self, claim: &str) -> Option<Qualification> {
        if ON_STAND_IN.contains(&claim) {
            return Some(Qualification::StandIn);
        }
        (LIKE_STATIC_8.contains(&claim) && self.is_static_8_at_100()).then_some(Qualification::Vacuous)
    }

    /// True if its mean windows at 100 ms, beside long-lived TCP, stay at 8 packets.
    fn is_static_8_at_100(&self) -> bool {
        let mut windows = self.results.plan().long(100).flat_map(|at| self.streams(at, self.geneva(), FWND));
        windows.all(|window| window < 8.0 + OF_STATIC_8)
    }
}
