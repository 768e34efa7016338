//! A loss estimate that knows bursts: Gilbert's model (E. N. Gilbert, "Capacity of a Burst-Noise Channel", Bell System
//! Technical Journal 39, 1960; E. O. Elliott, the same journal, 42, 1963), fitted to the outcomes as they come.
//!
//! The channel is good, where nothing is lost, or bad, where everything is: a lost packet shows a bad state, so that the
//! state is seen and the fit is a count of transitions.
//!
//! | model | here |
//! |---|---|
//! | P, good to bad | `into` lost of `good` packets that follow one that arrived |
//! | p, bad to good | `out` arrived of `bad` packets that follow one that was lost |
//! | stationary loss P / (P + p) | [`GilbertElliott::eps`] |
//! | mean burst 1 / p | [`GilbertElliott::burst`] |
//!
//! Counts fade by 1 - 1 / `memory` with each outcome, so that a path that changes is followed.

use super::ParameterError;
use super::loss::bounded;
use super::parameter;
use crate::probe::{Probe, Visitor};

/// The model, fitted to what was seen last.
#[derive(Clone, PartialEq, Debug)]
pub struct GilbertElliott {
    keep: f64,
    good: f64,
    into: f64,
    bad: f64,
    out: f64,
    /// Whether the newest outcome is a loss.
    last: Option<bool>,
}

/// The weight of what is believed before anything is seen, packets.
const PRIOR: f64 = 8.0;

impl GilbertElliott {
    /// A model that believes in single losses with probability `prior` until it has seen more, and forgets over `memory`
    /// packets, at least 2.
    ///
    /// # Errors
    /// `prior` is not within 0.001..=0.99, or `memory` not within 2..=10⁹.
    pub fn new(prior: f64, memory: f64) -> Result<GilbertElliott, ParameterError> {
        parameter::within("prior", prior, super::loss::BOUNDS)?;
        parameter::within("memory", memory, 2.0..=1e9)?;
        let (good, bad) = (PRIOR * (1.0 - prior), PRIOR * prior);
        // Without bursts a loss is as likely after a loss as after an arrival.
        Ok(GilbertElliott {
            keep: 1.0 - 1.0 / memory,
            good,
            into: good * prior,
            bad,
            out: bad * (1.0 - prior),
            last: None,
        })
    }

    /// The next packet, in the order of sending, was lost, or was not.
    pub fn outcome(&mut self, lost: bool) {
        for count in [&mut self.good, &mut self.into, &mut self.bad, &mut self.out] {
            *count *= self.keep;
        }
        match self.last {
            Some(false) => {
                self.good += 1.0;
                self.into += f64::from(u8::from(lost));
            }
            Some(true) => {
                self.bad += 1.0;
                self.out += f64::from(u8::from(!lost));
            }
            None => {}
        }
        self.last = Some(lost);
    }

    /// The share of packets that is lost in the long run.
    pub fn eps(&self) -> f64 {
        bounded(self.to_bad() / (self.to_bad() + self.to_good()))
    }

    /// Packets in a burst of losses, on average; 1 / (1 - eps) if losses know nothing of each other.
    pub fn burst(&self) -> f64 {
        1.0 / self.to_good()
    }

    /// The probability that the packet `behind` places after the newest outcome is lost, 1 being the next. Far behind, it
    /// is [`GilbertElliott::eps`].
    pub fn eps_behind(&self, behind: u32) -> f64 {
        let Some(lost) = self.last else { return self.eps() };
        let (into, out) = (self.to_bad(), self.to_good());
        let far = into / (into + out);
        let now = if lost { 1.0 } else { 0.0 };
        bounded(far + (now - far) * libm::pow(1.0 - into - out, f64::from(behind)))
    }

    fn to_bad(&self) -> f64 {
        bounded(self.into / self.good)
    }

    fn to_good(&self) -> f64 {
        bounded(self.out / self.bad)
    }
}

impl Probe for GilbertElliott {
    /// Shows `eps`, and `burst` in packets.
    fn probe(&self, visit: &mut Visitor<'_>) {
        visit("eps", self.eps());
        visit("burst", self.burst());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    /// A channel that turns bad with `into`, good with `out`.
    fn fitted(into: f64, out: f64) -> GilbertElliott {
        let mut rng = Rng::new(7).fork("channel");
        let mut model = GilbertElliott::new(0.05, 50_000.0).expect("in range");
        let mut bad = false;
        for _ in 0..200_000 {
            bad = rng.chance(if bad { 1.0 - out } else { into });
            model.outcome(bad);
        }
        model
    }

    /// Standard errors of the fit are below 3 % of these at 50 000 packets; the room is three of them.
    #[test]
    fn the_channel_is_found() {
        let model = fitted(0.02, 0.25);
        let expected = 0.02 / 0.27;
        assert!((model.eps() / expected - 1.0).abs() < 0.09, "{}", model.eps());
        assert!((model.burst() / 4.0 - 1.0).abs() < 0.09, "{}", model.burst());
    }

    #[test]
    fn after_a_loss_the_next_is_likely_and_later_ones_are_not() {
        let mut model = fitted(0.02, 0.25);
        model.outcome(true);
        let (next, far) = (model.eps_behind(1), model.eps_behind(200));
        assert!((next - 0.75).abs() < 0.05, "{next}");
        assert!((far - model.eps()).abs() < 1e-9, "{far}");
        model.outcome(false);
        assert!((model.eps_behind(1) - 0.02).abs() < 0.005);
    }

    #[test]
    fn losses_without_bursts_look_alike_wherever_they_are() {
        let model = fitted(0.1, 0.9);
        assert!((model.burst() - 1.0 / 0.9).abs() < 0.03);
        assert!((model.eps_behind(1) - 0.1).abs() < 0.01);
    }

    #[test]
    fn before_anything_is_seen_the_prior_counts() {
        let model = GilbertElliott::new(0.2, 100.0).expect("in range");
        assert!((model.eps() - 0.2).abs() < 1e-12);
        assert!((model.burst() - 1.25).abs() < 1e-12);
        assert_eq!(model.eps_behind(1), model.eps());
        assert!(GilbertElliott::new(0.0, 100.0).is_err());
        assert!(GilbertElliott::new(0.1, 1.0).is_err());
    }
}
