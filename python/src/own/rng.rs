//! Random numbers of a run's tree.

use pyo3::prelude::*;
use thalweg_core::rng;

/// Random numbers that derive from the seed of the run, the group's name and the flow's number.
#[pyclass(module = "thalweg")]
pub(crate) struct Rng(rng::Rng);

impl Rng {
    pub(super) fn new(rng: rng::Rng) -> Rng {
        Rng(rng)
    }
}

#[pymethods]
impl Rng {
    /// Random numbers of a tree of their own.
    #[new]
    fn seeded(seed: u64) -> Rng {
        Rng(rng::Rng::new(seed))
    }

    /// A number from 0 to 1, without 1.
    fn random(&mut self) -> f64 {
        self.0.unit()
    }

    /// True with probability `p`.
    fn chance(&mut self, p: f64) -> bool {
        self.0.chance(p)
    }

    /// A whole number from 0 to `n`, without `n`, which is 1 or more.
    fn below(&mut self, n: u64) -> u64 {
        self.0.below(n.max(1))
    }

    /// An exponentially distributed number with this mean.
    fn exponential(&mut self, mean: f64) -> f64 {
        self.0.exponential(mean)
    }

    /// A normally distributed number with mean 0 and deviation 1.
    fn normal(&mut self) -> f64 {
        self.0.normal()
    }
}
