//! The default and the competitive mode, and delta (§2.2).
//!
//! Copa flows on their own empty the queue every five round trips. A queue that has not been nearly empty for that long
//! is filled by a loss-based flow, which takes all capacity from any flow that yields to delay: Copa then behaves like
//! it.

use core::cmp::Reverse;

use crate::time::{Span, Time};
use crate::windowed_min::SlidingMin;

/// 1 / delta of the default mode (§2.2, delta = 0.5): a flow's target number of packets in the queue.
pub const PACKETS: f64 = 2.0;
/// Round trips within which the queue must have been nearly empty once.
// Deviation(Copa §2.2): one more than the paper's five, which are exactly the length of the equilibrium's cycle (§3).
const CYCLE: u64 = 5 + 1;
/// Round trips over which RTTmax is measured (§2.2).
const PAST: u64 = 4;
/// The queue is nearly empty below a tenth of its recent height (§2.2): d_q < 0.1 (RTTmax - RTTmin).
const NEARLY: u64 = 10;
/// Round trips of a withdrawal test: one until it takes effect, one to observe it, one for flows that start later.
const QUESTION: u32 = 3;

/// The mode, and its 1 / delta.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Mode {
    competes: bool,
    packets: f64,
    since: Option<Time>,
    lowest: SlidingMin<Span>,
    highest: SlidingMin<Reverse<Span>>,
    /// The minimum time between two packets of this flow.
    closest: SlidingMin<Span>,
    /// RTTmax - RTTmin.
    height: Span,
    /// True if a loss has already reduced 1 / delta in this round trip.
    lost: bool,
    /// Round trips left of a withdrawal test.
    asks: u32,
    /// The height at which the next withdrawal test starts.
    due: Span,
}

/// The change of the window at the end of a round trip.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Turn {
    /// No change.
    Stay,
    /// Removes this flow's packets from the queue.
    Withdraw,
    /// Returns to the size before the withdrawal: another flow's queue remains.
    Return,
}

impl Mode {
    pub(super) fn new() -> Mode {
        Mode {
            competes: false,
            packets: PACKETS,
            since: None,
            lowest: SlidingMin::new(),
            highest: SlidingMin::new(),
            closest: SlidingMin::new(),
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

    /// True during a withdrawal test.
    pub(super) fn asks(&self) -> bool {
        self.asks > 0
    }

    /// True in the competitive mode.
    pub(super) fn competes(&self) -> bool {
        self.competes
    }

    /// Takes a round trip and updates the mode. `gap` is the time between two packets of this flow.
    pub(super) fn sample(&mut self, now: Time, rtt: Span, rtt_min: Span, srtt: Span, gap: Span) {
        let lowest = self.lowest.update(now, rtt, srtt * CYCLE).saturating_sub(rtt_min);
        let Reverse(highest) = self.highest.update(now, Reverse(rtt), srtt * PAST);
        self.height = highest.saturating_sub(rtt_min);
        let closest = self.closest.update(now, gap, srtt * CYCLE);
        let knows = now.since(*self.since.get_or_insert(now)) >= srtt * CYCLE;
        // Deviation(Copa §2.2): a queue with less than one packet of this flow in it is nearly empty, too. The paper's
        // queue is a fluid; one of packets, 2.5 / delta of them high, is hardly ever below a tenth of that.
        let competes = knows && lowest * NEARLY > self.height && lowest > closest;
        if competes != self.competes {
            // §2.2: back in the default mode delta is 0.5 again. The paper does not give AIMD's initial value.
            *self = Mode { competes, packets: PACKETS, lost: false, asks: 0, ..self.clone() };
            self.due = (rtt_min / 4).max(Span::from_nanos(1));
        }
    }

    /// Ends a round trip: additive increase of 1 / delta (§2.2), or a withdrawal test.
    ///
    /// Several Copa flows that mistake each other for buffer-filling flows would drive up each other's 1 / delta, since
    /// queues that are long compared with the path no longer empty by themselves (§3). A withdrawal test finds out
    /// whose queue it is: at heights that all flows see at the same time, each withdraws its packets. If there are no
    /// others, the queue is empty, and the mode ends.
    pub(super) fn end_round_trip(&mut self) -> Turn {
        if !self.competes {
            return Turn::Stay;
        }
        if self.asks() {
            self.asks -= 1;
            return if self.asks == 0 { Turn::Return } else { Turn::Stay };
        }
        if self.height > self.due {
            // Deviation(Copa §2.2): the paper relies on queues emptying by themselves.
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

    /// Takes a loss: multiplicative decrease of 1 / delta (§2.2), without effect in the default mode.
    pub(super) fn lose(&mut self) {
        if self.competes && !self.lost {
            // The minimum is that of the default mode; the paper names none.
            self.packets = (self.packets / 2.0).max(PACKETS);
            self.lost = true;
        }
    }
}
