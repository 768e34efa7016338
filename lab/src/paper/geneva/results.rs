//! What came of the jobs, by job.

use super::condition::{Condition, Phases, Scheme, Setting};
use super::plan::{Job, Plan};
use super::record::{Record, StreamRecord};
use crate::paper::results;
use crate::statistics::Estimate;

/// Records of the jobs of a plan that have been run; the others are missing and prove nothing. Streams are read apart, if
/// nothing is said.
pub type Results = results::Results<Plan, Job, Record, Setting>;

impl Results {
    /// Schemes that compete in §4, both states of GENEVA's window among it; other settings have the whole one alone.
    pub fn compared(&self) -> Vec<Scheme> {
        let is_run = |scheme: &Scheme| *self.view() == Setting::CHOSEN || *scheme != Scheme::GenevaReal;
        Scheme::COMPARED.into_iter().filter(is_run).collect()
    }

    /// What came of a job, if it has been run.
    pub fn record(&self, condition: Condition, scheme: Scheme, seed: u64) -> Option<&Record> {
        let setting = match condition {
            // A stream alone is never together with another.
            Condition::OneStream { .. } => Setting { phases: Phases::Apart, ..*self.view() },
            _ => *self.view(),
        };
        self.of(&Job { condition, setting, scheme, seed })
    }

    /// A number of every seed, NaN where there is none: two lists of one condition are paired.
    pub fn values(&self, condition: Condition, scheme: Scheme, of: impl Fn(&Record) -> f64) -> Vec<f64> {
        let seeds = self.plan().seeds_of(condition, *self.view());
        (1..=seeds).map(|seed| self.record(condition, scheme, seed).map_or(f64::NAN, &of)).collect()
    }

    /// The mean over the streams, of every seed.
    pub fn streams(&self, condition: Condition, scheme: Scheme, of: impl Fn(&StreamRecord) -> f64) -> Vec<f64> {
        self.values(condition, scheme, |record| record.mean(&of))
    }

    /// TPindex of every seed: mean TCP throughput beside the scheme over that beside TFRC with the same seed. Eq. (9).
    pub fn tpindex(&self, condition: Condition, scheme: Scheme) -> Vec<f64> {
        let beside = |scheme| self.values(condition, scheme, |record| record.tcp_mbps);
        beside(scheme).iter().zip(beside(Scheme::Tfrc)).map(|(target, tfrc)| target / tfrc).collect()
    }

    /// The mean of every seed's value, and its interval.
    pub fn estimate(&self, condition: Condition, scheme: Scheme, of: impl Fn(&Record) -> f64) -> Estimate {
        Estimate::of(self.values(condition, scheme, of))
    }
}
