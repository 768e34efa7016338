//! A job at work.

use thalweg_core::time::{Span, Time};

use super::plan::{Job, Plan};
use super::record::Record;
use super::trace::{STEP, Watch};
use crate::experiment::Run;

/// One run, between its start and its end.
#[derive(Clone, Debug)]
pub struct Work {
    run: Run,
    watch: Option<Watch>,
    now: Time,
}

impl Work {
    /// A run that stands at time zero.
    ///
    /// # Errors
    /// Says which job is impossible, and why.
    pub fn new(plan: &Plan, job: &Job) -> Result<Work, String> {
        let refused = |why: &dyn core::fmt::Display| format!("{}, {}: {why}", job.condition, job.scheme.name());
        let blueprint = plan.blueprint(job).map_err(|error| refused(&error))?;
        let experiment = blueprint.experiment(job.seed).map_err(|error| refused(&error))?;
        let run = Run::new(&experiment, job.seed).map_err(|why| refused(&why))?;
        let is_geneva = job.scheme.settings().0 == "geneva";
        let watch = (job.condition.is_traced() && is_geneva).then(|| {
            let from = Time::ZERO + experiment.warmup;
            Watch::new(&run, from, Span::from_millis(job.condition.rtt_ms().into()))
        });
        Ok(Work { run, watch, now: Time::ZERO })
    }

    /// How long the run is.
    pub fn length(&self) -> Span {
        self.run.end().since(Time::ZERO)
    }

    /// How much of it is over.
    pub fn done(&self) -> Span {
        self.now.since(Time::ZERO)
    }

    /// Goes on for `span`, or to the end of the run if that is earlier.
    pub fn advance(&mut self, span: Span) {
        let to = (self.now + span).min(self.run.end());
        if let Some(watch) = &mut self.watch {
            while self.now < to {
                let steps = self.now.since(Time::ZERO).as_nanos() / STEP.as_nanos() + 1;
                self.now = (Time::ZERO + STEP * steps).min(to);
                self.run.until(self.now);
                watch.look(self.now, &self.run);
            }
        }
        self.run.until(to);
        self.now = to;
    }

    /// Runs to the end, and says what came of it.
    ///
    /// # Errors
    /// Packets were invented or forgotten: a fault of the lab.
    pub fn finish(mut self) -> Result<Record, String> {
        self.advance(self.length());
        let groups = self.run.groups().to_vec();
        let trace = self.watch.map(Watch::finish);
        let outcome = self.run.finish().map_err(|leak| leak.to_string())?;
        Ok(Record::of(&outcome, &groups, trace))
    }
}
