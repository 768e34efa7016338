//! Claims that prove nothing of GENEVA where they hold.

use super::{Court, FWND};
use crate::paper::claim::Aside;

/// A mean window that is nearer than this to Fwnd_min is that of static repair, packets.
const OF_STATIC_8: f64 = 0.05;

/// Claims with a part about DP-FEC, of which there is a stand-in alone.
const ON_STAND_IN: [&str; 9] = ["G-8d2", "G-8c1", "G-8a2", "G-9d2", "G-9c1", "G-T1d", "G-T1f", "G-T2b", "G-A1"];

/// Claims that GENEVA is like static 8 at 100 ms, or opens its window no further.
const LIKE_STATIC_8: [&str; 2] = ["G-9d1", "G-9c2"];

impl Court<'_> {
    /// Why a claim does not count where it holds, if it does not.
    pub(super) fn aside(&self, claim: &str) -> Option<Aside> {
        if ON_STAND_IN.contains(&claim) {
            return Some(Aside::StandIn);
        }
        (LIKE_STATIC_8.contains(&claim) && self.is_static_8_at_100()).then_some(Aside::Vacuous)
    }

    /// Returns whether its windows at 100 ms, beside long-lived TCP, never leave 8 packets.
    fn is_static_8_at_100(&self) -> bool {
        let mut windows = self.results.plan().long(100).flat_map(|at| self.streams(at, self.geneva, FWND));
        windows.all(|window| window < 8.0 + OF_STATIC_8)
    }
}
