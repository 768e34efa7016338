//! Randomness as a seeded tree.
//!
//! A stream is named, not shared: `rng.fork("uplink.loss")` depends on the seed and the name alone, so an element that
//! is added somewhere changes nobody else's draws.

use rand_core::{Rng as _, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// One named stream of random numbers, and the root of those below it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rng {
    seed: u64,
    stream: Xoshiro256PlusPlus,
}

impl Rng {
    /// The root of a tree.
    pub fn new(seed: u64) -> Rng {
        Rng { seed, stream: Xoshiro256PlusPlus::seed_from_u64(seed) }
    }

    /// The stream called `name` below this one, whatever has been drawn from this one so far.
    pub fn fork(&self, name: &str) -> Rng {
        // FNV-1a over the name, from a start that depends on the seed; seed_from_u64 (SplitMix64) then scatters it.
        let start = 0xcbf2_9ce4_8422_2325 ^ self.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let seed = name.bytes().fold(start, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
        Rng::new(seed.rotate_left(29) ^ self.seed)
    }

    /// 64 random bits.
    pub fn u64(&mut self) -> u64 {
        self.stream.next_u64()
    }

    /// 32 random bits.
    pub fn u32(&mut self) -> u32 {
        (self.u64() >> 32) as u32
    }

    /// Uniform in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// True with probability `p`.
    pub fn chance(&mut self, p: f64) -> bool {
        self.unit() < p
    }

    /// Uniform in 0 .. `n`; 0 if `n` is 0.
    pub fn below(&mut self, n: u64) -> u64 {
        // The bias of the multiplication is below n / 2^64.
        ((u128::from(self.u64()) * u128::from(n)) >> 64) as u64
    }

    /// Exponentially distributed with mean `mean`.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * libm::log(1.0 - self.unit())
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
}
