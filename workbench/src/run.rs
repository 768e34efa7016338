//! The runs of a campaign, on all processors.

use std::fmt;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use thalweg_core::time::{Span, Time};
use thalweg_lab::experiment::{Experiment, Run};
use thalweg_lab::own::Fault;
use thalweg_lab::scenario::Blueprint;

use crate::campaign::{Campaign, Finished};
use crate::error::Error;
use crate::output::{Output, Watch};
use crate::pool::{self, Pool, Task};

/// The results of a campaign.
#[derive(Clone, PartialEq, Debug)]
pub struct Results {
    /// The completed runs, by variant and seed.
    pub finished: Vec<Finished>,
    /// The number of runs that did not reach their end.
    pub missing: usize,
}

impl Results {
    /// The runs of one variant, in the order of the seeds.
    pub fn of(&self, variant: usize) -> impl Iterator<Item = &Finished> {
        self.finished.iter().filter(move |run| run.variant == variant)
    }
}

/// A run that a law of one's own has ended by a fault.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Faulted {
    /// The name of its variant; in a sweep the values of its point.
    pub variant: String,
    /// Its seed.
    pub seed: u64,
    /// The fault.
    pub fault: Fault,
}

impl fmt::Display for Faulted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, seed {}: {}", self.variant, self.seed, self.fault)
    }
}

/// Performs all runs; `output` takes each run as it ends, and writes them seed by seed, in the order of the variants.
///
/// # Errors
/// A run is impossible, finds a fault of the lab, or has a law of one's own that fails, or its results cannot be written.
pub fn run(campaign: &Campaign, output: &Output<'_>, pool: Pool<'_>) -> Result<Results, Error> {
    let lengths = campaign.experiments()?.iter().map(|it| millis(it.duration)).sum::<u64>();
    let jobs = campaign.jobs();
    let length = lengths * campaign.seeds.len() as u64;
    let ran = pool::run(&jobs, length, pool, |nth, &(seed, variant)| {
        let (name, blueprint) = &campaign.variants[variant];
        Running::begin((variant, name), blueprint, seed, |run| {
            Ok(Written { output, nth, name, watch: output.watch(name, seed, run)? })
        })
    });
    output.finish()?;
    let mut finished: Vec<Finished> = ran?.into_iter().map(|(_, finished)| finished).collect();
    finished.sort_by_key(|run| (run.variant, run.seed));
    Ok(Results { missing: jobs.len() - finished.len(), finished })
}

/// The simulated time between two checks for an interruption, for which packets are held in memory: on a link of 1 Gb/s less
/// than a millisecond's work.
const TURN: Span = Span::from_millis(10);

/// An observer of one run, which makes its record.
pub(crate) trait Observer {
    /// The record of the run.
    type Record;

    /// The time of the next [`Observer::look`] at a run that stands at `now`, if that shall not be later than [`TURN`].
    fn next(&self, now: Time) -> Option<Time>;

    /// Observes a run that stands at `now`.
    fn look(&mut self, now: Time, run: &mut Run) -> Result<(), Error>;

    /// The record of the run, which has reached its end.
    fn finish(self, run: Finished) -> Result<Self::Record, Error>;

    /// The record of a run that a law of one's own has ended by a fault.
    fn fault(self, run: Faulted) -> Result<Self::Record, Error>;

    /// Takes leave of a run that does not reach its end.
    fn abandon(self);
}

/// One run, between its start and its end.
pub(crate) struct Running<'a, O> {
    /// The name of its variant.
    name: &'a str,
    variant: usize,
    seed: u64,
    experiment: Experiment,
    run: Run,
    observer: O,
    now: Time,
    began: Duration,
    /// The fault that has ended the run, if one has.
    fault: Option<Fault>,
}

impl<'a, O: Observer> Running<'a, O> {
    /// The run of a variant with `seed`, at time zero.
    pub(crate) fn begin(
        (variant, name): (usize, &'a str),
        blueprint: &Blueprint,
        seed: u64,
        observer: impl FnOnce(&mut Run) -> Result<O, Error>,
    ) -> Result<Running<'a, O>, Error> {
        let experiment = blueprint.experiment(seed).map_err(|error| Error::Scenario(error.to_string()))?;
        let mut run = Run::new(&experiment, seed).map_err(|why| impossible(name, seed, &why))?;
        let observer = observer(&mut run)?;
        let began = processor_time();
        Ok(Running { name, variant, seed, experiment, run, observer, now: Time::ZERO, began, fault: None })
    }
}

/// A run is a task, in milliseconds of its own time.
impl<O: Observer> Task for Running<'_, O> {
    type Record = O::Record;
    type Error = Error;

    fn length(&self) -> u64 {
        millis(self.run.end().since(Time::ZERO))
    }

    fn done(&self) -> u64 {
        match self.now >= self.run.end() {
            true => self.length(),
            // The last step may be shorter than a millisecond.
            false => millis(self.now.since(Time::ZERO)).min(self.length().saturating_sub(1)),
        }
    }

    fn advance(&mut self) -> Result<(), Error> {
        let turn = (self.now + TURN).min(self.run.end());
        let next = self.observer.next(self.now).map_or(turn, |next| next.min(turn));
        self.run.until(next);
        self.fault = self.run.fault().cloned();
        if self.fault.is_some() {
            // Nothing is left to do.
            self.now = self.run.end();
            return Ok(());
        }
        self.observer.look(next, &mut self.run)?;
        self.now = next;
        Ok(())
    }

    fn finish(mut self) -> Result<O::Record, Error> {
        // A run of less than a millisecond has no length.
        while self.now < self.run.end() {
            self.advance()?;
        }
        let Running { name, variant, seed, experiment, run, observer, began, fault, .. } = self;
        if let Some(fault) = fault {
            return observer.fault(Faulted { variant: name.to_owned(), seed, fault });
        }
        let outcome = run.finish().map_err(|failure| impossible(name, seed, &failure))?;
        let cpu = processor_time().saturating_sub(began);
        let groups = experiment.groups.iter().map(|group| group.name.clone()).collect();
        observer.finish(Finished { variant, seed, groups, outcome, cpu, simulated: experiment.duration })
    }

    fn abandon(self) {
        self.observer.abandon();
    }
}

/// The observer of a campaign's run: its files, and its place in the output.
struct Written<'a, 'b> {
    output: &'a Output<'b>,
    nth: usize,
    name: &'a str,
    watch: Watch,
}

impl Observer for Written<'_, '_> {
    type Record = Finished;

    fn next(&self, now: Time) -> Option<Time> {
        self.watch.next(now)
    }

    fn look(&mut self, now: Time, run: &mut Run) -> Result<(), Error> {
        self.watch.look(now, run)
    }

    fn finish(self, run: Finished) -> Result<Finished, Error> {
        self.watch.end()?;
        self.output.take(self.nth, self.name, &run)?;
        Ok(run)
    }

    fn fault(self, run: Faulted) -> Result<Finished, Error> {
        self.watch.abandon();
        Err(Error::Run(run.to_string()))
    }

    fn abandon(self) {
        self.watch.abandon();
    }
}

fn impossible(name: &str, seed: u64, why: &dyn std::fmt::Display) -> Error {
    Error::Run(format!("{name}, seed {seed}: {why}"))
}

pub(crate) fn millis(span: Span) -> u64 {
    span.as_micros() / 1_000
}

/// Processor time that this thread has used so far.
fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
