//! The execution of a job: one run of a scenario, step by step, with an observer.

use core::fmt::Display;
use core::ops::ControlFlow;

use thalweg_core::time::{Span, Time};
use thalweg_lab::experiment::{Experiment, Group, Outcome, Run};
use thalweg_lab::scenario::{Blueprint, Error};

use crate::pool::Task;

/// An observer, which reads a run while it advances and makes its record.
pub trait Observer {
    /// The record of a run.
    type Record;

    /// The interval between readings; none for an observer that reads nothing.
    fn step(&self) -> Option<Span>;

    /// Takes a reading; `now` is a multiple of the step. Breaks if the run can end.
    fn look(&mut self, now: Time, run: &Run) -> ControlFlow<()>;

    /// The record of a run of these groups.
    fn record(self, outcome: &Outcome, groups: &[Group]) -> Self::Record;
}

/// One run, between its start and its end.
#[derive(Debug)]
pub struct Work<O> {
    run: Run,
    observer: O,
    now: Time,
    /// The expected duration.
    length: Span,
}

/// A shipped scenario, by its name and text, with parameters that a plan sets.
pub(super) fn described(scenario: (&str, &str), settings: &[(String, String)]) -> Result<Blueprint, Error> {
    described_with(scenario, settings, None)
}

/// The same, with the name and the text of a file that the scenario names.
pub(super) fn described_with(
    (name, text): (&str, &str),
    settings: &[(String, String)],
    file: Option<(&str, &str)>,
) -> Result<Blueprint, Error> {
    let mut files = |named: &str| {
        let found = file.filter(|(name, _)| *name == named).map(|(_, text)| text.to_owned());
        found.ok_or_else(|| format!("{named} is not at hand"))
    };
    Blueprint::parse(name, text, settings, &mut files)
}

/// The part of the expected duration that is left at least while a run is not over.
const MOMENT: Span = Span::from_millis(1);
const A_SECOND: Span = Span::from_secs(1);

impl<O: Observer> Work<O> {
    /// Creates a run of `described` with `seed`, at time zero; `of` describes the run in error messages.
    pub(super) fn new(
        of: &dyn Display,
        described: Result<Blueprint, Error>,
        seed: u64,
        observer: impl FnOnce(&Experiment, &Run) -> O,
    ) -> Result<Work<O>, String> {
        let refused = |why: &dyn Display| format!("{of}: {why}");
        let experiment = described.and_then(|blueprint| blueprint.experiment(seed)).map_err(|error| refused(&error))?;
        let run = Run::new(&experiment, seed).map_err(|why| refused(&why))?;
        let observer = observer(&experiment, &run);
        Ok(Work { observer, now: Time::ZERO, length: run.end().since(Time::ZERO), run })
    }

    /// Sets the expected duration to `span`, if that is shorter: the observer will end the run.
    pub(super) fn expecting(self, span: Span) -> Work<O> {
        Work { length: self.length.min(span), ..self }
    }

    /// The expected duration of the run.
    pub fn length(&self) -> Span {
        self.length
    }

    /// The part of the expected duration that has been run.
    pub fn done(&self) -> Span {
        if self.is_over() { self.length } else { self.now.since(Time::ZERO).min(self.length.saturating_sub(MOMENT)) }
    }

    fn is_over(&self) -> bool {
        self.now >= self.run.end()
    }

    /// Advances the run by `span`, or to its end if that is earlier.
    pub fn advance(&mut self, span: Span) {
        let to = (self.now + span).min(self.run.end());
        let Some(step) = self.observer.step() else {
            self.run.until(to);
            self.now = to;
            return;
        };
        while self.now < to && !self.is_over() {
            let next = Time::ZERO + step * (self.now.since(Time::ZERO).as_nanos() / step.as_nanos() + 1);
            self.now = next.min(to);
            self.run.until(self.now);
            // Readings do not depend on the spans by which the run is advanced.
            if self.now == next && self.observer.look(next, &self.run).is_break() {
                self.run.end_at(next);
            }
        }
    }

    /// Runs to the end, and returns the record.
    ///
    /// # Errors
    /// The conservation of packets is violated, which is a bug in the lab.
    pub fn finish(mut self) -> Result<O::Record, String> {
        while !self.is_over() {
            self.advance(A_SECOND);
        }
        let groups = self.run.groups().to_vec();
        let outcome = self.run.finish().map_err(|leak| leak.to_string())?;
        Ok(self.observer.record(&outcome, &groups))
    }
}

/// Runs of scenarios, in milliseconds of their own time.
impl<O: Observer> Task for Work<O> {
    type Record = O::Record;
    type Error = String;

    fn length(&self) -> u64 {
        millis(self.length())
    }

    fn done(&self) -> u64 {
        millis(self.done())
    }

    fn advance(&mut self) -> Result<(), String> {
        self.advance(A_SECOND);
        Ok(())
    }

    fn finish(self) -> Result<O::Record, String> {
        self.finish()
    }
}

fn millis(span: Span) -> u64 {
    span.as_micros() / 1_000
}
