//! What came of the jobs of a plan, by job.

use std::collections::BTreeMap;

/// Records of the jobs that have been run; the others are missing and prove nothing.
#[derive(Clone, PartialEq, Debug)]
pub struct Results<Plan, Job, Record> {
    plan: Plan,
    records: BTreeMap<Job, Record>,
}

impl<Plan, Job: Ord, Record> Results<Plan, Job, Record> {
    /// No results yet.
    pub fn new(plan: Plan) -> Results<Plan, Job, Record> {
        Results { plan, records: BTreeMap::new() }
    }

    /// What was to be run.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Takes what came of a job.
    pub fn insert(&mut self, job: Job, record: Record) {
        self.records.insert(job, record);
    }

    /// How many jobs have been run.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Whether none has.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// What came of a job, if it has been run.
    pub fn of(&self, job: &Job) -> Option<&Record> {
        self.records.get(job)
    }
}
