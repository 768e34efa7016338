//! TCP Stream's Fig. 5 with the kernel's own TCP, beside the lab's, and two videos beside each other.

mod bars;
mod carrier;
mod page;
mod pairs;
mod parts;
mod results;
mod run;
mod scene;
mod spread;

use std::num::NonZero;
use std::path::Path;

use thalweg_net::error::plain;

use self::carrier::{Carrier, Controls};
use self::results::{Results, Spot};
use crate::evaluation;
use crate::page::Page;
use crate::pool::{Pool, Progress};
use crate::tcp_stream::{Job as LabJob, Plan as LabPlan, Results as LabResults};

/// Queues of the path, packets: one bandwidth-delay product, and DummyNet's default.
const QUEUES: [u32; 2] = [250, 50];

/// One run on this machine.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Job {
    /// The number of the repetition, from 1.
    seed: u64,
    spot: Spot,
}

/// The number of repetitions with a queue: one where runs are alike, three where single losses decide.
fn times(queue: u32, seeds: Option<u64>) -> u64 {
    seeds.unwrap_or(if queue == 50 { 3 } else { 1 })
}

/// Performs all runs; returns the page, the number of runs that reached their end, and the number of all. Missing
/// requirements are reported before anything is run.
///
/// # Errors
/// The machine lacks a requirement, or refuses a setting.
pub fn report(seeds: Option<u64>, pool: Pool<'_>, command: &str) -> Result<(Page, usize, usize), String> {
    if let Some(missing) = thalweg_testbed::missing() {
        return Err(format!("--real: {missing}"));
    }
    // Read before the lab's runs, which load the machine themselves.
    let load = load()?;
    let controls = Controls::load().map_err(|why| format!("--real: {why}"))?;
    let (found, missing) = controls.found()?;
    let jobs = jobs(&found, seeds);
    let mut results = Results::new(lab(pool)?, missing, load);
    let length = jobs.iter().map(|job| run::slices(job.spot.scene)).sum();
    let mut done = 0;
    for (nth, job) in jobs.iter().enumerate() {
        let at = |slice| Progress { jobs: jobs.len(), finished: nth, length, done: done + slice };
        let of = [job.spot.carrier, job.spot.scene.second_carrier(job.spot.carrier)];
        let record =
            run::one(job, of.map(|carrier| controls.name(carrier)), pool.stopped, |slice| (pool.progress)(at(slice)));
        let Some(record) = record.map_err(|error| error.to_string())? else { break };
        results.insert(*job, record);
        done += run::slices(job.spot.scene);
    }
    Ok((page::of(&results, command), results.len(), jobs.len()))
}

/// All jobs, one repetition after the other, so that an interruption leaves as many runs of each kind.
fn jobs(found: &[Carrier], seeds: Option<u64>) -> Vec<Job> {
    let most = QUEUES.map(|queue| times(queue, seeds)).into_iter().max().unwrap_or(0);
    let of_seed = |seed| {
        let spots = Spot::all().filter(move |spot| seed <= times(spot.queue, seeds));
        spots.filter(|spot| found.contains(&spot.carrier)).map(move |spot| Job { seed, spot })
    };
    (1..=most).flat_map(of_seed).collect()
}

/// The same runs in the lab, which has more seeds.
fn lab(pool: Pool<'_>) -> Result<LabResults, String> {
    let plan = LabPlan { queues: QUEUES.to_vec(), n_ftp: Vec::new(), ..LabPlan::paper() };
    let of_seed = |seed| {
        Spot::all().filter_map(move |spot| {
            Some(LabJob { condition: spot.scene.in_the_lab(spot.queue), carrier: spot.carrier.in_the_lab()?, seed })
        })
    };
    let jobs: Vec<_> = (1..=plan.fig5_seeds).flat_map(of_seed).collect();
    evaluation::run(&plan, &jobs, None, pool)
}

/// The load averages over the last 1, 5 and 15 min, as the kernel writes them, and the number of processors.
fn load() -> Result<String, String> {
    let file = Path::new("/proc/loadavg");
    let text = std::fs::read_to_string(file).map_err(|error| unreadable(file, &error))?;
    let averages = text.split_whitespace().take(3).collect::<Vec<_>>().join(" ");
    let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
    Ok(format!("{averages}; {processors} processors"))
}

/// The names of the congestion controls that this kernel has.
fn available() -> Result<Vec<String>, String> {
    let file = Path::new("/proc/sys/net/ipv4/tcp_available_congestion_control");
    let names = std::fs::read_to_string(file).map_err(|error| unreadable(file, &error))?;
    Ok(names.split_whitespace().map(str::to_owned).collect())
}

fn unreadable(file: &Path, error: &std::io::Error) -> String {
    format!("cannot read {}: {}", file.display(), plain(error))
}
