//! The paper's estimate of the loss rate (§II-D): eps <- eta eps + (1 - eta) eps_W after each outcome, eps_W being the
//! loss among the last outcomes, in the order in which the packets were sent.

use std::collections::VecDeque;

use super::ParameterError;
use super::parameter;
use crate::probe::{Probe, Visitor};

/// eta: the weight of the old estimate. §II-D.
const ETA: f64 = 0.9;
/// The bounds of estimates, so that no packet is certain to arrive, nor to be lost.
pub const BOUNDS: core::ops::RangeInclusive<f64> = 0.001..=0.99;

/// An estimate of the loss rate.
#[derive(Clone, PartialEq, Debug)]
pub struct LossRate {
    eps: f64,
    window: usize,
    /// The last outcomes, the newest last: true if the packet was lost.
    outcomes: VecDeque<bool>,
    lost: usize,
}

impl LossRate {
    /// The window of the paper's example trace (Fig. 12).
    pub const WINDOW: usize = 32;

    /// An estimate that is `prior` until the first outcome, from windows of `window` outcomes, 1 to 65536.
    ///
    /// # Errors
    /// `window` or `prior`, which is a probability, is out of its range.
    pub fn new(prior: f64, window: usize) -> Result<LossRate, ParameterError> {
        parameter::within("prior", prior, 0.0..=1.0)?;
        parameter::within("window", window as f64, 1.0..=65536.0)?;
        Ok(LossRate { eps: bounded(prior), window, outcomes: VecDeque::with_capacity(window), lost: 0 })
    }

    /// Takes the outcome of the next packet.
    pub fn outcome(&mut self, lost: bool) {
        if self.outcomes.len() == self.window {
            self.lost -= usize::from(self.outcomes.pop_front() == Some(true));
        }
        self.outcomes.push_back(lost);
        self.lost += usize::from(lost);
        self.eps = bounded(ETA * self.eps + (1.0 - ETA) * self.lost as f64 / self.outcomes.len() as f64);
    }

    /// The probability that a packet is lost.
    pub fn eps(&self) -> f64 {
        self.eps
    }
}

impl Probe for LossRate {
    /// Shows `eps`.
    fn probe(&self, visit: &mut Visitor<'_>) {
        visit("eps", self.eps);
    }
}

/// `eps` within [`BOUNDS`].
pub(super) fn bounded(eps: f64) -> f64 {
    eps.clamp(*BOUNDS.start(), *BOUNDS.end())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(outcomes: impl IntoIterator<Item = bool>, prior: f64, window: usize) -> f64 {
        let mut rate = LossRate::new(prior, window).expect("in range");
        outcomes.into_iter().for_each(|lost| rate.outcome(lost));
        rate.eps()
    }

    /// By hand: .9 x .1 + .1 x 1 = .19, then .9 x .19 + .1 x 1/2 = .221.
    #[test]
    fn estimate_follows_the_papers_recursion() {
        assert!((after([true], 0.1, 32) - 0.19).abs() < 1e-15);
        assert!((after([true, false], 0.1, 32) - 0.221).abs() < 1e-15);
    }

    /// Losses at even intervals are estimated exactly.
    #[test]
    fn evenly_spaced_losses_are_estimated_exactly() {
        let every_tenth = |nth: usize| nth.is_multiple_of(10);
        assert!((after((0..1000).map(every_tenth), 0.5, 100) - 0.1).abs() < 1e-9);
    }

    #[test]
    fn estimate_stays_between_its_bounds() {
        assert_eq!(after([false; 500], 0.0, 32), 0.001);
        assert_eq!(after([true; 500], 1.0, 32), 0.99);
    }

    #[test]
    fn outcomes_outside_the_window_are_forgotten() {
        let outcomes = [true; 8].into_iter().chain([false; 200]);
        assert_eq!(after(outcomes, 0.1, 8), 0.001);
    }
}
