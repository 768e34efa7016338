//! Runs of simulators, as processes: those of the lab and of ns-3.

use std::path::Path;
use std::process::Command;

use crate::job::Job;
use crate::program::command_line;

/// `thalweg lab run` of a scenario with one seed.
pub fn lab(binary: &Path, scenario: &str, set: &[(&str, &str)]) -> Command {
    let mut command = Command::new(binary);
    command.args(["lab", "run", scenario, "--seeds", "1", "--json"]);
    for (name, value) in set {
        command.args(["--set", &format!("{name}={value}")]);
    }
    command
}

/// The first reference scenario in ns-3 with so many TCP flows, for these seconds in all and of warm-up. A measurement of
/// speed needs no long run, only one in which the set-up time is small.
pub fn ns3(flows: &str, [duration, warmup]: [&str; 2]) -> Command {
    let mut command = Command::new("benches/ns3/run");
    command.args([format!("--n-tcp={flows}"), format!("--duration={duration}"), format!("--warmup={warmup}")]);
    command
}

/// Runs `command`, and logs its CPU time under the name of the bench.
pub fn run(bench: &str, command: Command) -> Result<Job, String> {
    let line = command_line(&command);
    let job = Job::run(command)?;
    eprintln!("{bench}: {:.2} CPU s: {line}", job.cpu.as_secs_f64());
    Ok(job)
}

/// The packets and the CPU time of a run.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    /// Packets that arrived at the bottleneck.
    pub packets: f64,
    /// Seconds of CPU time.
    pub cpu: f64,
}

impl Cost {
    /// The cost of a run that prints its number of packets.
    pub fn of(job: &Job) -> Result<Cost, String> {
        Ok(Cost { packets: job.number("packets")?, cpu: job.cpu.as_secs_f64() })
    }

    /// Packets per CPU second.
    pub fn speed(self) -> f64 {
        self.packets / self.cpu
    }
}
