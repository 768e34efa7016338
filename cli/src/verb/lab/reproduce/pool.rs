//! Jobs on all processors.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use thalweg_core::time::Span;
use thalweg_lab::paper::geneva::{Job, Plan, Record, Results, Work};
use thalweg_net::signal::Stop;

use super::super::failed;
use super::super::progress::Progress;
use crate::Failure;

/// What the threads share.
struct Shared<'a> {
    plan: &'a Plan,
    jobs: &'a [Job],
    stop: &'a Stop,
    /// The next job to begin with.
    next: AtomicUsize,
    /// Simulated milliseconds behind all jobs together.
    done: AtomicU64,
    broken: AtomicBool,
    finished: Mutex<Vec<(Job, Record)>>,
    failure: Mutex<Option<String>>,
}

/// Runs the jobs of a plan; those that an interruption left out are missing in the results.
pub(super) fn run(plan: Plan, jobs: &[Job], threads: usize) -> Result<Results, Failure> {
    let stop = Stop::on_signal().map_err(|error| failed(format!("cannot wait for signals: {error}")))?;
    let shared = Shared {
        plan: &plan,
        jobs,
        stop: &stop,
        next: AtomicUsize::new(0),
        done: AtomicU64::new(0),
        broken: AtomicBool::new(false),
        finished: Mutex::new(Vec::with_capacity(jobs.len())),
        failure: Mutex::new(None),
    };
    let lengths = jobs.iter().map(|job| Work::new(&plan, job).map(|work| millis(work.length())));
    let whole = lengths.sum::<Result<u64, String>>().map_err(failed)?;
    let mut progress = Progress::new(jobs.len(), whole);
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads.clamp(1, jobs.len().max(1))).map(|_| scope.spawn(|| shared.work())).collect();
        while !workers.iter().all(thread::ScopedJoinHandle::is_finished) {
            let finished = shared.finished.lock().expect("no thread panics with it").len();
            progress.show(shared.done.load(Ordering::Relaxed), finished);
            thread::sleep(Duration::from_millis(20));
        }
    });
    progress.end();
    let Shared { finished, failure, .. } = shared;
    if let Some(failure) = failure.into_inner().expect("no thread panics with it") {
        return Err(failed(failure));
    }
    let mut results = Results::new(plan.clone());
    let finished = finished.into_inner().expect("no thread panics with it");
    finished.into_iter().for_each(|(job, record)| results.insert(job, record));
    Ok(results)
}

impl Shared<'_> {
    /// Takes one job after the other until there are no more.
    fn work(&self) {
        while let Some(job) = self.jobs.get(self.next.fetch_add(1, Ordering::Relaxed)) {
            match self.one(job) {
                Ok(Some(record)) => self.finished.lock().expect("no thread panics with it").push((*job, record)),
                Ok(None) => return,
                Err(failure) => {
                    self.broken.store(true, Ordering::Relaxed);
                    self.failure.lock().expect("no thread panics with it").get_or_insert(failure);
                    return;
                }
            }
        }
    }

    /// One job, unless it is interrupted.
    fn one(&self, job: &Job) -> Result<Option<Record>, String> {
        let mut work = Work::new(self.plan, job)?;
        while work.done() < work.length() {
            if self.stop.asked() || self.broken.load(Ordering::Relaxed) {
                return Ok(None);
            }
            let before = millis(work.done());
            work.advance(Span::from_secs(1));
            self.done.fetch_add(millis(work.done()) - before, Ordering::Relaxed);
        }
        work.finish().map(Some)
    }
}

fn millis(span: Span) -> u64 {
    span.as_micros() / 1_000
}
