//! Randomness as a seeded tree.
//!
//! A stream is named, not shared: `rng.fork("uplink.loss")` depends on the seed and the name alone, so adding an
//! element does not change the draws of any other.

use core::hash::Hasher;

use rand_core::{Rng as _, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use siphasher::sip::SipHasher24;

/// One named stream of random numbers, and the root of the streams below it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rng {
    seed: u64,
    /// The secret of the tree's root, on which [`Rng::key`] depends.
    secret: [u64; 2],
    stream: Xoshiro256PlusPlus,
}

impl Rng {
    /// The root of a tree.
    pub fn new(seed: u64) -> Rng {
        Rng::with_secret(seed, [seed, 0])
    }

    /// The root of a tree whose [`Rng::key`]s are as hard to guess as `secret`, even if all its draws are known.
    pub fn with_secret(seed: u64, secret: [u64; 2]) -> Rng {
        Rng { seed, secret, stream: Xoshiro256PlusPlus::seed_from_u64(seed) }
    }

    /// The 128-bit key called `name` below this stream, for keyed hashes.
    pub fn key(&self, name: &str) -> (u64, u64) {
        let word = |nth: u8| {
            let mut hasher = SipHasher24::new_with_keys(self.secret[0], self.secret[1]);
            hasher.write(&self.seed.to_be_bytes());
            hasher.write(&[nth]);
            hasher.write(name.as_bytes());
            hasher.finish()
        };
        (word(0), word(1))
    }

    /// The stream called `name` below this one, independent of the number of draws from this one so far.
    pub fn fork(&self, name: &str) -> Rng {
        // FNV-1a over the name, from a start that depends on the seed; seed_from_u64 (SplitMix64) then scatters it.
        let start = 0xcbf2_9ce4_8422_2325 ^ self.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let seed = name.bytes().fold(start, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
        Rng::with_secret(seed.rotate_left(29) ^ self.seed, self.secret)
    }

    /// 64 random bits.
    pub fn u64(&mut self) -> u64 {
        self.stream.next_u64()
    }

    /// 32 random bits.
    pub fn u32(&mut self) -> u32 {
        (self.u64() >> 32) as u32
    }

    /// A uniform number in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// True with probability `p`.
    pub fn chance(&mut self, p: f64) -> bool {
        self.unit() < p
    }

    /// A uniform integer in 0 .. `n`; 0 if `n` is 0.
    pub fn below(&mut self, n: u64) -> u64 {
        // The bias of the multiplication is below n / 2^64.
        ((u128::from(self.u64()) * u128::from(n)) >> 64) as u64
    }

    /// An exponentially distributed number with mean `mean`.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * libm::log(1.0 - self.unit())
    }

    /// A normally distributed number with mean 0 and variance 1: G. E. P. Box, M. E. Muller, "A Note on the Generation
    /// of Random Normal Deviates", Annals of Mathematical Statistics, 1958.
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * libm::log(1.0 - self.unit())).sqrt();
        radius * libm::cos(core::f64::consts::TAU * self.unit())
    }

    /// A Pareto distributed number: above x with probability (`scale` / x)^`shape`, and never below `scale`. The mean
    /// is scale shape / (shape - 1) if the shape is above 1; the variance is infinite if it is not above 2.
    pub fn pareto(&mut self, shape: f64, scale: f64) -> f64 {
        scale * libm::pow(1.0 - self.unit(), -1.0 / shape)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_depends_on_its_name_and_not_on_its_siblings() {
        let root = Rng::new(7);
        let mut drawn = root.clone();
        drawn.u64();
        assert_eq!(root.fork("loss").u64(), drawn.fork("loss").u64());
        assert_ne!(root.fork("loss").u64(), root.fork("jitter").u64());
        assert_ne!(root.fork("loss").u64(), Rng::new(8).fork("loss").u64());
    }

    #[test]
    fn a_key_depends_on_its_name_its_stream_and_the_secret() {
        let root = Rng::with_secret(7, [1, 2]);
        let key = root.fork("sender").key("tokens");
        assert_eq!(key, root.fork("sender").key("tokens"));
        assert_ne!(key, root.fork("sender").key("halves"));
        assert_ne!(key, root.fork("receiver").key("tokens"));
        let other = Rng::with_secret(7, [1, 3]);
        assert_ne!(key, other.fork("sender").key("tokens"));
        assert_eq!(root.fork("sender").u64(), other.fork("sender").u64(), "draws show nothing of it");
    }

    #[test]
    fn draws_have_the_moments_of_their_distributions() {
        let mut rng = Rng::new(1);
        let n = 100_000;
        let uniform: f64 = (0..n).map(|_| rng.unit()).sum::<f64>() / f64::from(n);
        let exponential: f64 = (0..n).map(|_| rng.exponential(2.0)).sum::<f64>() / f64::from(n);
        // Five standard errors: 0.2887 / sqrt(n) and 2 / sqrt(n).
        assert!((uniform - 0.5).abs() < 0.0046, "{uniform}");
        assert!((exponential - 2.0).abs() < 0.032, "{exponential}");
        assert!((0..n).all(|_| rng.below(6) < 6));
    }
    #[test]
    fn normal_draws_have_the_moments_of_the_normal_distribution() {
        let mut rng = Rng::new(2);
        let n = 200_000;
        let draws: Vec<f64> = (0..n).map(|_| rng.normal()).collect();
        let moment = |power| draws.iter().map(|draw| libm::pow(*draw, f64::from(power))).sum::<f64>() / f64::from(n);
        // The moments of order 1 to 4 are 0, 1, 0, 3; those of twice the order, which give the standard errors, 1, 3,
        // 15, 105.
        for (power, mean, second) in [(1, 0.0, 1.0f64), (2, 1.0, 3.0), (3, 0.0, 15.0), (4, 3.0, 105.0)] {
            let standard_error = ((second - mean * mean) / f64::from(n)).sqrt();
            assert!((moment(power) - mean).abs() < 5.0 * standard_error, "{power}: {}", moment(power));
        }
    }

    #[test]
    fn pareto_draws_have_the_tail_and_the_mean_of_the_pareto_distribution() {
        let mut rng = Rng::new(3);
        let n = 100_000;
        let draws: Vec<f64> = (0..n).map(|_| rng.pareto(1.5, 13.0)).collect();
        assert!(draws.iter().all(|draw| *draw >= 13.0));
        // The logarithms are exponential with mean 1 / shape, which is also their standard deviation.
        let tail = draws.iter().map(|draw| libm::log(draw / 13.0)).sum::<f64>() / f64::from(n);
        assert!((tail - 1.0 / 1.5).abs() < 5.0 / 1.5 / f64::from(n).sqrt(), "{tail}");
        // At shape 5 and scale 4 the mean is 5; the variance scale^2 shape / ((shape - 1)^2 (shape - 2)) is 5 / 3.
        let mean = (0..n).map(|_| rng.pareto(5.0, 4.0)).sum::<f64>() / f64::from(n);
        assert!((mean - 5.0).abs() < 5.0 * (5.0 / 3.0 / f64::from(n)).sqrt(), "{mean}");
    }
}
