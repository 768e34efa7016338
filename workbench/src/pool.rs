//! Jobs on all processors.

use std::cell::Cell;
use std::fmt;
use std::num::NonZero;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// A job that is run step by step.
pub trait Task {
    /// The result of the job.
    type Record;
    /// The reason why there is none.
    type Error;

    /// The length of the job, in any unit that is the same for all jobs.
    fn length(&self) -> u64;

    /// The part of the length that is done.
    fn done(&self) -> u64;

    /// Performs a step.
    ///
    /// # Errors
    /// The job cannot be completed.
    fn advance(&mut self) -> Result<(), Self::Error>;

    /// The result, once all is done.
    ///
    /// # Errors
    /// The job has found a fault, or its result cannot be stored.
    fn finish(self) -> Result<Self::Record, Self::Error>;

    /// Ends the job before all is done.
    fn abandon(self)
    where
        Self: Sized,
    {
    }
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
    /// The number of jobs run at the same time; with 0 they run on the calling thread.
    pub threads: usize,
    /// True once the jobs shall stop.
    pub stopped: &'a (dyn Fn() -> bool + Sync),
    /// Called every 20 ms.
    pub progress: &'a dyn Fn(Progress),
}

impl Pool<'_> {
    /// A pool that nothing stops and whose progress is not shown.
    pub fn of(threads: usize) -> Pool<'static> {
        Pool { threads, stopped: &|| false, progress: &|_| {} }
    }
}

/// The number of processors that this process may use.
pub fn processors() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}

impl fmt::Debug for Pool<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").field("threads", &self.threads).finish_non_exhaustive()
    }
}

/// The time between two calls of [`Pool::progress`].
const PAUSE: Duration = Duration::from_millis(20);

/// State that the threads share.
struct Shared<'a, Job, T: Task, Begin> {
    begin: Begin,
    jobs: &'a [Job],
    stopped: &'a (dyn Fn() -> bool + Sync),
    /// The index of the next job to begin with.
    next: AtomicUsize,
    /// The length done in all jobs together.
    done: AtomicU64,
    broken: AtomicBool,
    finished: Mutex<Vec<(usize, T::Record)>>,
    failure: Mutex<Option<T::Error>>,
}

/// Runs jobs, which have the given `length` together, each by the task that `begin` makes of its index and the job.
/// Returns the index and the record of each, in their order; jobs left out by an interruption are missing.
///
/// # Errors
/// That of the first job that failed; the others are abandoned.
pub fn run<Job, T, Begin>(
    jobs: &[Job],
    length: u64,
    pool: Pool<'_>,
    begin: Begin,
) -> Result<Vec<(usize, T::Record)>, T::Error>
where
    Job: Sync,
    T: Task<Record: Send, Error: Send>,
    Begin: Fn(usize, &Job) -> Result<T, T::Error> + Sync,
{
    let shared: Shared<'_, Job, T, Begin> = Shared {
        begin,
        jobs,
        stopped: pool.stopped,
        next: AtomicUsize::new(0),
        done: AtomicU64::new(0),
        broken: AtomicBool::new(false),
        finished: Mutex::new(Vec::with_capacity(jobs.len())),
        failure: Mutex::new(None),
    };
    let waiting = thread::current();
    let work = || {
        shared.work();
        waiting.unpark();
    };
    thread::scope(|scope| {
        if pool.threads == 0 {
            return shared.work_here(length, pool.progress);
        }
        let workers: Vec<_> = (0..pool.threads.min(jobs.len().max(1))).map(|_| scope.spawn(work)).collect();
        while !workers.iter().all(thread::ScopedJoinHandle::is_finished) {
            (pool.progress)(shared.progress(length));
            thread::park_timeout(PAUSE);
        }
    });
    let Shared { finished, failure, .. } = shared;
    if let Some(failure) = failure.into_inner().expect("no thread panics with it") {
        return Err(failure);
    }
    let mut finished = finished.into_inner().expect("no thread panics with it");
    finished.sort_by_key(|(nth, _)| *nth);
    Ok(finished)
}

impl<Job, T, Begin> Shared<'_, Job, T, Begin>
where
    T: Task,
    Begin: Fn(usize, &Job) -> Result<T, T::Error>,
{
    fn progress(&self, length: u64) -> Progress {
        let finished = self.finished.lock().expect("no thread panics with it").len();
        Progress { jobs: self.jobs.len(), finished, length, done: self.done.load(Ordering::Relaxed) }
    }

    /// Performs all jobs, and shows the progress between their steps.
    fn work_here(&self, length: u64, progress: &dyn Fn(Progress)) {
        let shown = Cell::new(Instant::now());
        self.work_with(&|| {
            if shown.get().elapsed() >= PAUSE {
                shown.set(Instant::now());
                progress(self.progress(length));
            }
        });
    }

    /// Performs one job after the other until none is left.
    fn work(&self) {
        self.work_with(&|| {});
    }

    /// Performs one job after the other until none is left, and calls `between` before each step.
    fn work_with(&self, between: &dyn Fn()) {
        while !self.is_over() {
            let nth = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(job) = self.jobs.get(nth) else { return };
            match self.one(nth, job, between) {
                Ok(Some(record)) => self.finished.lock().expect("no thread panics with it").push((nth, record)),
                Ok(None) => return,
                Err(failure) => {
                    self.broken.store(true, Ordering::Relaxed);
                    self.failure.lock().expect("no thread panics with it").get_or_insert(failure);
                    return;
                }
            }
        }
    }

    fn is_over(&self) -> bool {
        (self.stopped)() || self.broken.load(Ordering::Relaxed)
    }

    /// One job, unless it is interrupted.
    fn one(&self, nth: usize, job: &Job, between: &dyn Fn()) -> Result<Option<T::Record>, T::Error> {
        let mut task = (self.begin)(nth, job)?;
        let mut before = 0;
        loop {
            let done = task.done();
            self.done.fetch_add(done - before, Ordering::Relaxed);
            before = done;
            if done >= task.length() {
                return task.finish().map(Some);
            }
            between();
            if self.is_over() {
                task.abandon();
                return Ok(None);
            }
            task.advance()?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A job that counts to its length; the job 13 fails.
    struct Count(u64, u64);

    impl Task for Count {
        type Record = u64;
        type Error = String;

        fn length(&self) -> u64 {
            self.0
        }

        fn done(&self) -> u64 {
            self.1
        }

        fn advance(&mut self) -> Result<(), String> {
            self.1 += 1;
            if self.0 == 13 { Err("13".to_owned()) } else { Ok(()) }
        }

        fn finish(self) -> Result<u64, String> {
            Ok(self.1)
        }
    }

    fn count(jobs: &[u64], pool: Pool<'_>) -> Result<Vec<(usize, u64)>, String> {
        run(jobs, jobs.iter().sum(), pool, |_, job| Ok(Count(*job, 0)))
    }

    #[test]
    fn records_are_in_the_order_of_the_jobs() {
        let jobs = [900, 1, 0, 2];
        for threads in [0, 1, 2, 9] {
            let records = count(&jobs, Pool::of(threads)).expect("no job fails");
            assert_eq!(records, [(0, 900), (1, 1), (2, 0), (3, 2)], "{threads}");
        }
    }

    #[test]
    fn a_failure_and_an_interruption_end_the_jobs_that_follow() {
        assert_eq!(count(&[1, 13, 1], Pool::of(1)), Err("13".to_owned()));
        let asked = AtomicUsize::new(0);
        let stopped = || asked.fetch_add(1, Ordering::Relaxed) > 4;
        let records = count(&[1, 2, 100], Pool { stopped: &stopped, ..Pool::of(1) }).expect("no job fails");
        assert!(records.len() < 3, "{records:?}");
    }
}
