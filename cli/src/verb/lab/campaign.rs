//! Many runs: every variant of an experiment with every seed, on all processors.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use thalweg_core::time::{Span, Time};
use thalweg_lab::experiment::{Experiment, Outcome, QUANTITIES, Run};
use thalweg_lab::scenario::Blueprint;
use thalweg_net::signal::Stop;
use thalweg_net::terminal::escaped;

use super::output::{Output, Watch};
use super::progress::Progress;
use super::{failed, interrupted};
use crate::Failure;

/// What is to be run.
pub(super) struct Campaign {
    /// The variants, each under its name.
    pub(super) variants: Vec<(String, Blueprint)>,
    pub(super) seeds: Vec<u64>,
    pub(super) threads: usize,
}

/// One run that reached its end.
pub(super) struct Finished {
    pub(super) variant: usize,
    pub(super) seed: u64,
    /// The names of its groups.
    pub(super) groups: Vec<String>,
    pub(super) outcome: Outcome,
    cpu: Duration,
    simulated: Span,
}

/// What a run cost, which is the machine's doing: no seed decides it, and no two runs have the same.
pub(super) const CPU: &str = "cpu_s";

/// What every run says besides the lab's own quantities.
const OWN: [(&str, &str); 2] = [(CPU, "processor time of a run, s"), ("sim_s", "simulated time of a run, s")];

/// Names of what [`Finished::value`] knows, and what they are.
pub(super) fn quantities() -> impl Iterator<Item = (&'static str, &'static str)> {
    QUANTITIES.iter().map(|quantity| (quantity.name, quantity.what)).chain(OWN)
}

impl Finished {
    /// One of [`quantities`]; NaN where the run has none of it.
    pub(super) fn value(&self, name: &str) -> f64 {
        match name {
            CPU => self.cpu.as_secs_f64(),
            "sim_s" => self.simulated.as_secs_f64(),
            name => self.outcome.value(name),
        }
    }
}

/// What came of a campaign.
pub(super) struct Harvest {
    /// The runs that reached their end, by variant and seed.
    pub(super) finished: Vec<Finished>,
    /// How many did not.
    pub(super) missing: usize,
    stop: Stop,
}

impl Harvest {
    /// The runs of one variant, in the order of the seeds.
    pub(super) fn of(&self, variant: usize) -> impl Iterator<Item = &Finished> {
        self.finished.iter().filter(move |run| run.variant == variant)
    }

    /// Fails, and says how far it came, if a run is missing.
    pub(super) fn complete(&self) -> Result<(), Failure> {
        match (self.missing, self.finished.len()) {
            (0, _) => Ok(()),
            (missing, kept) => {
                let all = missing + kept;
                let why = interrupted(&self.stop);
                Err(failed(format!("{why}: {kept} of {all} runs reached their end, and only they count")))
            }
        }
    }

    /// That there was an end before anything could be said.
    pub(super) fn nothing_before(&self, what: &str) -> Failure {
        failed(format!("{} before {what}", interrupted(&self.stop)))
    }
}

/// What the threads share.
struct Shared<'a> {
    campaign: &'a Campaign,
    output: &'a Output,
    stop: &'a Stop,
    /// The next run to begin with.
    next: AtomicUsize,
    /// Simulated milliseconds behind all runs together.
    done: AtomicU64,
    /// Whether something went wrong.
    broken: AtomicBool,
    finished: Mutex<Vec<Finished>>,
    failure: Mutex<Option<Failure>>,
}

impl Campaign {
    /// Runs everything; `output` takes each run as it ends, in the order of variants and seeds.
    pub(super) fn run(&self, output: &Output) -> Result<Harvest, Failure> {
        let stop = Stop::on_signal().map_err(|error| failed(format!("cannot wait for signals: {error}")))?;
        let all = self.variants.len() * self.seeds.len();
        let shared = Shared {
            campaign: self,
            output,
            stop: &stop,
            next: AtomicUsize::new(0),
            done: AtomicU64::new(0),
            broken: AtomicBool::new(false),
            finished: Mutex::new(Vec::with_capacity(all)),
            failure: Mutex::new(None),
        };
        let experiments = self.experiments()?;
        if let Some((warmup, (group, start))) = experiments.iter().find_map(|it| Some((it.warmup, it.late()?))) {
            let name = escaped(&group.name);
            eprintln!(
                "thalweg: lab: measuring begins at {warmup}, and a flow of '{name}' may start as late as {start}"
            );
        }
        let whole = experiments.iter().map(|it| millis(it.duration)).sum::<u64>() * self.seeds.len() as u64;
        let mut progress = Progress::new(all, whole);
        thread::scope(|scope| {
            let workers: Vec<_> =
                (0..self.threads.clamp(1, all.max(1))).map(|_| scope.spawn(|| shared.work())).collect();
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
        Ok(Harvest { finished, missing, stop })
    }

    /// What each variant is, whatever its seed.
    pub(super) fn experiments(&self) -> Result<Vec<Experiment>, Failure> {
        let experiments = self.variants.iter().map(|(_, blueprint)| blueprint.experiment(0));
        experiments.collect::<Result<_, _>>().map_err(|error| failed(error.to_string()))
    }
}

impl Shared<'_> {
    fn kept(&self) -> usize {
        self.finished.lock().expect("no thread panics with it").len()
    }

    /// Takes one run after the other until there are no more.
    fn work(&self) {
        let (variants, seeds) = (&self.campaign.variants, &self.campaign.seeds);
        loop {
            let job = self.next.fetch_add(1, Ordering::Relaxed);
            if job >= variants.len() * seeds.len() || self.over() {
                return;
            }
            // Seed by seed, so that what an interrupted campaign has is paired.
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
        let mut watch = Watch::new(self.output, name, seed, &mut run)?;
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

/// What this thread has used so far.
fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
