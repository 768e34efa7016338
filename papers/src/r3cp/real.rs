//! R3CP+ on sockets: `thalweg serve` and `thalweg play` beside the kernel's TCP. Fig. 7, Fig. 8 and Table 3 with a stored
//! MPEG-1 video, and paths that the paper does not have.

mod bars;
mod page;
mod record;
mod run;
mod scene;
mod tcp;
mod videos;
mod viewer;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use self::record::Record;
pub use self::record::Watched;
pub use self::scene::Scene;
use self::videos::{Clip, Videos};
pub use self::viewer::Viewer;
use crate::page::Page;
use crate::pool::{Pool, Progress};

/// The interval at which a stop is looked for.
const LOOK: Duration = Duration::from_millis(100);

/// One run on this machine.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Job {
    scene: Scene,
    viewer: Viewer,
    /// The seed of the path's losses.
    seed: u64,
    /// The length in seconds.
    seconds: u64,
}

impl Job {
    /// The run that the page has.
    fn of(scene: Scene, viewer: Viewer) -> Job {
        Job { scene, viewer, seed: 1, seconds: scene.seconds() }
    }
}

/// The records of the runs that have ended.
type Results = BTreeMap<Job, Record>;

/// The inputs of the runs.
#[derive(Clone, Debug)]
pub struct Inputs {
    /// The program `thalweg`.
    pub program: PathBuf,
    /// The folder with the two videos.
    pub videos: PathBuf,
    /// The folder with the recorded paths; scenes without their recording are left out.
    pub recordings: PathBuf,
}

/// Performs all runs in real time, `pool.threads` at once; returns the page, the number of runs that reached their end, and
/// the number of all.
///
/// # Errors
/// The machine lacks a requirement, or refuses a setting.
pub fn report(inputs: &Inputs, pool: Pool<'_>, command: &str) -> Result<(Page, usize, usize), String> {
    if let Some(missing) = thalweg_testbed::missing() {
        return Err(format!("--real: {missing}"));
    }
    let videos = Videos::make(&inputs.videos, &Clip::ALL).map_err(|why| format!("--real: {why}"))?;
    let jobs = jobs(&inputs.recordings);
    let results = run_all(&jobs, inputs, &videos, pool)?;
    Ok((page::of(&results, command), results.len(), jobs.len()))
}

/// Performs runs of one scene at the same time for `seconds`, each on a path of its own: a viewer, and the seed of the path.
/// Returns the observations in the same order.
///
/// # Errors
/// As of [`report`]; the recordings of a scene are missing.
pub fn watch(scene: Scene, viewers: &[(Viewer, u64)], seconds: u64, inputs: &Inputs) -> Result<Vec<Watched>, String> {
    let videos = Videos::make(&inputs.videos, &[scene.clip()])?;
    let jobs: Vec<Job> = viewers.iter().map(|&(viewer, seed)| Job { scene, viewer, seed, seconds }).collect();
    let pool = Pool::of(jobs.len());
    let mut results = run_all(&jobs, inputs, &videos, pool)?;
    Ok(jobs.iter().flat_map(|job| results.remove(job).unwrap_or_default().viewers).collect())
}

/// All jobs, the longest first, so that the last ones end together.
fn jobs(recordings: &Path) -> Vec<Job> {
    let scenes = Scene::ALL.into_iter().filter(|scene| scene.is_possible(recordings));
    let mut jobs: Vec<Job> =
        scenes.flat_map(|scene| scene.viewers().iter().map(move |&viewer| Job::of(scene, viewer))).collect();
    jobs.sort_by_key(|job| core::cmp::Reverse(job.seconds));
    jobs
}

fn run_all(jobs: &[Job], inputs: &Inputs, videos: &Videos, pool: Pool<'_>) -> Result<Results, String> {
    let (next, stop, results) = (AtomicUsize::new(0), AtomicBool::new(false), Mutex::new(Results::new()));
    let length = jobs.iter().map(|job| job.seconds).sum();
    let (report, reports) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..pool.threads.max(1) {
            let report = report.clone();
            let (next, stop, results) = (&next, &stop, &results);
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed)
                    && let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed))
                {
                    let outcome = run::one(*job, inputs, videos, stop).map(|record| {
                        let record = record?;
                        results.lock().expect("no run panics").insert(*job, record);
                        Some(job.seconds)
                    });
                    let _ = report.send(outcome);
                }
            });
        }
        drop(report);
        let (mut finished, mut done, mut failed) = (0, 0, None);
        loop {
            stop.fetch_or((pool.stopped)(), Ordering::Relaxed);
            (pool.progress)(Progress { jobs: jobs.len(), finished, length, done });
            match reports.recv_timeout(LOOK) {
                Ok(Ok(seconds)) => (finished, done) = (finished + 1, done + seconds.unwrap_or(0)),
                Ok(Err(error)) => {
                    stop.store(true, Ordering::Relaxed);
                    failed.get_or_insert(error.to_string());
                }
                Err(mpsc::RecvTimeoutError::Timeout) => {}
                Err(mpsc::RecvTimeoutError::Disconnected) => break,
            }
        }
        failed.map_or(Ok(()), Err)
    })?;
    Ok(results.into_inner().expect("no run panics"))
}
