//! TCP Stream's Fig. 5 with the kernel's own TCP, beside the lab's, and two films beside each other.

mod bars;
mod carrier;
mod page;
mod pairs;
mod results;
mod run;
mod scene;
mod spread;

use std::num::NonZero;
use std::path::Path;

use thalweg_lab::paper::tcp_stream::{Job as LabJob, Plan as LabPlan, Results as LabResults};
use thalweg_net::signal::Stop;
use thalweg_net::testbed;

use self::carrier::{Carrier, Controls};
use self::results::{Results, Spot};
use super::super::{failed, progress::Progress};
use super::pool::Pool;
use super::tcp_stream;
use crate::Failure;
use crate::report::Page;

/// Queues of the path, packets: one bandwidth-delay product, and what DummyNet has if nothing is said.
const QUEUES: [u32; 2] = [250, 50];

/// One run on this machine.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Job {
    /// Which time it is run.
    seed: u64,
    spot: Spot,
}

/// How often everything is run with a queue: once where runs are alike, three times where each of the losses decides.
fn times(queue: u32, seeds: Option<u64>) -> u64 {
    seeds.unwrap_or(if queue == 50 { 3 } else { 1 })
}

/// Why it cannot be run here is said before anything is.
pub(super) fn report(
    stop: &Stop,
    seeds: Option<u64>,
    threads: usize,
    command: &str,
) -> Result<(Page, usize, usize), Failure> {
    if let Some(missing) = testbed::missing() {
        return Err(failed(format!("--real: {missing}")));
    }
    // Before the lab's share, which is work of this program's own.
    let load = load()?;
    let controls = Controls::load().map_err(|why| failed(format!("--real: {why}")))?;
    let (found, missing) = controls.found()?;
    let jobs = jobs(&found, seeds);
    let mut results = Results::new(lab(stop, threads)?, missing, load);
    let whole = jobs.iter().map(|job| run::slices(job.spot.scene)).sum();
    let (mut progress, mut done) = (Progress::new(jobs.len(), whole), 0);
    for (nth, job) in jobs.iter().enumerate() {
        let told = |slice| progress.show(done + slice, nth);
        let of = [job.spot.carrier, job.spot.scene.second_carrier(job.spot.carrier)];
        let record = run::one(job, of.map(|carrier| controls.name(carrier)), stop, told);
        let Some(record) = record.map_err(|error| failed(error.to_string()))? else { break };
        results.insert(*job, record);
        done += run::slices(job.spot.scene);
    }
    progress.end();
    Ok((page::of(&results, command), results.len(), jobs.len()))
}

/// All that is run, so that what was interrupted has as much of everything.
fn jobs(found: &[Carrier], seeds: Option<u64>) -> Vec<Job> {
    let most = QUEUES.map(|queue| times(queue, seeds)).into_iter().max().unwrap_or(0);
    let of_seed = |seed| {
        let spots = Spot::all().filter(move |spot| seed <= times(spot.queue, seeds));
        spots.filter(|spot| found.contains(&spot.carrier)).map(move |spot| Job { seed, spot })
    };
    (1..=most).flat_map(of_seed).collect()
}

/// The same in the lab, which has more seeds.
fn lab(stop: &Stop, threads: usize) -> Result<LabResults, Failure> {
    let plan = LabPlan { queues: QUEUES.to_vec(), n_ftp: Vec::new(), ..LabPlan::paper() };
    let of_seed = |seed| {
        Spot::all().filter_map(move |spot| {
            Some(LabJob { condition: spot.scene.in_the_lab(spot.queue), carrier: spot.carrier.in_the_lab()?, seed })
        })
    };
    let jobs: Vec<_> = (1..=plan.fig5_seeds).flat_map(of_seed).collect();
    tcp_stream::run_jobs(plan, &jobs, Pool { keep: None, threads, stop })
}

/// The load averages over the last 1, 5 and 15 min, as the kernel writes them, and how many processors share it.
fn load() -> Result<String, Failure> {
    let file = Path::new("/proc/loadavg");
    let text = std::fs::read_to_string(file).map_err(|error| super::unreadable(file, &error))?;
    let averages = text.split_whitespace().take(3).collect::<Vec<_>>().join(" ");
    let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
    Ok(format!("{averages}; {processors} processors"))
}

/// The controls that this kernel has, by name.
fn available() -> Result<Vec<String>, Failure> {
    let file = Path::new("/proc/sys/net/ipv4/tcp_available_congestion_control");
    let names = std::fs::read_to_string(file).map_err(|error| super::unreadable(file, &error))?;
    Ok(names.split_whitespace().map(str::to_owned).collect())
}
