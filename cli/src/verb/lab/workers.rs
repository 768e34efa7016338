//! The threads that perform a campaign, on all processors.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use thalweg_core::time::{Span, Time};
use thalweg_lab::experiment::Run;
use thalweg_net::signal::Stop;
use thalweg_net::terminal::escaped;

use super::campaign::{Campaign, Finished};
use super::output::Output;
use super::progress::Progress;
use super::{failed, interrupted};
use crate::failure::Failure;

/// The results of a campaign.
pub(super) struct Results {
    /// The completed runs, by variant and seed.
    pub(super) finished: Vec<Finished>,
    /// The number of runs that did not.
    pub(super) missing: usize,
    stop: Stop,
}

impl Results {
    /// The runs of one variant, in the order of the seeds.
    pub(super) fn of(&self, variant: usize) -> impl Iterator<Item = &Finished> {
        self.finished.iter().filter(move |run| run.variant == variant)
    }

    /// Fails if a run is missing; the error names the number of completed runs.
    pub(super) fn complete(&self) -> Result<(), Failure> {
        match (self.missing, self.finished.len()) {
            (0, _) => Ok(()),
            (missing, kept) => {
                let all = missing + kept;
                let why = interrupted(&self.stop);
                Err(failed(format!("{why}: {kept} of {all} runs were completed, and only these count")))
            }
        }
    }

    /// The failure of a campaign that was interrupted before any result.
    pub(super) fn nothing_before(&self, what: &str) -> Failure {
        failed(format!("{} before {what}", interrupted(&self.stop)))
    }
}

/// State that the threads share.
struct Shared<'a> {
    campaign: &'a Campaign,
    output: &'a Output,
    stop: &'a Stop,
    /// The index of the next run to begin with.
    next: AtomicUsize,
    /// Simulated milliseconds completed in all runs together.
    done: AtomicU64,
    /// Set once a run has failed.
    broken: AtomicBool,
    finished: Mutex<Vec<Finished>>,
    failure: Mutex<Option<Failure>>,
}

/// Performs all runs; `output` takes each run as it ends, and writes them seed by seed, in the order of the variants.
pub(super) fn run(campaign: &Campaign, output: &Output) -> Result<Results, Failure> {
    let stop = Stop::on_signal().map_err(|error| failed(format!("cannot handle signals: {error}")))?;
    let all = campaign.variants.len() * campaign.seeds.len();
    let shared = Shared {
        campaign,
        output,
        stop: &stop,
        next: AtomicUsize::new(0),
        done: AtomicU64::new(0),
        broken: AtomicBool::new(false),
        finished: Mutex::new(Vec::with_capacity(all)),
        failure: Mutex::new(None),
    };
    let experiments = campaign.experiments()?;
    if let Some((warmup, (group, start))) = experiments.iter().find_map(|it| Some((it.warmup, it.late()?))) {
        let name = escaped(&group.name);
        eprintln!(
            "thalweg: lab: measuring begins at {warmup}, but a flow of '{name}' may start as late as {start}; use a \
             longer warm-up"
        );
    }
    let whole = experiments.iter().map(|it| millis(it.duration)).sum::<u64>() * campaign.seeds.len() as u64;
    let mut progress = Progress::new(all, whole);
    thread::scope(|scope| {
        let workers: Vec<_> =
            (0..campaign.threads.clamp(1, all.max(1))).map(|_| scope.spawn(|| shared.work())).collect();
        while !workers.iter().all(thread::ScopedJoinHandle::is_finished) {
            progress.show(shared.done.load(Ordering::Relaxed), shared.kept());
            thread::sleep(Duration::from_millis(20));
        }
    });
    progress.end();
    output.finish()?;
    let Shared { finished, failure, .. } = shared;
    if let Some(failure) = failure.into_inner().expect("no thread panics with it") {
        return Err(failure);
    }
    let mut finished = finished.into_inner().expect("no thread panics with it");
    finished.sort_by_key(|run| (run.variant, run.seed));
    let missing = all - finished.len();
    Ok(Results { finished, missing, stop })
}

impl Shared<'_> {
    fn kept(&self) -> usize {
        self.finished.lock().expect("no thread panics with it").len()
    }

    /// Performs one run after the other until none is left.
    fn work(&self) {
        let (variants, seeds) = (&self.campaign.variants, &self.campaign.seeds);
        loop {
            let job = self.next.fetch_add(1, Ordering::Relaxed);
            if job >= variants.len() * seeds.len() || self.over() {
                return;
            }
            // Seed by seed, so that an interrupted campaign leaves paired runs.
            let (seed, variant) = (seeds[job / variants.len()], job % variants.len());
            match self.one(job, variant, seed) {
                Ok(Some(finished)) => self.finished.lock().expect("no thread panics with it").push(finished),
                Ok(None) => return,
                Err(failure) => {
                    self.broken.store(true, Ordering::Relaxed);
                    self.failure.lock().expect("no thread panics with it").get_or_insert(failure);
                    return;
                }
            }
        }
    }

    fn over(&self) -> bool {
        self.stop.asked() || self.broken.load(Ordering::Relaxed)
    }

    /// One run, unless it is interrupted.
    fn one(&self, job: usize, variant: usize, seed: u64) -> Result<Option<Finished>, Failure> {
        let (name, blueprint) = &self.campaign.variants[variant];
        let experiment = blueprint.experiment(seed).map_err(|error| failed(error.to_string()))?;
        let impossible = |why: &dyn std::fmt::Display| failed(format!("{name}, seed {seed}: {why}"));
        let mut run = Run::new(&experiment, seed).map_err(|why| impossible(&why))?;
        let mut watch = self.output.watch(name, seed, &mut run)?;
        let began = processor_time();
        let end = run.end();
        let mut now = Time::ZERO;
        while now < end {
            let next = watch.next(now).min(end);
            run.until(next);
            watch.look(next, &mut run)?;
            self.done.fetch_add(millis(next.since(Time::ZERO)) - millis(now.since(Time::ZERO)), Ordering::Relaxed);
            now = next;
            if self.over() {
                watch.abandon();
                return Ok(None);
            }
        }
        watch.end()?;
        let outcome = run.finish().map_err(|leak| impossible(&leak))?;
        let cpu = processor_time().saturating_sub(began);
        let groups = experiment.groups.iter().map(|group| group.name.clone()).collect();
        let finished = Finished { variant, seed, groups, outcome, cpu, simulated: experiment.duration };
        self.output.take(job, name, &finished)?;
        Ok(Some(finished))
    }
}

fn millis(span: Span) -> u64 {
    span.as_micros() / 1_000
}

/// Processor time that this thread has used so far.
fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
