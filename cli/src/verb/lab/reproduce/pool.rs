//! Jobs on all processors.

use std::fmt::Debug;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use thalweg_core::time::Span;
use thalweg_lab::paper::work::{self, Observer};
use thalweg_net::signal::Stop;

use super::super::failed;
use super::super::progress::Progress;
use super::keep::Keep;
use crate::Failure;

/// What runs a job, step by step.
pub(super) trait Work {
    /// What comes of it.
    type Record;

    /// How long it is, and how much of it is done, in any unit that is the same for all jobs.
    fn length(&self) -> u64;
    /// How much of it is done.
    fn done(&self) -> u64;
    /// Goes on for a while.
    fn advance(&mut self);
    /// What came of it, once all is done.
    ///
    /// # Errors
    /// A fault of the lab.
    fn finish(self) -> Result<Self::Record, String>;
}

/// Runs of scenarios, in milliseconds of their own time.
impl<O: Observer> Work for work::Work<O> {
    type Record = O::Record;

    fn length(&self) -> u64 {
        millis(self.length())
    }

    fn done(&self) -> u64 {
        millis(self.done())
    }

    fn advance(&mut self) {
        self.advance(Span::from_secs(1));
    }

    fn finish(self) -> Result<O::Record, String> {
        self.finish()
    }
}

fn millis(span: Span) -> u64 {
    span.as_micros() / 1_000
}

/// How jobs are run.
#[derive(Clone, Copy)]
pub(super) struct Pool<'a> {
    /// Where it is kept what comes of each.
    pub(super) keep: Option<&'a Keep>,
    /// How many at once.
    pub(super) threads: usize,
    /// Who is asked whether to go on.
    pub(super) stop: &'a Stop,
}

/// What the threads share.
struct Shared<'a, Job, W: Work, Begin> {
    begin: Begin,
    jobs: &'a [Job],
    pool: Pool<'a>,
    /// The next job to begin with.
    next: AtomicUsize,
    /// What is behind all jobs together.
    done: AtomicU64,
    broken: AtomicBool,
    finished: Mutex<Vec<(Job, W::Record)>>,
    failure: Mutex<Option<String>>,
}

/// Runs jobs, each by the work that `begin` makes of it; those that an interruption left out are missing. What was kept
/// of a job is not run again.
pub(super) fn run<Job, W, Begin>(jobs: &[Job], pool: Pool<'_>, begin: Begin) -> Result<Vec<(Job, W::Record)>, Failure>
where
    Job: Copy + Debug + Send + Sync,
    W: Work<Record: Send + Serialize + DeserializeOwned>,
    Begin: Fn(&Job) -> Result<W, String> + Sync,
{
    let whole = jobs.iter().map(|job| begin(job).map(|work| work.length())).sum::<Result<u64, String>>();
    let whole = whole.map_err(failed)?;
    let shared: Shared<'_, Job, W, Begin> = Shared {
        begin,
        jobs,
        pool,
        next: AtomicUsize::new(0),
        done: AtomicU64::new(0),
        broken: AtomicBool::new(false),
        finished: Mutex::new(Vec::with_capacity(jobs.len())),
        failure: Mutex::new(None),
    };
    let mut progress = Progress::new(jobs.len(), whole);
    thread::scope(|scope| {
        let workers: Vec<_> =
            (0..pool.threads.clamp(1, jobs.len().max(1))).map(|_| scope.spawn(|| shared.work())).collect();
        while !workers.iter().all(thread::ScopedJoinHandle::is_finished) {
            let finished = shared.finished.lock().expect("no thread panics with it").len();
            progress.show(shared.done.load(Ordering::Relaxed), finished);
            thread::sleep(Duration::from_millis(20));
        }
    });
    progress.end();
    let Shared { finished, failure, .. } = shared;
    match failure.into_inner().expect("no thread panics with it") {
        Some(failure) => Err(failed(failure)),
        None => Ok(finished.into_inner().expect("no thread panics with it")),
    }
}

impl<Job, W, Begin> Shared<'_, Job, W, Begin>
where
    Job: Copy + Debug,
    W: Work<Record: Serialize + DeserializeOwned>,
    Begin: Fn(&Job) -> Result<W, String>,
{
    /// Takes one job after the other until there are no more.
    fn work(&self) {
        loop {
            let nth = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(job) = self.jobs.get(nth) else { return };
            match self.one(nth, job) {
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
    fn one(&self, nth: usize, job: &Job) -> Result<Option<W::Record>, String> {
        let mut work = (self.begin)(job)?;
        if let Some(record) = self.pool.keep.and_then(|keep| keep.find(nth, job)) {
            self.done.fetch_add(work.length(), Ordering::Relaxed);
            return Ok(Some(record));
        }
        while work.done() < work.length() {
            if self.pool.stop.asked() || self.broken.load(Ordering::Relaxed) {
                return Ok(None);
            }
            let before = work.done();
            work.advance();
            self.done.fetch_add(work.done() - before, Ordering::Relaxed);
        }
        let record = work.finish()?;
        if let Some(keep) = self.pool.keep {
            keep.store(nth, job, &record)?;
        }
        Ok(Some(record))
    }
}
