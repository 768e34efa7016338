//! TCP Stream's Fig. 5 with the kernel's own TCP, beside the lab's.

mod carrier;
mod page;
mod run;

use std::collections::BTreeMap;
use std::path::Path;

use thalweg_lab::paper::tcp_stream::Plan as LabPlan;
use thalweg_lab::paper::tcp_stream::{Condition, Results as LabResults};
use thalweg_net::signal::Stop;
use thalweg_net::testbed;

use self::carrier::{Carrier, Controls};
use self::run::Record;
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
    queue: u32,
    carrier: Carrier,
}

/// What came of all of them, and of the lab's.
struct Results {
    real: BTreeMap<Job, Record>,
    seeds: u64,
    lab: LabResults,
    /// What this kernel does not have.
    missing: Vec<&'static str>,
}

/// Why it cannot be run here is said before anything is.
pub(super) fn report(stop: &Stop, seeds: u64, threads: usize, command: &str) -> Result<(Page, usize, usize), Failure> {
    if let Some(missing) = testbed::missing() {
        return Err(failed(format!("--real: {missing}")));
    }
    let controls = Controls::load().map_err(|why| failed(format!("--real: {why}")))?;
    let (found, missing) = controls.found()?;
    let of_seed = |seed| QUEUES.into_iter().flat_map(move |queue| [(seed, queue)]);
    let jobs: Vec<Job> = (1..=seeds)
        .flat_map(of_seed)
        .flat_map(|(seed, queue)| found.iter().map(move |&carrier| Job { seed, queue, carrier }))
        .collect();
    let lab = lab(stop, threads)?;
    let mut progress = Progress::new(jobs.len(), jobs.len() as u64 * run::SLICES);
    let mut real = BTreeMap::new();
    for (nth, job) in jobs.iter().enumerate() {
        let told = |slice| progress.show(nth as u64 * run::SLICES + slice, nth);
        match run::one(job, controls.name(job.carrier), stop, told).map_err(|error| failed(error.to_string()))? {
            Some(record) => real.insert(*job, record),
            None => break,
        };
    }
    progress.end();
    let results = Results { real, seeds, lab, missing };
    let page = page::of(&results, command);
    Ok((page, results.real.len(), jobs.len()))
}

/// Fig. 5 in the lab, with the same queues.
fn lab(stop: &Stop, threads: usize) -> Result<LabResults, Failure> {
    let plan = LabPlan { queues: QUEUES.to_vec(), n_ftp: Vec::new(), ..LabPlan::paper() };
    let jobs: Vec<_> =
        plan.jobs().into_iter().filter(|job| matches!(job.condition, Condition::Testbed { .. })).collect();
    tcp_stream::run_jobs(plan, &jobs, Pool { keep: None, threads, stop })
}

/// The controls that this kernel has, by name.
fn available() -> Result<Vec<String>, Failure> {
    let file = Path::new("/proc/sys/net/ipv4/tcp_available_congestion_control");
    let names = std::fs::read_to_string(file).map_err(|error| super::unreadable(file, &error))?;
    Ok(names.split_whitespace().map(str::to_owned).collect())
}
