//! Bounded work: large windows are evaluated less often than there are opportunities.
//!
//! Each original that leaves pays for a part of the last evaluation. Until all of it is paid for, originals that are newly
//! known to be lost are sent again, and combinations leave at a steady rate. Each evaluation corrects that rate, by the square
//! root of worth over price: below the price it falls, above it rises. Where the worth is far below the price, the next evaluation
//! waits for longer, or for a loss.

use super::super::{Decision, Queue};
use crate::time::Span;

/// Values of the recursion that one original pays for, for each second of a slot: a sixteenth of the time between two
/// originals, at 3 ns a value.
const A_SIXTEENTH: f64 = 1e9 / 3.0 / 16.0;

/// The least and the greatest rate, in combinations per original. Ours: from the least, ten evaluations reach one in ten.
const RATES: (f64, f64) = (1e-4, 1.0);

/// The greatest factor by which one evaluation changes the rate. Ours: more overshoots, since packets in flight are not
/// seen in the worth before they have left.
const MOST: f64 = 2.0;

/// The factor by which evaluations are rarer where nothing is lost, nor worth an eighth of the price. Ours: a path without loss
/// costs less than a hundredth of the time.
const RARELY: f64 = 8.0;
/// The least time to the next evaluation there, and the part of the time for repair that it may take. Ours: at 100 Mb/s 10 ms
/// leave the law 3 % of a sender's time.
const IDLE: (Span, u64) = (Span::from_millis(10), 8);

/// The work of an evaluation, in values of the recursion, that is not paid for: some 20 us. Ours: windows of 100 originals are
/// below, so that streams of 10 Mb/s at a round trip of 100 ms have each choice evaluated that may be worth the price.
const SMALL: f64 = 6500.0;

/// The account of work.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Effort {
    owed: f64,
    /// Work that is to be paid for in addition while nothing is lost.
    idle: f64,
    /// Combinations per original.
    rate: f64,
    /// Combinations that are due.
    due: f64,
    /// The first original that was not sent at the last opportunity.
    next: u64,
}

impl Effort {
    pub(super) fn new() -> Effort {
        Effort { owed: 0.0, idle: 0.0, rate: RATES.0, due: 0.0, next: 0 }
    }

    /// Pays for an opportunity; true if the window may be evaluated.
    pub(super) fn suffices(&mut self, queue: &Queue, slot: Span) -> bool {
        let originals = queue.d().saturating_sub(self.next);
        self.owed -= slot.as_secs_f64() * A_SIXTEENTH * originals.max(1) as f64;
        self.next = queue.d();
        self.due = (self.due + self.rate * originals as f64).min(2.0);
        self.owed <= 0.0 && (queue.missing() > 0 || self.owed + self.idle <= 0.0)
    }

    /// Takes the work of an evaluation, the worth of the best packet over the price, and the time for repair.
    pub(super) fn spent(&mut self, work: usize, worth: f64, budget: Span) {
        let work = work as f64;
        self.owed = (work - SMALL).max(0.0);
        let least = if worth * RARELY < 1.0 { IDLE.0.min(budget / IDLE.1).as_secs_f64() * A_SIXTEENTH } else { 0.0 };
        self.idle = (work * (1.0 / worth.clamp(1.0 / RARELY, 1.0) - 1.0)).max(least);
        let factor = libm::sqrt(worth).clamp(1.0 / MOST, MOST);
        self.rate = (self.rate * factor).clamp(RATES.0, RATES.1);
    }

    /// The decision while work is owed.
    pub(super) fn decide(&mut self, queue: &Queue) -> Decision {
        if let Some(original) = queue.first_missing() {
            return Decision::resend(original);
        }
        if self.due < 1.0 || queue.n() == 0 {
            return Decision::IDLE;
        }
        self.due -= 1.0;
        Decision::repair(queue, queue.b() + queue.n().min(super::LARGEST) as u64 - 1, 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::Next;
    use super::*;

    fn sent(originals: usize) -> Queue {
        let mut queue = Queue::new(0);
        for l in 0..originals as u64 {
            queue.push(crate::time::Time::ZERO);
            queue.sent(&super::super::super::Coded { first: l, last: l, p_useless: 0.0 });
        }
        queue
    }

    #[test]
    fn evaluation_is_paid_for_by_later_opportunities() {
        let (mut effort, queue) = (Effort::new(), sent(10));
        let slot = Span::from_micros(48);
        assert!(effort.suffices(&queue, slot));
        // 48 us hold 1000 values in a sixteenth.
        effort.spent(16_500, 1.0, Span::ZERO);
        let opportunities = (1..).find(|_| effort.suffices(&queue, slot)).expect("it ends");
        assert_eq!(opportunities, 10);
    }

    #[test]
    fn combinations_leave_at_a_rate_that_worth_corrects() {
        let mut effort = Effort::new();
        // From 1e-4, ten times the greatest factor.
        (0..10).for_each(|_| effort.spent(1_000_000, 100.0, Span::ZERO));
        let mut repairs = 0;
        for originals in 1..=1000 {
            let queue = sent(originals);
            assert!(!effort.suffices(&queue, Span::from_micros(1)));
            repairs += usize::from(matches!(effort.decide(&queue).next, Next::Repair { .. }));
        }
        assert_eq!(repairs, 1000 * 1024 / 10_000);
        (0..20).for_each(|_| effort.spent(1_000_000, 0.0, Span::ZERO));
        assert_eq!(effort.rate, RATES.0);
    }

    #[test]
    fn known_loss_is_sent_again_without_an_evaluation() {
        let (mut effort, mut queue) = (Effort::new(), sent(10));
        effort.spent(1_000_000, 0.0, Span::ZERO);
        queue.lost(&super::super::super::Coded { first: 3, last: 3, p_useless: 0.0 });
        assert!(!effort.suffices(&queue, Span::from_micros(1)));
        assert_eq!(effort.decide(&queue), Decision::resend(3));
    }
}
