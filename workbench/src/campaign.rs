//! Campaigns: every variant of an experiment with every seed, and the result of a finished run.

use std::time::Duration;

use thalweg_core::time::Span;
use thalweg_lab::experiment::{Experiment, FlowOutcome, Outcome, QUANTITIES};
use thalweg_lab::scenario::Blueprint;

use crate::error::Error;

/// The runs to perform.
#[derive(Clone, PartialEq, Debug)]
pub struct Campaign {
    /// The variants, each under its name.
    pub variants: Vec<(String, Blueprint)>,
    /// The seeds of each variant.
    pub seeds: Vec<u64>,
}

/// One run that reached its end.
#[derive(Clone, PartialEq, Debug)]
pub struct Finished {
    /// The index of its variant.
    pub variant: usize,
    /// Its seed.
    pub seed: u64,
    /// The names of its groups.
    pub groups: Vec<String>,
    /// Its outcome.
    pub outcome: Outcome,
    /// The processor time that it took.
    pub cpu: Duration,
    /// The simulated time.
    pub simulated: Span,
}

/// A group of endless flows of which one may start after the warm-up: its measured values include the time before.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Late {
    /// The time at which measuring begins.
    pub warmup: Span,
    /// The name of the group.
    pub group: String,
    /// The latest start of one of its flows.
    pub start: Span,
}

/// The processor time of a run, which the machine decides: no seed determines it, and no two runs have the same.
pub const CPU: &str = "cpu_s";

/// Quantities of every run besides those of the lab.
const OWN: [(&str, &str); 2] = [(CPU, "processor time of a run, s"), ("sim_s", "simulated time of a run, s")];

/// The names and descriptions of the quantities that [`Finished::value`] knows.
pub fn quantities() -> impl Iterator<Item = (&'static str, &'static str)> {
    QUANTITIES.iter().map(|quantity| (quantity.name, quantity.what)).chain(OWN)
}

/// The names of all quantities that the seed determines: the same seeds give the same bytes.
pub fn reproducible_quantities() -> impl Iterator<Item = &'static str> {
    quantities().map(|(name, _)| name).filter(|name| *name != CPU)
}

impl Finished {
    /// One of [`quantities`]; NaN if the run does not have it.
    pub fn value(&self, name: &str) -> f64 {
        match name {
            CPU => self.cpu.as_secs_f64(),
            "sim_s" => self.simulated.as_secs_f64(),
            name => self.outcome.value(name),
        }
    }

    /// The name of a flow's group.
    pub(crate) fn group_of(&self, flow: &FlowOutcome) -> &str {
        self.groups.get(flow.group).map_or("", String::as_str)
    }

    /// The name of the group of a flow, by its number.
    pub(crate) fn group_of_number(&self, flow: u64) -> &str {
        self.outcome.flows.get(flow as usize).map_or("", |flow| self.group_of(flow))
    }
}

impl Campaign {
    /// The experiment of each variant; the seed does not matter.
    ///
    /// # Errors
    /// A variant describes no possible experiment.
    pub fn experiments(&self) -> Result<Vec<Experiment>, Error> {
        let experiments = self.variants.iter().map(|(_, blueprint)| blueprint.experiment(0));
        experiments.collect::<Result<_, _>>().map_err(|error| Error::Scenario(error.to_string()))
    }

    /// The seed and the variant of each run: seed by seed, so that an interrupted campaign leaves paired runs.
    pub(crate) fn jobs(&self) -> Vec<(u64, usize)> {
        let of_seed = |seed: &u64| {
            let seed = *seed;
            (0..self.variants.len()).map(move |variant| (seed, variant))
        };
        self.seeds.iter().flat_map(of_seed).collect()
    }

    /// The first group that starts late, if one does.
    ///
    /// # Errors
    /// A variant describes no possible experiment.
    pub fn late(&self) -> Result<Option<Late>, Error> {
        let late = |it: &Experiment| {
            let (group, start) = it.late()?;
            Some(Late { warmup: it.warmup, group: group.name.clone(), start })
        };
        Ok(self.experiments()?.iter().find_map(late))
    }
}
