//! The paper's claims, and what the results make of each under a reading.
//!
//! A part that compares two strategies is judged by the 95 % interval of the difference of runs with the same seed.
//! Arithmetic is computed by the very objects that decide, and must hold.

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
use super::results::Results;
use crate::paper::claim::{self, Finding, Gate, difference};
use crate::paper::part::{Part, Wanted};

/// Something that the paper says.
pub type Claim = claim::Claim<fn(&Court<'_>) -> Vec<Part>>;

/// Judges every claim under this reading.
pub fn judge(results: &Results, variant: Variant) -> Vec<Finding> {
    let court = Court { results, variant };
    CLAIMS.iter().map(|claim| claim.finding(|judge| judge(&court))).collect()
}

/// What claims are judged by.
#[derive(Debug)]
pub struct Court<'a> {
    results: &'a Results,
    variant: Variant,
}

impl Court<'_> {
    fn values(&self, case: Case, strategy: Strategy, of: impl Fn(&Outcome) -> f64) -> Vec<f64> {
        self.results.values(case, Contender::new(strategy, self.variant), of)
    }

    /// A percentile of the delay, s.
    fn delay(&self, case: Case, strategy: Strategy, share: f64) -> Vec<f64> {
        self.values(case, strategy, |outcome| outcome.percentile(share))
    }

    /// That a percentile of the delay is smaller with `low` than with `high`.
    fn sooner(&self, case: Case, share: f64, low: Strategy, high: Strategy) -> Part {
        let gain = difference(&self.delay(case, high, share), &self.delay(case, low, share));
        let what = format!("{case}: {} %, {} - {}, s", share * 100.0, high.name(), low.name());
        Part::new(what, gain, Wanted::Above(0.0))
    }

    /// One strategy's percentile over another's.
    fn ratio(&self, case: Case, share: f64, of: Strategy, over: Strategy, wanted: Wanted) -> Part {
        let (above, below) = (self.delay(case, of, share), self.delay(case, over, share));
        let ratio = above.iter().zip(below).map(|(above, below)| above / below).collect();
        Part::new(format!("{case}: {} %, {} / {}", share * 100.0, of.name(), over.name()), ratio, wanted)
    }

    /// What the cost-based choice gains on the opportunistic one at 99 %, s.
    fn gain(&self, case: Case) -> Vec<f64> {
        difference(&self.delay(case, Strategy::Opportunistic, 0.99), &self.delay(case, Strategy::Cost, 0.99))
    }
}
