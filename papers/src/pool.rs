//! Jobs on all processors.

use std::fmt::{self, Debug};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use thalweg_core::time::Span;

use crate::keep::Keep;
use crate::work::{self, Observer};

/// A job that is run step by step.
pub trait Task {
    /// The result of the job.
    type Record;

    /// The length of the job, in any unit that is the same for all jobs.
    fn length(&self) -> u64;

    /// The part of the length that is done.
    fn done(&self) -> u64;

    /// Performs a step.
    fn advance(&mut self);

    /// The result, once all is done.
    ///
    /// # Errors
    /// A fault of the lab.
    fn finish(self) -> Result<Self::Record, String>;
}

/// Runs of scenarios, in milliseconds of their own time.
impl<O: Observer> Task for work::Work<O> {
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

/// The progress of all jobs together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Progress {
    /// The number of jobs.
    pub jobs: usize,
    /// The number of jobs that are finished.
    pub finished: usize,
    /// The length of all jobs.
    pub length: u64,
    /// The part of the length that is done.
    pub done: u64,
}

/// The settings with which jobs are run.
#[derive(Clone, Copy)]
pub struct Pool<'a> {
    /// The store of the jobs' records, if there is one.
    pub keep: Option<&'a Keep>,
    /// The number of jobs run at the same time.
    pub threads: usize,
    /// True once the jobs shall stop.
    pub stopped: &'a (dyn Fn() -> bool + Sync),
    /// Called every 20 ms.
    pub progress: &'a dyn Fn(Progress),
}

impl fmt::Debug for Pool<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").field("keep", &self.keep).field("threads", &self.threads).finish_non_exhaustive()
    }
}

/// State that the threads share.
struct Shared<'a, Job, T: Task, Begin> {
    begin: Begin,
    jobs: &'a [Job],
    keep: Option<&'a Keep>,
    stopped: &'a (dyn Fn() -> bool + Sync),
    /// The index of the next job to begin with.
    next: AtomicUsize,
    /// The length done in all jobs together.
    done: AtomicU64,
    broken: AtomicBool,
    finished: Mutex<Vec<(Job, T::Record)>>,
    failure: Mutex<Option<String>>,
}

/// Runs jobs, each by the task that `begin` makes of it; jobs left out by an interruption are missing. A job with a
/// stored record is not run again.
///
/// # Errors
/// A job is impossible, the lab has a fault, or a record cannot be stored.
pub fn run<Job, T, Begin>(jobs: &[Job], pool: Pool<'_>, begin: Begin) -> Result<Vec<(Job, T::Record)>, String>
where
    Job: Copy + Debug + Send + Sync,
    T: Task<Record: Send + Serialize + DeserializeOwned>,
    Begin: Fn(&Job) -> Result<T, String> + Sync,
{
    let length = jobs.iter().map(|job| begin(job).map(|task| task.length())).sum::<Result<u64, String>>()?;
    let shared: Shared<'_, Job, T, Begin> = Shared {
        begin,
        jobs,
        keep: pool.keep,
        stopped: pool.stopped,
        next: AtomicUsize::new(0),
        done: AtomicU64::new(0),
        broken: AtomicBool::new(false),
        finished: Mutex::new(Vec::with_capacity(jobs.len())),
        failure: Mutex::new(None),
    };
    thread::scope(|scope| {
        let workers: Vec<_> =
            (0..pool.threads.clamp(1, jobs.len().max(1))).map(|_| scope.spawn(|| shared.work())).collect();
        while !workers.iter().all(thread::ScopedJoinHandle::is_finished) {
            let finished = shared.finished.lock().expect("no thread panics with it").len();
            (pool.progress)(Progress { jobs: jobs.len(), finished, length, done: shared.done.load(Ordering::Relaxed) });
            thread::sleep(Duration::from_millis(20));
        }
    });
    let Shared { finished, failure, .. } = shared;
    match failure.into_inner().expect("no thread panics with it") {
        Some(failure) => Err(failure),
        None => Ok(finished.into_inner().expect("no thread panics with it")),
    }
}

impl<Job, T, Begin> Shared<'_, Job, T, Begin>
where
    Job: Copy + Debug,
    T: Task<Record: Serialize + DeserializeOwned>,
    Begin: Fn(&Job) -> Result<T, String>,
{
    /// Performs one job after the other until none is left.
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
    fn one(&self, nth: usize, job: &Job) -> Result<Option<T::Record>, String> {
        let mut task = (self.begin)(job)?;
        if let Some(record) = self.keep.and_then(|keep| keep.find(nth, job)) {
            self.done.fetch_add(task.length(), Ordering::Relaxed);
            return Ok(Some(record));
        }
        while task.done() < task.length() {
            if (self.stopped)() || self.broken.load(Ordering::Relaxed) {
                return Ok(None);
            }
            let before = task.done();
            task.advance();
            self.done.fetch_add(task.done() - before, Ordering::Relaxed);
        }
        let record = task.finish()?;
        if let Some(keep) = self.keep {
            keep.store(nth, job, &record)?;
        }
        Ok(Some(record))
    }
}
