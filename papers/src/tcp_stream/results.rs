//! The records of the jobs, by condition, carrier and seed.

use super::carrier::Carrier;
use super::condition::Condition;
use super::plan::Plan;
use super::series::Series;
use crate::results;

/// Records of those jobs of a plan that have been run; missing ones prove nothing.
pub type Results = results::Results<Plan>;

impl Results {
    /// A number for every seed, computed from the rates over time.
    pub fn rates(&self, condition: Condition, carrier: Carrier, of: impl Fn(&Series) -> f64) -> Vec<f64> {
        self.values(condition, carrier, |record| record.series.as_ref().map_or(f64::NAN, &of))
    }
}
