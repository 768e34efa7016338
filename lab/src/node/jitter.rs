//! Jitter: a delay drawn anew for every packet.

use thalweg_core::rng::Rng;
use thalweg_core::time::{Span, Time};

use super::delay_queue::DelayQueue;
use super::{Node, Tallied, Tally};
use crate::packet::Packet;

/// The distribution of delays.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Distribution {
    /// Uniform from zero to this.
    Uniform(Span),
    /// Exponential with this mean.
    Exponential(Span),
    /// Normal; draws below zero count as zero.
    Normal {
        /// Mean, before the cut at zero.
        mean: Span,
        /// Standard deviation, before the cut at zero.
        deviation: Span,
    },
}

impl Distribution {
    fn draw(self, rng: &mut Rng) -> Span {
        Span::from_secs_f64(match self {
            Distribution::Uniform(most) => rng.unit() * most.as_secs_f64(),
            Distribution::Exponential(mean) => rng.exponential(mean.as_secs_f64()),
            Distribution::Normal { mean, deviation } => mean.as_secs_f64() + deviation.as_secs_f64() * normal(rng),
        })
    }
}

/// A draw with mean 0 and variance 1: the sum of twelve uniforms (Irwin-Hall) is normal up to four deviations, and is
/// the same on every machine.
fn normal(rng: &mut Rng) -> f64 {
    (0..12).map(|_| rng.unit()).sum::<f64>() - 6.0
}

/// Delays every packet by a random draw.
#[derive(Clone, PartialEq, Debug)]
pub struct Jitter {
    distribution: Distribution,
    keep_order: bool,
    rng: Rng,
    last: Time,
    flying: DelayQueue,
}

impl Jitter {
    /// Delays from `distribution`; with `keep_order` a packet waits for all packets before it, as in a queue.
    pub fn new(distribution: Distribution, keep_order: bool, rng: Rng) -> Jitter {
        Jitter { distribution, keep_order, rng, last: Time::ZERO, flying: DelayQueue::default() }
    }
}

impl Node for Jitter {
    fn accept(&mut self, now: Time, packet: Packet) {
        let drawn = now + self.distribution.draw(&mut self.rng);
        self.last = self.last.max(drawn);
        self.flying.put(if self.keep_order { self.last } else { drawn }, packet);
    }

    fn next(&self) -> Option<Time> {
        self.flying.next()
    }

    fn poll(&mut self, now: Time) -> Option<Packet> {
        self.flying.take(now)
    }
}

impl Tallied for Jitter {
    fn tally(&self) -> Tally {
        Tally { held: self.flying.len(), ..Tally::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_have_the_moments_of_their_distributions() {
        let ms = Span::from_millis;
        // Distribution, mean and standard deviation in seconds; the normal one is 10 deviations away from its cut.
        let cases = [
            (Distribution::Uniform(ms(12)), 0.006, 0.012 / 12f64.sqrt()),
            (Distribution::Exponential(ms(5)), 0.005, 0.005),
            (Distribution::Normal { mean: ms(20), deviation: ms(2) }, 0.020, 0.002),
        ];
        let n = 50_000;
        for (distribution, mean, deviation) in cases {
            let mut rng = Rng::new(9);
            let draws: Vec<f64> = (0..n).map(|_| distribution.draw(&mut rng).as_secs_f64()).collect();
            let seen = draws.iter().sum::<f64>() / f64::from(n);
            let spread = (draws.iter().map(|draw| libm::pow(draw - seen, 2.0)).sum::<f64>() / f64::from(n)).sqrt();
            assert!((seen - mean).abs() < 5.0 * deviation / f64::from(n).sqrt(), "{distribution:?}: mean {seen}");
            // The error of a deviation is largest for the exponential: sigma * sqrt(8 / 4n).
            assert!((spread - deviation).abs() < 5.0 * deviation * (2.0 / f64::from(n)).sqrt(), "{distribution:?}");
        }
    }

    #[test]
    fn order_is_kept_where_it_is_asked_for() {
        for keep_order in [false, true] {
            let mut jitter = Jitter::new(Distribution::Uniform(Span::from_millis(10)), keep_order, Rng::new(2));
            for flow in 0..100 {
                jitter.accept(Time::ZERO + Span::from_millis(u64::from(flow)), Packet::datagram(flow, Vec::new()));
            }
            let mut flows = Vec::new();
            while let Some(at) = jitter.next() {
                flows.extend(jitter.poll(at).map(|packet| packet.flow));
            }
            assert_eq!(flows.is_sorted(), keep_order);
            assert_eq!(flows.len(), 100);
        }
    }
}
