//! The runs of the evaluation.

use core::fmt;
use std::ops::RangeInclusive;

use thalweg_lab::scenario::{Blueprint, Error, Parameter};

use super::cell::Cell;
use super::contender::Contender;
use super::record::Record;
use crate::figure::Subject as _;
use crate::jobs::Jobs;
use crate::pool::Task;
use crate::work::described;

/// The size of the evaluation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Plan {
    /// The duration of a run, in seconds, of which the first ten are not measured.
    pub seconds: u32,
    /// The number of seeds: 1, 2, ...
    pub seeds: u64,
}

/// One run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Job {
    /// The cell.
    pub cell: Cell,
    /// The control of the streams.
    pub contender: Contender,
    /// The seed of all random choices; the same for all controls.
    pub seed: u64,
}

/// The scenario, by its name and text.
const SCENARIO: (&str, &str) = ("papers/gca.toml", include_str!("../../../scenarios/papers/gca.toml"));

impl Plan {
    /// Runs of 100 s and ten seeds; the paper does not state its own.
    pub fn paper() -> Plan {
        Plan { seconds: 100, seeds: 10 }
    }

    /// A quick run of everything, which takes seconds.
    pub fn quick() -> Plan {
        Plan { seconds: 60, seeds: 3 }
    }

    /// The description of a job.
    ///
    /// # Errors
    /// The plan's numbers are impossible.
    pub fn blueprint(&self, job: &Job) -> Result<Blueprint, Error> {
        let duration = self.seconds.to_string();
        let own = [("slot", job.cell.slot()), ("duration_s", duration.as_str())];
        let settings = own.iter().chain(job.contender.settings());
        let settings: Vec<_> = settings.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        described(SCENARIO, &settings)
    }

    /// The parameters of a job's scenario, each with its value.
    ///
    /// # Errors
    /// As for [`Plan::blueprint`].
    pub fn parameters(&self, job: &Job) -> Result<Vec<Parameter>, Error> {
        Ok(self.blueprint(job)?.parameters().to_vec())
    }
}

impl Jobs for Plan {
    type Job = Job;
    type Condition = Cell;
    type Subject = Contender;
    type View = ();
    type Record = Record;

    /// Seed by seed, so that the results of an interrupted evaluation are still paired.
    fn jobs(&self) -> Vec<Job> {
        let of_seed = |seed| {
            Cell::ALL.into_iter().flat_map(move |cell| Contender::ALL.map(|contender| Job { cell, contender, seed }))
        };
        (1..=self.seeds).flat_map(of_seed).collect()
    }

    fn job(cell: Cell, contender: Contender, (): &(), seed: u64) -> Job {
        Job { cell, contender, seed }
    }

    fn seeds(&self, _: Cell, (): &()) -> RangeInclusive<u64> {
        1..=self.seeds
    }

    fn task(&self, job: Job) -> Result<impl Task<Record = Record, Error = String>, String> {
        self.begin(&job)
    }
}

impl fmt::Display for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", self.cell, self.contender.name())
    }
}
