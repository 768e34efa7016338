//! What came of the jobs of a plan, by job.

use std::collections::BTreeMap;

/// Records of the jobs that have been run; the others are missing and prove nothing. A `View` says which of them are read,
/// where a plan has everything more than once.
#[derive(Clone, PartialEq, Debug)]
pub struct Results<Plan, Job, Record, View = ()> {
    plan: Plan,
    view: View,
    records: BTreeMap<Job, Record>,
}

impl<Plan, Job: Ord, Record, View: Default> Results<Plan, Job, Record, View> {
    /// No results yet.
    pub fn new(plan: Plan) -> Self {
        Results { plan, view: View::default(), records: BTreeMap::new() }
    }

    /// The same, read like this.
    pub fn with(&self, view: View) -> Self
    where
        Self: Clone,
    {
        Results { view, ..self.clone() }
    }

    /// How they are read.
    pub fn view(&self) -> &View {
        &self.view
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
