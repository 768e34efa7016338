//! How often packets are lost, and in what bursts.
//!
//! A loss counts at once, since what is under way is decided by it. It is taken for one because its acknowledgement is overdue,
//! and may come after all: then the estimates are made anew from the last outcome that cannot change any more, and are what they
//! would be had it never been taken for lost.

use crate::law::ParameterError;
use crate::law::schedule::gilbert_elliott::GilbertElliott;
use crate::law::schedule::loss::{BOUNDS, LossRate};

/// The loss rate that is believed before there was an outcome.
const PRIOR: f64 = 0.01;
/// The loss rate is that of so many packets: with the 32 of the paper's figure an estimate of 5 % is off by 4 % in a third of
/// all cases, and too little is repaired.
pub(super) const OUTCOMES: usize = 256;
/// From so many outcomes on they weigh more in both estimates than what was believed before: 0.9^7 < 1/2, and seven of 8 packets.
const KNOWN: u64 = 8;
/// A path that never lost anything may do so with this probability.
const LEAST: f64 = 1e-6;

/// What is known of losses, and what of it cannot change any more.
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

    /// Takes note of how many packets are in flight.
    pub(super) fn in_flight(&mut self, packets: u32) {
        for estimate in [&mut self.known, &mut self.settled] {
            estimate.bursts.in_flight(packets);
        }
    }

    /// The next packet, in the order of sending, was lost, or was not, as far as is known.
    pub(super) fn outcome(&mut self, lost: bool) {
        self.known.outcome(lost);
    }

    /// The first outcome that may have changed, lost or not, will not change any more.
    pub(super) fn settle(&mut self, lost: bool) {
        self.settled.outcome(lost);
    }

    /// Takes all back that is not settled.
    pub(super) fn take_back(&mut self) {
        self.known = self.settled.clone();
    }

    /// The probability that a packet is lost. Estimates end at a thousandth, which is far too much where nothing is ever
    /// lost: there it is one in the packets since the last loss.
    pub(super) fn eps(&self) -> f64 {
        let (eps, clean) = (self.known.rate.eps(), self.known.clean);
        if eps > *BOUNDS.start() { eps } else { eps.min(1.0 / clean.max(1) as f64).max(LEAST) }
    }

    /// Whether that is a measurement more than a belief.
    pub(super) fn is_known(&self) -> bool {
        self.known.outcomes >= KNOWN
    }

    /// Whether anything was ever lost.
    pub(super) fn has_lost(&self) -> bool {
        self.known.clean < self.known.outcomes
    }

    pub(super) fn bursts(&self) -> &GilbertElliott {
        &self.known.bursts
    }
}

/// The estimate that decisions are made with (S. Mehrotra, J. Li, Y. Huang, §II-D), and beside it one that knows bursts.
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
    fn what_never_loses_is_trusted_more_and_more() {
        let mut losses = Losses::new().expect("in range");
        (0..100_000).for_each(|_| losses.outcome(false));
        assert_eq!(losses.eps(), 1e-5);
        losses.outcome(true);
        assert!(losses.eps() > 1e-4, "{}", losses.eps());
    }

    #[test]
    fn a_belief_is_no_measurement() {
        let mut losses = Losses::new().expect("in range");
        (1..KNOWN).for_each(|_| losses.outcome(false));
        assert!(!losses.is_known() && !losses.has_lost());
        losses.outcome(false);
        assert!(losses.is_known() && !losses.has_lost());
        losses.outcome(true);
        assert!(losses.has_lost());
    }

    #[test]
    fn one_in_twenty_is_known_to_a_hundredth() {
        let mut losses = Losses::new().expect("in range");
        (0..2_000).for_each(|nth| losses.outcome(nth % 20 == 7));
        assert!((losses.eps() - 0.05).abs() < 0.01 && (losses.bursts().eps() - 0.05).abs() < 0.01);
        assert!((losses.bursts().burst() - 1.0).abs() < 0.05);
    }
}
