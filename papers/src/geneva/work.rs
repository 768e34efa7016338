//! The execution of a job.

use core::ops::ControlFlow;

use thalweg_core::time::{Span, Time};
use thalweg_lab::experiment::{Group, Outcome, Run};

use super::plan::{Job, Plan};
use super::record::Record;
use super::trace::{STEP, Watch};
use crate::work::{self, Observer};

/// One run, between its start and its end.
pub type Work = work::Work<Option<Watch>>;

impl Plan {
    /// Creates the run of a job, at time zero.
    ///
    /// # Errors
    /// An error names the impossible job and gives the reason.
    pub fn begin(&self, job: &Job) -> Result<Work, String> {
        let name = format!("{}, {}", job.condition, job.scheme.name());
        let is_geneva = job.scheme.settings().0 == "geneva";
        Work::new(&name, self.blueprint(job), job.seed, |experiment, run| {
            (job.condition.is_traced() && is_geneva).then(|| {
                let from = Time::ZERO + experiment.warmup;
                Watch::new(run, from, Span::from_millis(job.condition.rtt_ms().into()))
            })
        })
    }
}

impl Observer for Option<Watch> {
    type Record = Record;

    fn step(&self) -> Option<Span> {
        self.as_ref().map(|_| STEP)
    }

    fn look(&mut self, now: Time, run: &Run) -> ControlFlow<()> {
        if let Some(watch) = self {
            watch.look(now, run);
        }
        ControlFlow::Continue(())
    }

    fn record(self, outcome: &Outcome, groups: &[Group]) -> Record {
        Record::of(outcome, groups, self.map(Watch::finish))
    }
}
