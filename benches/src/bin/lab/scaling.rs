//! The CPU time per packet for growing numbers of flows, each with 10 Mb/s of the link.

use std::path::Path;
use std::process::Command;

use thalweg_bench::program::command_line;
use thalweg_bench::report::{Bound, Part, Settings, Target, Unit, grid};
use thalweg_bench::simulator::lab;
use thalweg_bench::statistics::median;

use crate::{packets, run};

/// Numbers of flows, and the largest allowed CPU time per packet, as a ratio to that of the first entry.
const SIZES: [(u32, f64); 4] = [(10, 1.0), (100, 1.5), (1_000, 1.5), (10_000, 3.0)];

/// Flows times simulated seconds: the work is the same for all sizes.
const WORK: u32 = 10_000;

/// CPU nanoseconds per packet, and bytes of memory.
#[derive(Clone, Copy)]
struct Cost {
    packet: f64,
    memory: f64,
}

pub(super) fn measure(settings: &Settings) -> Result<Part, String> {
    let turn = |&(flows, _): &(u32, f64)| -> Result<Cost, String> {
        let job = run(command(&settings.binary, &flows.to_string(), &(WORK / flows).to_string()))?;
        Ok(Cost { packet: job.cpu.as_secs_f64() * 1e9 / packets(&job)?, memory: job.memory as f64 })
    };
    let round = || SIZES.iter().map(turn).collect::<Result<Vec<Cost>, String>>();
    let rounds: Vec<Vec<Cost>> = (0..settings.pick(3, 1)).map(|_| round()).collect::<Result<_, _>>()?;
    let mut part = Part::default();
    let mut rows = Vec::new();
    for (place, (flows, bound)) in SIZES.into_iter().enumerate() {
        let packet = median(rounds.iter().map(|round| round[place].packet));
        let memory = median(rounds.iter().map(|round| round[place].memory));
        let ratio = median(rounds.iter().map(|round| round[place].packet / round[0].packet));
        let (seconds, packet) = ((WORK / flows).to_string(), format!("{packet:.0}"));
        rows.push([flows.to_string(), seconds, packet, Unit::Ratio.write(ratio), Unit::Megabytes.write(memory)]);
        if place > 0 {
            let what = format!("CPU a packet, {flows} flows / {}", SIZES[0].0);
            part.results.push((Target { what, bound: Bound::AtMost(bound), unit: Unit::Ratio }, ratio));
        }
    }
    part.commands = vec![command_line(&command(Path::new("thalweg"), "N", "S"))];
    part.text =
        "**Scaling**: N long-lived TCP flows with 10 Mb/s of the bottleneck each, round trip 20 ms, queue of one \
                 bandwidth-delay product; S simulated seconds."
            .into();
    part.table = grid(["N", "S", "CPU ns a packet", "ratio", "memory"], &rows);
    Ok(part)
}

fn command(binary: &Path, flows: &str, seconds: &str) -> Command {
    lab(binary, "scaling", &[("n", flows), ("duration_s", seconds)])
}
