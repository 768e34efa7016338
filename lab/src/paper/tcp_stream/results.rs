//! What came of the jobs, by condition, carrier and seed.

use super::carrier::Carrier;
use super::condition::Condition;
use super::plan::{Job, Plan};
use super::record::Record;
use super::series::Series;
use crate::paper::results;

/// Records of the jobs of a plan that have been run; the others are missing and prove nothing.
pub type Results = results::Results<Plan, Job, Record>;

impl Results {
    /// A number of every seed, NaN where there is none: two lists of one condition are paired.
    pub fn values(&self, condition: Condition, carrier: Carrier, of: impl Fn(&Record) -> f64) -> Vec<f64> {
        let value = |seed| self.of(&Job { condition, carrier, seed }).map_or(f64::NAN, &of);
        (1..=self.plan().seeds_of(condition)).map(value).collect()
    }

    /// The same of rates over time.
    pub fn rates(&self, condition: Condition, carrier: Carrier, of: impl Fn(&Series) -> f64) -> Vec<f64> {
        self.values(condition, carrier, |record| record.series.as_ref().map_or(f64::NAN, &of))
    }
}
