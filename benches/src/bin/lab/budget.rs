//! The CPU time of whole runs of the papers' scenarios, and the memory of the largest.

use std::path::Path;
use std::process::Command;

use thalweg_bench::program::command_line;
use thalweg_bench::report::{Bound, Part, Settings, Target, Unit, grid};
use thalweg_bench::simulator::lab;

use crate::run;

/// The cells of Table 1: transfers per second, and round-trip time in milliseconds.
const CELLS: [[&str; 2]; 4] = [["12.5", "10"], ["25", "10"], ["12.5", "100"], ["25", "100"]];

pub(super) fn measure(settings: &Settings) -> Result<Part, String> {
    let mut part = Part::default();
    let mut rows = Vec::new();
    let mut dearest = 0.0_f64;
    for [transfers, rtt] in CELLS {
        let job = run(table_1(&settings.binary, transfers, rtt))?;
        let (cpu, memory) = (job.cpu.as_secs_f64(), job.memory as f64);
        let cell = format!("Table 1, {transfers} transfers a second, RTT {rtt} ms");
        rows.push([cell, format!("{cpu:.2}"), Unit::Megabytes.write(memory)]);
        dearest = dearest.max(cpu);
    }
    let largest = run(largest(&settings.binary))?;
    let (cpu, memory) = (largest.cpu.as_secs_f64(), largest.memory as f64);
    rows.push(["Fig. 8, N = 700, RTT 100 ms".into(), format!("{cpu:.2}"), Unit::Megabytes.write(memory)]);
    let target = |what: &str, bound, unit| Target { what: what.into(), bound: Bound::AtMost(bound), unit };
    part.results = vec![
        (target("CPU of the dearest 180 s run of Table 1", 12.0, Unit::Seconds), dearest),
        (target("memory at N = 700", 200e6, Unit::Megabytes), memory),
    ];
    let name = Path::new("thalweg");
    part.commands = [table_1(name, "T", "R"), self::largest(name)].iter().map(command_line).collect();
    part.text =
        "**Whole runs** of 180 simulated seconds, one of each; without `--quick` also the short evaluation of the \
         whole paper."
            .into();
    // `./test` runs it anyway, so a quick run skips it.
    if !settings.quick {
        let report = std::env::temp_dir().join("thalweg-bench-reproduction.html");
        let all = run(reproduce(&settings.binary, &report))?;
        let _ = std::fs::remove_file(&report);
        let cpu = format!("{:.2}", all.cpu.as_secs_f64());
        rows.push(["all figures and tables, in short".into(), cpu, Unit::Megabytes.write(all.memory as f64)]);
        let wall = target("`reproduce geneva --quick` on all processors, wall time", 240.0, Unit::Seconds);
        part.results.push((wall, all.wall.as_secs_f64()));
        part.commands.push(command_line(&reproduce(name, Path::new("FILE"))));
    }
    part.table = grid(["run", "CPU s", "memory"], &rows);
    Ok(part)
}

fn table_1(binary: &Path, transfers: &str, rtt: &str) -> Command {
    lab(binary, "geneva-s2", &[("transfers_per_s", transfers), ("rtt_ms", rtt)])
}

fn largest(binary: &Path) -> Command {
    lab(binary, "geneva-s1", &[("rtt_ms", "100"), ("n_tcp", "700")])
}

/// The command for all figures and tables of the paper, with short runs and few seeds.
fn reproduce(binary: &Path, report: &Path) -> Command {
    let mut command = Command::new(binary);
    command.args(["lab", "reproduce", "geneva", "--quick", "--out"]).arg(report);
    command
}
