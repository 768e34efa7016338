//! Who else is there, and how hard to push (§2.2).
//!
//! Flows of Copa alone empty the queue every five round trips. A queue that has not been nearly empty for as long is
//! filled by somebody who looks for loss, and who takes everything from whoever yields to delay: Copa then does as he does.

use super::recent::Recent;
use crate::time::{Span, Time};

/// 1 / delta of the default mode (§2.2, delta = 0.5): packets that a flow wants to have in the queue.
pub const PACKETS: f64 = 2.0;
/// Round trips within which the queue must have been nearly empty once.
// Deviation(Copa §2.2): one more than the paper's five, which are just how long the equilibrium's cycle is (§3).
const CYCLE: u64 = 5 + 1;
/// Round trips that RTTmax is measured over (§2.2).
const PAST: u64 = 4;
/// The queue is nearly empty below a tenth of its recent height (§2.2): d_q < 0.1 (RTTmax - RTTmin).
const NEARLY: u64 = 10;
/// Round trips that a question lasts: one until the answer can come, one for it, one for flows that ask a bit later.
const QUESTION: u32 = 3;

/// The mode, and the 1 / delta that goes with it.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Mode {
    competes: bool,
    packets: f64,
    since: Option<Time>,
    lowest: Recent,
    highest: Recent,
    /// The least time between two packets of this flow.
    closest: Recent,
    /// RTTmax - RTTmin.
    height: Span,
    /// Whether a loss was answered in this round trip.
    lost: bool,
    /// Round trips that are left of a question.
    asks: u32,
    /// The height at which the next question is due.
    due: Span,
}

/// What the end of a round trip asks of the window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Turn {
    /// Nothing.
    Stay,
    /// To take out of the queue what this flow has in it.
    Withdraw,
    /// To go back to what it was: somebody else's queue is still there.
    Return,
}

impl Mode {
    pub(super) fn new() -> Mode {
        Mode {
            competes: false,
            packets: PACKETS,
            since: None,
            lowest: Recent::least(),
            highest: Recent::greatest(),
            closest: Recent::least(),
            height: Span::ZERO,
            lost: false,
            asks: 0,
            due: Span::ZERO,
        }
    }

    /// 1 / delta.
    pub(super) fn packets(&self) -> f64 {
        if self.asks() { PACKETS } else { self.packets }
    }

    /// Whether a question is open.
    pub(super) fn asks(&self) -> bool {
        self.asks > 0
    }

    /// Whether this is the competitive mode.
    pub(super) fn competes(&self) -> bool {
        self.competes
    }

    /// Takes a round trip, and says which mode it is from now on. `gap` is the time between two packets of this flow.
    pub(super) fn sample(&mut self, now: Time, rtt: Span, rtt_min: Span, srtt: Span, gap: Span) {
        let lowest = self.lowest.update(now, rtt, srtt * CYCLE).saturating_sub(rtt_min);
        self.height = self.highest.update(now, rtt, srtt * PAST).saturating_sub(rtt_min);
        let closest = self.closest.update(now, gap, srtt * CYCLE);
        let knows = now.since(*self.since.get_or_insert(now)) >= srtt * CYCLE;
        // Deviation(Copa §2.2): a queue with less than one packet of this flow in it is nearly empty, too. The paper's queue
        // is a fluid; one of packets, whose height is 2.5 / delta of them, is hardly ever below a tenth of that.
        let competes = knows && lowest * NEARLY > self.height && lowest > closest;
        if competes != self.competes {
            // §2.2: on the way back delta is 0.5 again. Where AIMD sets out from the paper does not say.
            *self = Mode { competes, packets: PACKETS, lost: false, asks: 0, ..self.clone() };
            self.due = (rtt_min / 4).max(Span::from_nanos(1));
        }
    }

    /// A round trip is over: additive increase of 1 / delta (§2.2), or a question.
    ///
    /// Several flows of Copa that take each other for buffer fillers would drive each other on, since queues that are
    /// long beside the path no longer empty by themselves (§3). So they ask whose queue it is: all withdraw what they
    /// have in it, at heights that all see at the same time. If that was all, it is empty, and the mode ends.
    pub(super) fn end_round_trip(&mut self) -> Turn {
        if !self.competes {
            return Turn::Stay;
        }
        if self.asks() {
            self.asks -= 1;
            return if self.asks == 0 { Turn::Return } else { Turn::Stay };
        }
        if self.height > self.due {
            // Deviation(Copa §2.2): the paper trusts that queues empty by themselves.
            self.asks = QUESTION;
            while self.due <= self.height {
                self.due = self.due * 2;
            }
            return Turn::Withdraw;
        }
        if !self.lost {
            self.packets += 1.0;
        }
        self.lost = false;
        Turn::Stay
    }

    /// A packet was lost: multiplicative decrease of 1 / delta (§2.2), and nothing at all in the default mode.
    pub(super) fn lose(&mut self) {
        if self.competes && !self.lost {
            // The least is what the default mode wants; the paper names none.
            self.packets = (self.packets / 2.0).max(PACKETS);
            self.lost = true;
        }
    }
}
