//! The records of a plan's jobs.

use std::collections::BTreeMap;

use thalweg_lab::statistics::Estimate;

use crate::jobs::Jobs;

/// Records of the jobs that have been run; missing ones prove nothing. The view selects the records that are read
/// if the plan has several for the same condition.
#[derive(Clone, PartialEq, Debug)]
pub struct Results<P: Jobs> {
    plan: P,
    view: P::View,
    records: BTreeMap<P::Job, P::Record>,
}

impl<P: Jobs> Results<P> {
    /// Empty results.
    pub fn new(plan: P) -> Self {
        Results { plan, view: P::View::default(), records: BTreeMap::new() }
    }

    /// The same records with another view.
    pub fn with(&self, view: P::View) -> Self
    where
        Self: Clone,
    {
        Results { view, ..self.clone() }
    }

    /// The view.
    pub fn view(&self) -> &P::View {
        &self.view
    }

    /// The plan.
    pub fn plan(&self) -> &P {
        &self.plan
    }

    /// Stores the record of a job.
    pub fn insert(&mut self, job: P::Job, record: P::Record) {
        self.records.insert(job, record);
    }

    /// The number of jobs that have been run.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// True if no job has been run.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// The record of a job, if it has been run.
    pub fn of(&self, job: &P::Job) -> Option<&P::Record> {
        self.records.get(job)
    }

    /// The record of a condition and a subject, if it has been run.
    pub fn record(&self, condition: P::Condition, subject: P::Subject, seed: u64) -> Option<&P::Record> {
        self.of(&P::job(condition, subject, &self.view, seed))
    }

    /// A number for every seed, NaN if it is missing: lists of the same condition are paired by seed.
    pub fn values(&self, condition: P::Condition, subject: P::Subject, of: impl Fn(&P::Record) -> f64) -> Vec<f64> {
        let seeds = self.plan.seeds(condition, &self.view);
        seeds.map(|seed| self.record(condition, subject, seed).map_or(f64::NAN, &of)).collect()
    }

    /// The mean over the seeds, with its confidence interval.
    pub fn estimate(&self, condition: P::Condition, subject: P::Subject, of: impl Fn(&P::Record) -> f64) -> Estimate {
        Estimate::of(self.values(condition, subject, of))
    }
}
