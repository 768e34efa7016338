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

#[cfg(test)]
mod tests {
    use super::super::contender::{Strategy, Variant};
    use super::*;
    use crate::statistics::Verdict;

    /// On seeds that nothing was chosen by, with a tenth of the page's bursts. The study of 600 settings of one law that the bar of
    /// 1.20 comes from found 1.186 at best; the paper's own cost policy does not come below it.
    #[test]
    fn our_own_law_stays_near_the_bound_on_seeds_that_it_was_not_chosen_by() {
        let plan = Plan { bursts: 2_000, ..Plan::paper(Vec::new()) };
        let cost = Contender::new(Strategy::Cost, Variant::Literal);
        let mut results = Results::new(plan.clone());
        let all = [Contender::BOUND, Contender::OURS, cost];
        for (seed, case) in plan.fresh().flat_map(|seed| Case::rows().map(|case| (seed, case))) {
            for contender in all {
                let job = Job { case, contender, seed };
                results.insert(job, plan.run(&job).expect("it can be run"));
            }
        }
        let ours = results.beside_the_bound();
        assert!(ours.below(1.2) == Verdict::Holds, "{ours:?}");
        let theirs = Estimate::of(results.to_bound(cost, &Case::rows(), plan.fresh()));
        assert!(theirs.above(1.2) == Verdict::Holds, "the bar tells laws apart: {theirs:?}");
        assert_eq!(plan.fresh().count(), 5);
        assert!(plan.usual().chain([21, 22]).all(|seed| !plan.fresh().contains(&seed)));
    }
}
