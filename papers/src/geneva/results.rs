//! The records of the jobs.

use super::condition::{Condition, Scheme, Setting};
use super::plan::Plan;
use super::record::StreamRecord;
use crate::results;

/// Records of those jobs of a plan that have been run; missing ones prove nothing. The view is the [`Setting`] that is
/// read, by default that with streams apart.
pub type Results = results::Results<Plan>;

impl Results {
    /// The schemes of §4: with both states of GENEVA's window under [`Setting::CHOSEN`], with the integer state only
    /// under other settings.
    pub fn compared(&self) -> Vec<Scheme> {
        let is_run = |scheme: &Scheme| *self.view() == Setting::CHOSEN || *scheme != Scheme::GenevaReal;
        Scheme::COMPARED.into_iter().filter(is_run).collect()
    }

    /// The mean over the streams, for every seed.
    pub fn streams(&self, condition: Condition, scheme: Scheme, of: impl Fn(&StreamRecord) -> f64) -> Vec<f64> {
        self.values(condition, scheme, |record| record.mean(&of))
    }

    /// TPindex for every seed: mean TCP throughput beside the scheme over that beside TFRC with the same seed, Eq. (9).
    pub fn tpindex(&self, condition: Condition, scheme: Scheme) -> Vec<f64> {
        let beside = |scheme| self.values(condition, scheme, |record| record.tcp_mbps);
        beside(scheme).iter().zip(beside(Scheme::Tfrc)).map(|(target, tfrc)| target / tfrc).collect()
    }
}
