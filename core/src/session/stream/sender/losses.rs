//! Estimates of the loss rate and of loss bursts.
//!
//! A loss counts at once, since decisions about packets in flight depend on it. A packet is declared lost because its
//! acknowledgement is overdue, which may still arrive: then the estimates are computed anew from the last outcome that
//! can no longer change, and are the same as if the packet had never been declared lost.

use crate::law::ParameterError;
use crate::law::schedule::gilbert_elliott::GilbertElliott;
use crate::law::schedule::loss::{BOUNDS, LossRate};

/// The loss rate assumed before the first outcome. Ours: a higher rate wastes repair on the first burst, a lower one
/// leaves it unrepaired.
const PRIOR: f64 = 0.01;
/// The window of the loss rate, in packets. With the 32 of the paper's figure an estimate of 5 % is off by 4 % in a
/// third of all cases, and too little is repaired.
pub(super) const OUTCOMES: usize = 256;
/// The number of outcomes from which on estimates count as measured: the prior's weight is then 0.9^7 < 1/2 in the loss
/// rate, and seven transitions stand against its 8 packets in the model of bursts.
const KNOWN: u64 = 8;
/// The lowest loss probability: a path that never lost a packet may still lose one. Ours: 256 outcomes cannot show less
/// than 1/256, so the bound only keeps logarithms and quotients finite.
const LEAST: f64 = 1e-6;

/// The estimate from all known outcomes, and the one from those that can no longer change.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Losses {
    known: Estimate,
    settled: Estimate,
}

impl Losses {
    pub(super) fn new() -> Result<Losses, ParameterError> {
        let (rate, bursts) = (LossRate::new(PRIOR, OUTCOMES)?, GilbertElliott::new(PRIOR, GilbertElliott::MEMORY)?);
        let known = Estimate { rate, bursts, outcomes: 0, clean: 0 };
        Ok(Losses { settled: known.clone(), known })
    }

    /// Records the number of packets in flight.
    pub(super) fn in_flight(&mut self, packets: u32) {
        for estimate in [&mut self.known, &mut self.settled] {
            estimate.bursts.in_flight(packets);
        }
    }

    /// Adds the outcome of the next packet in the order of sending, as far as it is known.
    pub(super) fn outcome(&mut self, lost: bool) {
        self.known.outcome(lost);
    }

    /// Makes final the first outcome that could still change.
    pub(super) fn settle(&mut self, lost: bool) {
        self.settled.outcome(lost);
    }

    /// Discards all outcomes that are not final.
    pub(super) fn take_back(&mut self) {
        self.known = self.settled.clone();
    }

    /// The probability that a packet is lost. The estimator is never below a thousandth, which is far too much for a
    /// path that never loses packets: there it is one in the number of packets since the last loss.
    pub(super) fn eps(&self) -> f64 {
        let (eps, clean) = (self.known.rate.eps(), self.known.clean);
        if eps > *BOUNDS.start() { eps } else { eps.min(1.0 / clean.max(1) as f64).max(LEAST) }
    }

    /// True if the estimate is measured more than assumed.
    pub(super) fn is_known(&self) -> bool {
        self.known.outcomes >= KNOWN
    }

    /// True if any packet was lost.
    pub(super) fn has_lost(&self) -> bool {
        self.known.clean < self.known.outcomes
    }

    pub(super) fn bursts(&self) -> &GilbertElliott {
        &self.known.bursts
    }
}

/// The estimate used for decisions (S. Mehrotra, J. Li, Y. Huang, §II-D), and one that models bursts.
#[derive(Clone, PartialEq, Debug)]
struct Estimate {
    rate: LossRate,
    bursts: GilbertElliott,
    outcomes: u64,
    /// Outcomes since the last loss.
    clean: u64,
}

impl Estimate {
    fn outcome(&mut self, lost: bool) {
        self.rate.outcome(lost);
        self.bursts.outcome(lost);
        self.outcomes += 1;
        self.clean = if lost { 0 } else { self.clean + 1 };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimate_falls_while_no_packet_is_lost() {
        let mut losses = Losses::new().expect("in range");
        (0..100_000).for_each(|_| losses.outcome(false));
        assert_eq!(losses.eps(), 1e-5);
        losses.outcome(true);
        assert!(losses.eps() > 1e-4, "{}", losses.eps());
    }

    #[test]
    fn estimate_is_known_only_after_enough_outcomes() {
        let mut losses = Losses::new().expect("in range");
        (1..KNOWN).for_each(|_| losses.outcome(false));
        assert!(!losses.is_known() && !losses.has_lost());
        losses.outcome(false);
        assert!(losses.is_known() && !losses.has_lost());
        losses.outcome(true);
        assert!(losses.has_lost());
    }

    #[test]
    fn loss_of_one_in_twenty_is_estimated_within_one_percent() {
        let mut losses = Losses::new().expect("in range");
        (0..2_000).for_each(|nth| losses.outcome(nth % 20 == 7));
        assert!((losses.eps() - 0.05).abs() < 0.01 && (losses.bursts().eps() - 0.05).abs() < 0.01);
        assert!((losses.bursts().burst() - 1.0).abs() < 0.05);
    }
}
