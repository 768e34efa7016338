//! The lab: CPU time per packet, beside ns-3 and for growing numbers of flows; a Wi-Fi cell beside ns-3; CPU time of whole
//! runs; memory of the largest.

mod budget;
mod rival;
mod scaling;
mod wifi;

use std::process::{Command, ExitCode};

use thalweg_bench::job::Job;
use thalweg_bench::report::{Settings, main as report, parts};
use thalweg_bench::simulator;

fn main() -> ExitCode {
    report("lab", bench)
}

fn bench(settings: &Settings) -> Result<(), String> {
    let text = "CPU seconds are user and system time of one process as the kernel counts them, from its start to its \
                end. Simulators and sizes run in turns; values are medians of all rounds, ratios are of the turns of \
                one round.";
    parts(settings, "The lab", text, &[rival::measure, wifi::measure, scaling::measure, budget::measure])
}

/// Runs `command`, and logs its CPU time.
fn run(command: Command) -> Result<Job, String> {
    simulator::run("lab", command)
}

/// The number of packets that arrived at the bottleneck.
fn packets(job: &Job) -> Result<f64, String> {
    job.number("packets")
}
