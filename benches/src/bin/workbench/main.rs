//! The lab from Python: its cost beside the command line, laws written in Python beside ns-3's C++, sweeps on two nodes of Ray
//! beside local ones, and sweeps that are killed.

mod killed;
mod nodes;
mod package;
mod run;

use std::process::{Command, ExitCode};

use thalweg_bench::job::Job;
use thalweg_bench::report::{Measure, Settings, main as report, parts};
use thalweg_bench::simulator;

fn main() -> ExitCode {
    report("workbench", bench)
}

fn bench(settings: &Settings) -> Result<(), String> {
    let measures: [Measure; 5] = [run::beside_the_command, run::law, nodes::measure, package::measure, killed::measure];
    let text = "CPU seconds are user and system time of one process as the kernel counts them, from its start to its end; \
                those of frames are counted within it. Contestants take turns; values are medians of all turns, ratios are \
                of one turn. The programs are those of `python/benches`.";
    parts(settings, "The lab from Python", text, &measures)
}

/// A program of `python/benches` in the environment that `python/prepare` makes.
fn python(arguments: &[&str]) -> Command {
    let mut command = Command::new("python/target/venv/bin/python");
    let (program, arguments) = arguments.split_first().expect("the name of a program");
    command.arg(format!("python/benches/{program}.py")).args(arguments).env("PYTHONPATH", "python/tests");
    command
}

/// The command of a program of `python/benches` as the section shows it.
fn shown(arguments: &str) -> String {
    format!("python python/benches/{arguments}")
}

/// Runs `command`, and logs its CPU time.
fn run(command: Command) -> Result<Job, String> {
    simulator::run("workbench", command)
}
