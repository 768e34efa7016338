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
//! Counts of either kind fade by 1 - 1 / `memory` with each outcome of that kind, so that a path that changes is followed.
//! Bursts are forgotten as losses come, however rare they are, and one burst is one transition, however long it is. Where more than
//! `memory` packets are in flight, arrivals are forgotten over as many: the estimate of P is applied to all of them at once, and
//! from fewer outcomes it varies more than their losses do.

use super::ParameterError;
use super::channel::Channel;
use super::loss::{BOUNDS, bounded};
use super::parameter;
use crate::probe::{Probe, Visitor};

/// The model, fitted to what was seen last.
#[derive(Clone, PartialEq, Debug)]
pub struct GilbertElliott {
    memory: f64,
    /// Part that is left of the counts of arrivals, and of losses, after one more of the kind.
    keep: [f64; 2],
    good: f64,
    into: f64,
    bad: f64,
    out: f64,
    /// Whether the newest outcome is a loss.
    last: Option<bool>,
    /// Outcomes since the last loss.
    clean: u64,
}

/// The weight of what is believed of P before anything is seen, packets.
const PRIOR: f64 = 8.0;
/// The weight of the belief that losses are independent, p = 1 - P, in losses.
const INDEPENDENCE: f64 = 4.0;
/// A path that never lost anything may do so with this probability.
const LEAST: f64 = 1e-6;

impl GilbertElliott {
    /// Outcomes of either kind over which a stream forgets bursts.
    pub const MEMORY: f64 = 128.0;

    /// A model that believes in independent losses with probability `prior` until it has seen more, and forgets over `memory`
    /// outcomes of either kind, at least 2.
    ///
    /// # Errors
    /// `prior` is not within 0.001..=0.99, or `memory` not within 2..=10⁹.
    pub fn new(prior: f64, memory: f64) -> Result<GilbertElliott, ParameterError> {
        parameter::within("prior", prior, BOUNDS)?;
        parameter::within("memory", memory, 2.0..=1e9)?;
        Ok(GilbertElliott {
            memory,
            keep: [1.0 - 1.0 / memory; 2],
            good: PRIOR,
            into: PRIOR * prior,
            bad: 0.0,
            out: 0.0,
            last: None,
            clean: 0,
        })
    }

    /// Takes note of how many packets are in flight.
    pub fn in_flight(&mut self, packets: u32) {
        self.keep[0] = 1.0 - 1.0 / self.memory.max(f64::from(packets));
    }

    /// The next packet, in the order of sending, was lost, or was not.
    pub fn outcome(&mut self, lost: bool) {
        match self.last {
            Some(false) => {
                self.good = self.good * self.keep[0] + 1.0;
                self.into = self.into * self.keep[0] + f64::from(u8::from(lost));
            }
            Some(true) => {
                self.bad = self.bad * self.keep[1] + 1.0;
                self.out = self.out * self.keep[1] + f64::from(u8::from(!lost));
            }
            None => {}
        }
        self.last = Some(lost);
        self.clean = if lost { 0 } else { self.clean + 1 };
    }

    /// The share of packets that is lost in the long run.
    pub fn eps(&self) -> f64 {
        bounded(self.to_bad() / (self.to_bad() + self.to_good()))
    }

    /// Packets in a burst of losses, on average; 1 / (1 - eps) if losses know nothing of each other.
    pub fn burst(&self) -> f64 {
        1.0 / self.to_good()
    }

    /// The channel as a schedule counts on it, `since` packets after the newest outcome. Estimates end at a thousandth, which is
    /// far too much where nothing is ever lost: there it is one in the packets since the last loss.
    pub fn channel(&self, since: u32) -> Channel {
        let into = self.to_bad();
        let rare = into.min(1.0 / self.clean.max(1) as f64).max(LEAST);
        Channel::bursty(if into > *BOUNDS.start() { into } else { rare }, self.to_good(), self.last, since)
    }

    fn to_bad(&self) -> f64 {
        bounded(self.into / self.good)
    }

    fn to_good(&self) -> f64 {
        bounded((self.out + INDEPENDENCE * (1.0 - self.to_bad())) / (self.bad + INDEPENDENCE))
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
        let [next, far] = [0, 199].map(|since| model.channel(since).eps_next());
        assert!((next - 0.75).abs() < 0.05, "{next}");
        assert!((far - model.eps()).abs() < 1e-9, "{far}");
        model.outcome(false);
        assert!((model.channel(0).eps_next() - 0.02).abs() < 0.005);
    }

    /// Counts that keep 1 - 1 / M make an estimate of P with a variance of P (1 - P) / (2 M - 1).
    #[test]
    fn what_many_packets_in_flight_are_judged_by_varies_as_little_as_their_losses() {
        let (mut rng, mut model) = (Rng::new(3), GilbertElliott::new(0.01, 128.0).expect("in range"));
        model.in_flight(3000);
        let deviation = libm::sqrt(0.01 * 0.99 / 5999.0);
        for nth in 0..60_000 {
            model.outcome(rng.chance(0.01));
            let off = f64::abs(model.channel(0).eps() - 0.01);
            assert!(nth < 15_000 || off < 5.0 * deviation, "{off} after {nth}");
        }
    }

    #[test]
    fn losses_without_bursts_look_alike_wherever_they_are() {
        let model = fitted(0.1, 0.9);
        assert!((model.burst() - 1.0 / 0.9).abs() < 0.03);
        assert!((model.channel(0).eps_next() - 0.1).abs() < 0.01);
    }

    #[test]
    fn before_anything_is_seen_the_prior_counts() {
        let model = GilbertElliott::new(0.2, 100.0).expect("in range");
        assert!((model.eps() - 0.2).abs() < 1e-12);
        assert!((model.burst() - 1.25).abs() < 1e-12);
        assert!((model.channel(0).eps_next() - model.eps()).abs() < 1e-12);
        assert!(GilbertElliott::new(0.0, 100.0).is_err());
        assert!(GilbertElliott::new(0.1, 1.0).is_err());
    }
}
