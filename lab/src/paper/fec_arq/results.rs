//! What came of the jobs, by case, contender and seed.

use super::case::Case;
use super::contender::Contender;
use super::outcome::Outcome;
use super::plan::{Job, Plan};
use crate::paper::results;
use crate::statistics::Estimate;

/// Outcomes of the jobs of a plan that have been run; the others are missing and prove nothing.
pub type Results = results::Results<Plan, Job, Outcome>;

impl Results {
    /// What came of a job, if it has been run.
    pub fn outcome(&self, case: Case, contender: Contender, seed: u64) -> Option<&Outcome> {
        self.of(&Job { case, contender, seed })
    }

    /// A number of every seed, NaN where there is none: two lists of one case are paired.
    pub fn values(&self, case: Case, contender: Contender, of: impl Fn(&Outcome) -> f64) -> Vec<f64> {
        (1..=self.plan().seeds).map(|seed| self.outcome(case, contender, seed).map_or(f64::NAN, &of)).collect()
    }

    /// The mean of every seed's value, and its interval.
    pub fn estimate(&self, case: Case, contender: Contender, of: impl Fn(&Outcome) -> f64) -> Estimate {
        Estimate::of(self.values(case, contender, of))
    }

    /// How far a contender is from the bound: the mean over the 18 percentiles of Tables II and III of its delay over the
    /// bound's, for every seed.
    pub fn to_bound(&self, contender: Contender) -> Vec<f64> {
        let cells: Vec<(Case, f64)> = Case::TABLE_2
            .into_iter()
            .chain(Case::TABLE_3)
            .flat_map(|case| [0.9, 0.95, 0.99].map(|share| (case, share)))
            .collect();
        let ratio = |seed: u64, (case, share): &(Case, f64)| {
            let delay = |contender| self.outcome(*case, contender, seed).map_or(f64::NAN, |it| it.percentile(*share));
            delay(contender) / delay(Contender::BOUND)
        };
        let mean = |seed| cells.iter().map(|cell| ratio(seed, cell)).sum::<f64>() / cells.len() as f64;
        (1..=self.plan().seeds).map(mean).collect()
    }
}
