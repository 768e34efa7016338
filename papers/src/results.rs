//! The records of a plan's jobs.

use std::collections::BTreeMap;

use thalweg_lab::statistics::Estimate;

use crate::evaluation::Evaluation;

/// Records of the jobs that have been run; missing ones prove nothing. The view selects the records that are read
/// if the plan has several for the same condition.
#[derive(Clone, PartialEq, Debug)]
pub struct Results<E: Evaluation> {
    plan: E,
    view: E::View,
    records: BTreeMap<E::Job, E::Record>,
}

impl<E: Evaluation> Results<E> {
    /// Empty results.
    pub fn new(plan: E) -> Self {
        Results { plan, view: E::View::default(), records: BTreeMap::new() }
    }

    /// The same records with another view.
    pub fn with(&self, view: E::View) -> Self
    where
        Self: Clone,
    {
        Results { view, ..self.clone() }
    }

    /// The view.
    pub fn view(&self) -> &E::View {
        &self.view
    }

    /// The plan.
    pub fn plan(&self) -> &E {
        &self.plan
    }

    /// Stores the record of a job.
    pub fn insert(&mut self, job: E::Job, record: E::Record) {
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
    pub fn of(&self, job: &E::Job) -> Option<&E::Record> {
        self.records.get(job)
    }

    /// The record of a condition and a subject, if it has been run.
    pub fn record(&self, condition: E::Condition, subject: E::Subject, seed: u64) -> Option<&E::Record> {
        self.of(&E::job(condition, subject, &self.view, seed))
    }

    /// A number for every seed, NaN if it is missing: lists of the same condition are paired by seed.
    pub fn values(&self, condition: E::Condition, subject: E::Subject, of: impl Fn(&E::Record) -> f64) -> Vec<f64> {
        let seeds = self.plan.seeds(condition, &self.view);
        seeds.map(|seed| self.record(condition, subject, seed).map_or(f64::NAN, &of)).collect()
    }

    /// The mean over the seeds, with its confidence interval.
    pub fn estimate(&self, condition: E::Condition, subject: E::Subject, of: impl Fn(&E::Record) -> f64) -> Estimate {
        Estimate::of(self.values(condition, subject, of))
    }
}
