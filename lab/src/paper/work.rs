//! A job at work: one run of a scenario, step by step, and whoever looks at it meanwhile.

use core::fmt::Display;
use core::ops::ControlFlow;

use thalweg_core::time::{Span, Time};

use crate::experiment::{Experiment, Group, Outcome, Run};
use crate::scenario::{Blueprint, Error};

/// Whoever looks at a run while it goes on, and says in the end what is kept of it.
pub trait Observer {
    /// What is kept.
    type Record;

    /// From one look to the next; none for one that has nothing to look at.
    fn step(&self) -> Option<Span>;

    /// Looks, at one of the multiples of the step, and says whether there is more to see.
    fn look(&mut self, now: Time, run: &Run) -> ControlFlow<()>;

    /// What is kept of a run of these groups.
    fn record(self, outcome: &Outcome, groups: &[Group]) -> Self::Record;
}

/// One run, between its start and its end.
#[derive(Clone, Debug)]
pub struct Work<O> {
    run: Run,
    observer: O,
    now: Time,
    /// How long it is, as far as one can tell.
    length: Span,
}

/// A scenario that comes with Thalweg, by its name and text, with parameters as a plan sets them.
pub(super) fn described((name, text): (&str, &str), settings: &[(String, String)]) -> Result<Blueprint, Error> {
    Blueprint::parse(name, text, settings, &mut |file| Err(format!("{file} is not at hand")))
}

/// As long as a run goes on after its expected end, it is not over.
const MOMENT: Span = Span::from_millis(1);
const A_SECOND: Span = Span::from_secs(1);

impl<O: Observer> Work<O> {
    /// A run of `described` with `seed` that stands at time zero; `of` says in errors what it is a run of.
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

    /// The same, which will be over after `span` or so: its observer ends it.
    pub(super) fn expecting(self, span: Span) -> Work<O> {
        Work { length: self.length.min(span), ..self }
    }

    /// How long the run is.
    pub fn length(&self) -> Span {
        self.length
    }

    /// How much of it is over.
    pub fn done(&self) -> Span {
        if self.is_over() { self.length } else { self.now.since(Time::ZERO).min(self.length.saturating_sub(MOMENT)) }
    }

    fn is_over(&self) -> bool {
        self.now >= self.run.end()
    }

    /// Goes on for `span`, or to the end of the run if that is earlier.
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
            // Looks do not depend on how the run is cut.
            if self.now == next && self.observer.look(next, &self.run).is_break() {
                self.run.end_at(next);
            }
        }
    }

    /// Runs to the end, and says what came of it.
    ///
    /// # Errors
    /// Packets were invented or forgotten: a fault of the lab.
    pub fn finish(mut self) -> Result<O::Record, String> {
        while !self.is_over() {
            self.advance(A_SECOND);
        }
        let groups = self.run.groups().to_vec();
        let outcome = self.run.finish().map_err(|leak| leak.to_string())?;
        Ok(self.observer.record(&outcome, &groups))
    }
}
