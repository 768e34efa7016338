//! Campaigns: every variant of an experiment with every seed, and what a finished run of one gives.

use std::time::Duration;

use thalweg_core::time::Span;
use thalweg_lab::experiment::{Experiment, Outcome, QUANTITIES};
use thalweg_lab::scenario::Blueprint;

use super::failed;
use crate::failure::Failure;

/// The runs to perform.
pub(super) struct Campaign {
    /// The variants, each under its name.
    pub(super) variants: Vec<(String, Blueprint)>,
    pub(super) seeds: Vec<u64>,
    pub(super) threads: usize,
}

/// One run that reached its end.
pub(super) struct Finished {
    pub(super) variant: usize,
    pub(super) seed: u64,
    /// The names of its groups.
    pub(super) groups: Vec<String>,
    pub(super) outcome: Outcome,
    /// The processor time that it took.
    pub(super) cpu: Duration,
    /// The simulated time.
    pub(super) simulated: Span,
}

/// The processor time of a run, which the machine decides: no seed determines it, and no two runs have the same.
pub(super) const CPU: &str = "cpu_s";

/// Quantities of every run besides those of the lab.
const OWN: [(&str, &str); 2] = [(CPU, "processor time of a run, s"), ("sim_s", "simulated time of a run, s")];

/// The names and descriptions of the quantities that [`Finished::value`] knows.
pub(super) fn quantities() -> impl Iterator<Item = (&'static str, &'static str)> {
    QUANTITIES.iter().map(|quantity| (quantity.name, quantity.what)).chain(OWN)
}

impl Finished {
    /// One of [`quantities`]; NaN if the run does not have it.
    pub(super) fn value(&self, name: &str) -> f64 {
        match name {
            CPU => self.cpu.as_secs_f64(),
            "sim_s" => self.simulated.as_secs_f64(),
            name => self.outcome.value(name),
        }
    }
}

impl Campaign {
    /// The experiment of each variant; the seed does not matter.
    pub(super) fn experiments(&self) -> Result<Vec<Experiment>, Failure> {
        let experiments = self.variants.iter().map(|(_, blueprint)| blueprint.experiment(0));
        experiments.collect::<Result<_, _>>().map_err(|error| failed(error.to_string()))
    }
}
