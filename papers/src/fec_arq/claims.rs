//! The paper's claims, and the findings about each under a reading.
//!
//! A part that compares two strategies is judged by the 95 % interval of the difference between runs with the same
//! seed. Arithmetic is computed by the same code that makes the decisions, and must hold.

mod arithmetic;
mod list;
mod sweeps;
mod tables;
#[cfg(test)]
mod tests;

pub use self::list::CLAIMS;
use super::case::Case;
use super::contender::{Contender, Strategy, Variant};
use super::outcome::Outcome;
use super::plan::Plan;
use crate::claim::{self, Gate, difference};
use crate::part::{Part, Wanted};

/// A claim of the paper.
pub type Claim = claim::Claim<Plan, Variant>;
/// The results and the reading by which claims are judged.
pub type Evaluator<'a> = claim::Evaluator<'a, Plan, Variant>;

impl Evaluator<'_> {
    fn values(&self, case: Case, strategy: Strategy, of: impl Fn(&Outcome) -> f64) -> Vec<f64> {
        self.results.values(case, Contender::new(strategy, self.reading), of)
    }

    /// A percentile of the delay, in seconds.
    fn delay(&self, case: Case, strategy: Strategy, share: f64) -> Vec<f64> {
        self.values(case, strategy, |outcome| outcome.percentile(share))
    }

    /// Requires that a percentile of the delay is smaller with `low` than with `high`.
    fn sooner(&self, case: Case, share: f64, low: Strategy, high: Strategy) -> Part {
        let gain = difference(&self.delay(case, high, share), &self.delay(case, low, share));
        let what = format!("{case}: {} %, {} - {}, s", share * 100.0, high.name(), low.name());
        Part::new(what, gain, Wanted::Above(0.0))
    }

    /// The ratio of one strategy's percentile of the delay to another's.
    fn ratio(&self, case: Case, share: f64, of: Strategy, over: Strategy, wanted: Wanted) -> Part {
        let (above, below) = (self.delay(case, of, share), self.delay(case, over, share));
        let ratio = above.iter().zip(below).map(|(above, below)| above / below).collect();
        Part::new(format!("{case}: {} %, {} / {}", share * 100.0, of.name(), over.name()), ratio, wanted)
    }

    /// The 99th percentile of the delay with the opportunistic choice minus that with the cost-based choice, in
    /// seconds.
    fn gain(&self, case: Case) -> Vec<f64> {
        difference(&self.delay(case, Strategy::Opportunistic, 0.99), &self.delay(case, Strategy::Cost, 0.99))
    }
}
