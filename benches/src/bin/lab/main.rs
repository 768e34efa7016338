//! The lab: CPU time per packet, beside ns-3 and for growing numbers of flows; a Wi-Fi cell beside ns-3; CPU time of whole
//! runs; memory of the largest.

mod budget;
mod rival;
mod scaling;
mod wifi;

use std::path::Path;
use std::process::{Command, ExitCode};

use thalweg_bench::job::Job;
use thalweg_bench::program::command_line;
use thalweg_bench::report::{Part, Settings, main as report, section, verdicts};

fn main() -> ExitCode {
    report("lab", bench)
}

fn bench(settings: &Settings) -> Result<(), String> {
    let parts: [fn(&Settings) -> Result<Part, String>; 4] =
        [rival::measure, wifi::measure, scaling::measure, budget::measure];
    let mut measured = Vec::new();
    for part in parts {
        measured.push(part(settings)?);
    }
    let text = "CPU seconds are user and system time of one process as the kernel counts them, from its start to its \
                end. Simulators and sizes run in turns; values are medians of all rounds, ratios are of the turns of \
                one round.";
    let commands: Vec<String> = measured.iter().flat_map(|part| part.commands.clone()).collect();
    section("The lab", text, &commands);
    measured.iter().for_each(Part::print);
    verdicts(&measured.into_iter().flat_map(|part| part.results).collect::<Vec<_>>());
    Ok(())
}

/// `thalweg lab run` of a shipped scenario with one seed.
fn lab(binary: &Path, scenario: &str, set: &[(&str, &str)]) -> Command {
    let mut command = Command::new(binary);
    command.args(["lab", "run", scenario, "--seeds", "1", "--json"]);
    for (name, value) in set {
        command.args(["--set", &format!("{name}={value}")]);
    }
    command
}

/// Runs `command`, and logs its CPU time.
fn run(command: Command) -> Result<Job, String> {
    let line = command_line(&command);
    let job = Job::run(command)?;
    eprintln!("lab: {:.2} CPU s: {line}", job.cpu.as_secs_f64());
    Ok(job)
}

/// The number of packets that arrived at the bottleneck.
fn packets(job: &Job) -> Result<f64, String> {
    job.number("packets")
}
