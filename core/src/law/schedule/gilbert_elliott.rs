//! A loss estimate with bursts: Gilbert's model (E. N. Gilbert, "Capacity of a Burst-Noise Channel", Bell System
//! Technical Journal 39, 1960; E. O. Elliott, the same journal, 42, 1963), fitted to the outcomes as they arrive.
//!
//! The channel is good, where nothing is lost, or bad, where everything is: a lost packet shows a bad state, so that
//! the state is visible and the fit is a count of transitions.
//!
//! | model | here |
//! |---|---|
//! | P, good to bad | `into` losses among `good` packets that follow an arrival |
//! | p, bad to good | `out` arrivals among `bad` packets that follow a loss |
//! | stationary loss P / (P + p) | [`GilbertElliott::eps`] |
//! | mean burst 1 / p | [`GilbertElliott::burst`] |
//!
//! Elliott's bad state loses only a part of its packets, h, and its arrivals hide it. A burst then continues over a few arrivals
//! ([`GilbertElliott::with_gap`]): the number of its losses falls off as on that channel, in a chain whose state is visible.
//!
//! Counts of either kind decay by 1 - 1 / `memory` with each outcome of that kind, so that they follow a changing path.
//! Bursts are thus forgotten per loss, however rare losses are, and a burst of any length is one transition. If more
//! than `memory` packets are in flight, arrivals are forgotten over as many: the estimate of P applies to all of them
//! at once, and from fewer outcomes it would vary more than their losses do.

use super::ParameterError;
use super::channel::Channel;
use super::loss::{BOUNDS, bounded};
use super::parameter;
use crate::probe::{Probe, Visitor};

/// The model, fitted to recent outcomes.
#[derive(Clone, PartialEq, Debug)]
pub struct GilbertElliott {
    memory: f64,
    /// The most arrivals between two losses of one burst.
    gap: u32,
    /// The decay factors of the counts of arrivals, and of losses, per outcome of the kind.
    keep: [f64; 2],
    good: f64,
    into: f64,
    bad: f64,
    out: f64,
    /// True if the newest outcome is a loss.
    last: Option<bool>,
    /// Outcomes since the last loss.
    clean: u64,
}

/// The weight of the prior of P, packets.
const PRIOR: f64 = 8.0;
/// The weight of the prior that losses are independent, p = 1 - P, in losses.
const INDEPENDENCE: f64 = 4.0;
/// The smallest loss probability of a path that never lost a packet.
const LEAST: f64 = 1e-6;

impl GilbertElliott {
    /// The number of outcomes of either kind over which a stream forgets bursts.
    pub const MEMORY: f64 = 128.0;

    /// A model with independent losses of probability `prior` until there is more evidence. It forgets over `memory`
    /// outcomes of either kind, at least 2.
    ///
    /// # Errors
    /// `prior` is not within 0.001..=0.99, or `memory` not within 2..=10⁹.
    pub fn new(prior: f64, memory: f64) -> Result<GilbertElliott, ParameterError> {
        parameter::within("prior", prior, BOUNDS)?;
        parameter::within("memory", memory, 2.0..=1e9)?;
        Ok(GilbertElliott {
            memory,
            gap: 0,
            keep: [1.0 - 1.0 / memory; 2],
            good: PRIOR,
            into: PRIOR * prior,
            bad: 0.0,
            out: 0.0,
            last: None,
            clean: 0,
        })
    }

    /// The model whose bursts continue over up to `gap` arrivals.
    pub fn with_gap(self, gap: u32) -> GilbertElliott {
        GilbertElliott { gap, ..self }
    }

    /// Takes the number of packets in flight.
    pub fn in_flight(&mut self, packets: u32) {
        self.keep[0] = 1.0 - 1.0 / self.memory.max(f64::from(packets));
    }

    /// Takes the outcome of the next packet, in the order of sending.
    pub fn outcome(&mut self, lost: bool) {
        let gap = u64::from(self.gap);
        if self.last.is_some() && self.clean > gap {
            self.good = self.good * self.keep[0] + 1.0;
            self.into = self.into * self.keep[0] + f64::from(u8::from(lost));
        } else if self.last.is_some() && (lost || self.clean == gap) {
            self.bad = self.bad * self.keep[1] + 1.0;
            self.out = self.out * self.keep[1] + f64::from(u8::from(!lost));
        }
        self.last = Some(lost);
        self.clean = if lost { 0 } else { self.clean + 1 };
    }

    /// The long-run share of lost packets.
    pub fn eps(&self) -> f64 {
        bounded(self.to_bad() / (self.to_bad() + self.to_good()))
    }

    /// The mean number of packets in a burst of losses; 1 / (1 - eps) if losses are independent.
    pub fn burst(&self) -> f64 {
        1.0 / self.to_good()
    }

    /// The channel for a schedule, `since` packets after the newest outcome. Estimates are at least a thousandth, which
    /// is far too much if nothing is ever lost: then it is one in the number of packets since the last loss.
    pub fn channel(&self, since: u32) -> Channel {
        let into = self.to_bad();
        let rare = into.min(1.0 / self.clean.max(1) as f64).max(LEAST);
        Channel::bursty(if into > *BOUNDS.start() { into } else { rare }, self.to_good(), self.last, since)
    }

    fn to_bad(&self) -> f64 {
        bounded(self.into / self.good)
    }

    fn to_good(&self) -> f64 {
        // The part of the ends of bursts that no independent loss conceals.
        let shown = libm::pow(1.0 - self.to_bad(), f64::from(self.gap));
        bounded((self.out / shown + INDEPENDENCE * (1.0 - self.to_bad())) / (self.bad + INDEPENDENCE))
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

    /// A model fitted to a channel that turns bad with `into`, good with `out`.
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

    /// Standard errors of the fit are below 3 % of these at 50 000 packets; the tolerance is three of them.
    #[test]
    fn fit_finds_the_channel_parameters() {
        let model = fitted(0.02, 0.25);
        let expected = 0.02 / 0.27;
        assert!((model.eps() / expected - 1.0).abs() < 0.09, "{}", model.eps());
        assert!((model.burst() / 4.0 - 1.0).abs() < 0.09, "{}", model.burst());
    }

    #[test]
    fn loss_raises_the_probability_of_the_next_loss_only() {
        let mut model = fitted(0.02, 0.25);
        model.outcome(true);
        let [next, far] = [0, 199].map(|since| model.channel(since).eps_next());
        assert!((next - 0.75).abs() < 0.05, "{next}");
        assert!((far - model.eps()).abs() < 1e-9, "{far}");
        model.outcome(false);
        assert!((model.channel(0).eps_next() - 0.02).abs() < 0.005);
    }

    /// Counts with decay 1 - 1 / M result in an estimate of P with a variance of P (1 - P) / (2 M - 1).
    #[test]
    fn estimate_varies_less_with_many_packets_in_flight() {
        let (mut rng, mut model) = (Rng::new(3), GilbertElliott::new(0.01, 128.0).expect("in range"));
        model.in_flight(3000);
        let deviation = libm::sqrt(0.01 * 0.99 / 5999.0);
        for nth in 0..60_000 {
            model.outcome(rng.chance(0.01));
            let off = f64::abs(model.channel(0).eps() - 0.01);
            assert!(nth < 15_000 || off < 5.0 * deviation, "{off} after {nth}");
        }
    }

    /// By hand, for P = .005, p = .3, h = .7: after a loss the chain stays bad with .7, so that the next loss follows at once with
    /// .49, after one arrival with .7 x .3 x .49, after two with .21 of that; .3853 is the rest of one. A burst begins with a
    /// loss in a visit to the bad state, or not at all: P is .005 x .7 / (1 - .7 x .3).
    #[test]
    fn bursts_with_gaps_have_as_many_losses_as_visits_to_a_bad_state_that_loses_a_part() {
        let mut rng = Rng::new(5).fork("channel");
        let mut model = GilbertElliott::new(0.05, 50_000.0).expect("in range").with_gap(2);
        let mut bad = false;
        for _ in 0..2_000_000 {
            bad = rng.chance(if bad { 0.7 } else { 0.005 });
            model.outcome(bad && rng.chance(0.7));
        }
        assert!((model.burst() * 0.3853 - 1.0).abs() < 0.05, "{}", model.burst());
        let expected = 0.00443 / (0.00443 + 0.3853);
        assert!((model.eps() / expected - 1.0).abs() < 0.1, "{}", model.eps());
    }

    #[test]
    fn independent_losses_with_gaps_are_independent() {
        let mut rng = Rng::new(9);
        let mut model = GilbertElliott::new(0.05, 50_000.0).expect("in range").with_gap(2);
        (0..500_000).for_each(|_| model.outcome(rng.chance(0.1)));
        assert!((model.burst() - 1.0 / 0.9).abs() < 0.03, "{}", model.burst());
        assert!((model.eps() - 0.1).abs() < 0.01, "{}", model.eps());
    }

    #[test]
    fn independent_losses_fit_a_channel_without_memory() {
        let model = fitted(0.1, 0.9);
        assert!((model.burst() - 1.0 / 0.9).abs() < 0.03);
        assert!((model.channel(0).eps_next() - 0.1).abs() < 0.01);
    }

    #[test]
    fn prior_applies_before_the_first_outcome() {
        let model = GilbertElliott::new(0.2, 100.0).expect("in range");
        assert!((model.eps() - 0.2).abs() < 1e-12);
        assert!((model.burst() - 1.25).abs() < 1e-12);
        assert!((model.channel(0).eps_next() - model.eps()).abs() < 1e-12);
        assert!(GilbertElliott::new(0.0, 100.0).is_err());
        assert!(GilbertElliott::new(0.1, 1.0).is_err());
    }
}
