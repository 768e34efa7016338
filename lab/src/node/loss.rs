//! Random loss: independent, and in bursts.

use thalweg_core::rng::Rng;
use thalweg_core::time::Time;

use super::delay_queue::DelayQueue;
use super::losses::Losses;
use super::{Node, Tallied, Tally};
use crate::packet::Packet;

/// The Gilbert-Elliott channel (E. N. Gilbert, Bell Syst. Tech. J. 39, 1960; E. O. Elliott, ibid. 42, 1963): a good and
/// a bad state, changed with a fixed chance after each packet. All four fields are probabilities.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Gilbert {
    /// From good to bad, per packet: `p`.
    pub to_bad: f64,
    /// From bad to good, per packet: `r`; bad states last 1/r packets on average.
    pub to_good: f64,
    /// Loss in the bad state: `1 - h`.
    pub loss_bad: f64,
    /// Loss in the good state: `1 - k`.
    pub loss_good: f64,
}

impl Gilbert {
    /// Share of packets that find the bad state: p / (p + r).
    pub fn bad_share(&self) -> f64 {
        self.to_bad / (self.to_bad + self.to_good)
    }

    /// Share of packets that are lost in the long run.
    pub fn loss_rate(&self) -> f64 {
        self.bad_share() * self.loss_bad + (1.0 - self.bad_share()) * self.loss_good
    }
}

/// Drops packets by chance, and passes the others on at once.
#[derive(Clone, PartialEq, Debug)]
pub struct Loss {
    model: Model,
    rng: Rng,
    passing: DelayQueue,
    dropped: Losses,
}

#[derive(Clone, PartialEq, Debug)]
enum Model {
    Independent { rate: f64 },
    Bursts { gilbert: Gilbert, bad: bool },
}

impl Loss {
    /// Each packet is lost with probability `rate`, independently of the others.
    pub fn independent(rate: f64, rng: Rng) -> Loss {
        Loss::new(Model::Independent { rate }, rng)
    }

    /// Packets are lost as in the Gilbert-Elliott channel, which starts in the good state.
    pub fn bursts(gilbert: Gilbert, rng: Rng) -> Loss {
        Loss::new(Model::Bursts { gilbert, bad: false }, rng)
    }

    fn new(model: Model, rng: Rng) -> Loss {
        Loss { model, rng, passing: DelayQueue::default(), dropped: Losses::default() }
    }

    /// Packets of one flow that were lost.
    pub(crate) fn lost_of(&self, flow: u32) -> u64 {
        self.dropped.of(flow)
    }

    fn loses_next(&mut self) -> bool {
        match &mut self.model {
            Model::Independent { rate } => self.rng.chance(*rate),
            Model::Bursts { gilbert, bad } => {
                // Always two draws per packet: the outcome of one packet does not shift the draws of the next.
                let lost = self.rng.chance(if *bad { gilbert.loss_bad } else { gilbert.loss_good });
                *bad ^= self.rng.chance(if *bad { gilbert.to_good } else { gilbert.to_bad });
                lost
            }
        }
    }
}

impl Node for Loss {
    fn accept(&mut self, now: Time, packet: Packet) {
        if self.loses_next() {
            self.dropped.count(&packet);
        } else {
            self.passing.put(now, packet);
        }
    }

    fn next(&self) -> Option<Time> {
        self.passing.next()
    }

    fn poll(&mut self, now: Time) -> Option<Packet> {
        self.passing.take(now)
    }
}

impl Tallied for Loss {
    fn tally(&self) -> Tally {
        Tally { dropped: self.dropped.total(), held: self.passing.len(), ..Tally::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fates(mut loss: Loss, packets: usize) -> Vec<bool> {
        (0..packets).map(|_| loss.loses_next()).collect()
    }

    fn share(fates: &[bool]) -> f64 {
        fates.iter().filter(|lost| **lost).count() as f64 / fates.len() as f64
    }

    #[test]
    fn independent_loss_has_its_rate() {
        let (p, n) = (0.02, 200_000);
        let standard_error = (p * (1.0 - p) / n as f64).sqrt();
        let seen = share(&fates(Loss::independent(p, Rng::new(3)), n));
        assert!((seen - p).abs() < 5.0 * standard_error, "{seen}");
    }

    #[test]
    fn a_gilbert_elliott_channel_loses_what_its_stationary_distribution_says() {
        let gilbert = Gilbert { to_bad: 0.005, to_good: 0.3, loss_bad: 0.7, loss_good: 0.001 };
        let n = 400_000;
        let seen = share(&fates(Loss::bursts(gilbert, Rng::new(4)), n));
        // pi = p / (p + r); the chain's memory (lag-one correlation 1 - p - r) widens the error of a mean of the states
        // by (2 - p - r) / (p + r), and loss given the state adds its own variance.
        let (pi, rho) = (gilbert.bad_share(), 1.0 - gilbert.to_bad - gilbert.to_good);
        let between =
            pi * (1.0 - pi) * libm::pow(gilbert.loss_bad - gilbert.loss_good, 2.0) * (1.0 + rho) / (1.0 - rho);
        let within = pi * gilbert.loss_bad * (1.0 - gilbert.loss_bad) + (1.0 - pi) * gilbert.loss_good;
        let standard_error = ((between + within) / n as f64).sqrt();
        assert!((pi - 1.0 / 61.0).abs() < 1e-12);
        assert!((seen - gilbert.loss_rate()).abs() < 5.0 * standard_error, "{seen} is not {}", gilbert.loss_rate());
    }

    #[test]
    fn bursts_last_one_over_r_packets_when_the_bad_state_loses_everything() {
        let gilbert = Gilbert { to_bad: 0.01, to_good: 0.25, loss_bad: 1.0, loss_good: 0.0 };
        let fates = fates(Loss::bursts(gilbert, Rng::new(5)), 400_000);
        let bursts: Vec<usize> = fates.split(|lost| !lost).map(<[bool]>::len).filter(|len| *len > 0).collect();
        let mean = bursts.iter().sum::<usize>() as f64 / bursts.len() as f64;
        // Lengths are geometric: mean 1/r, variance (1 - r) / r^2.
        let standard_error = (0.75 / 0.0625 / bursts.len() as f64).sqrt();
        assert!((mean - 4.0).abs() < 5.0 * standard_error, "{mean}");
    }
}
