//! What came of the jobs, by case, contender and seed.

use std::ops::RangeInclusive;

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
        self.plan().usual().map(|seed| self.outcome(case, contender, seed).map_or(f64::NAN, &of)).collect()
    }

    /// The mean of every seed's value, and its interval.
    pub fn estimate(&self, case: Case, contender: Contender, of: impl Fn(&Outcome) -> f64) -> Estimate {
        Estimate::of(self.values(case, contender, of))
    }

    /// What Thalweg's own law is judged by: how far it is from the bound in the rows of Tables II and III, on seeds that it was
    /// not chosen by.
    pub fn beside_the_bound(&self) -> Estimate {
        Estimate::of(self.to_bound(Contender::OURS, &Case::rows(), self.plan().fresh()))
    }

    /// How far a contender is from the bound: the mean over 90, 95 and 99 % of the delay in these cases of its delay over the
    /// bound's, for every one of these seeds. The bound sends nothing in vain, so it is that of the case without U_MAX.
    pub fn to_bound(&self, contender: Contender, cases: &[Case], seeds: RangeInclusive<u64>) -> Vec<f64> {
        let cells: Vec<(Case, f64)> =
            cases.iter().flat_map(|case| [0.9, 0.95, 0.99].map(|share| (*case, share))).collect();
        let ratio = |seed: u64, (case, share): &(Case, f64)| {
            let delay =
                |case, contender| self.outcome(case, contender, seed).map_or(f64::NAN, |it| it.percentile(*share));
            delay(*case, contender) / delay(case.boundless(), Contender::BOUND)
        };
        let mean = |seed| cells.iter().map(|cell| ratio(seed, cell)).sum::<f64>() / cells.len() as f64;
        seeds.map(mean).collect()
    }
}
