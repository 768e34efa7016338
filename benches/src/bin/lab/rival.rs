//! The first reference scenario, beside ns-3: N TCP flows and ten streams of 39.6 Mb/s on a link of 1 Gb/s.

use std::path::Path;
use std::process::Command;

use thalweg_bench::program::command_line;
use thalweg_bench::report::{Bound, Part, Settings, Target, Unit, grid};
use thalweg_bench::simulator::{Cost, lab, ns3};
use thalweg_bench::statistics::median;

use crate::run;

/// Numbers of TCP flows.
const SIZES: [&str; 3] = ["100", "200", "250"];
/// Packets per CPU second: the target, the aim, and the target for the ratio to ns-3's.
const FLOOR: f64 = 1.5e6;
const AIM: f64 = 3e6;
const TIMES: f64 = 20.0;

/// The costs of one turn of each contestant.
struct Turn {
    ours: Cost,
    theirs: Cost,
}

pub(super) fn measure(settings: &Settings) -> Result<Part, String> {
    let seconds = settings.pick(["15", "5"], ["3", "1"]);
    let mut part = Part { commands: commands(seconds), ..Part::default() };
    let mut rows = Vec::new();
    let mut slowest = f64::INFINITY;
    for size in SIZES {
        let turn = || -> Result<Turn, String> {
            let ours = Cost::of(&run(ours(&settings.binary, size))?)?;
            Ok(Turn { ours, theirs: Cost::of(&run(ns3(size, seconds))?)? })
        };
        let turns: Vec<Turn> = (0..settings.pick(3, 1)).map(|_| turn()).collect::<Result<_, _>>()?;
        let typical = |value: fn(&Turn) -> f64| median(turns.iter().map(value));
        let speed = typical(|turn| turn.ours.speed());
        let ratio = typical(|turn| turn.ours.speed() / turn.theirs.speed());
        rows.push(row("thalweg lab", size, [typical(|t| t.ours.packets), typical(|t| t.ours.cpu), speed]));
        let theirs = [typical(|t| t.theirs.packets), typical(|t| t.theirs.cpu), typical(|t| t.theirs.speed())];
        rows.push(row("ns-3", size, theirs));
        let (name, times) = (format!("packets a CPU second, N = {size}"), format!("the same / ns-3's, N = {size}"));
        part.results.push((Target { what: name, bound: Bound::AtLeast(FLOOR), unit: Unit::Millions }, speed));
        part.results.push((Target { what: times, bound: Bound::AtLeast(TIMES), unit: Unit::Ratio }, ratio));
        slowest = slowest.min(speed);
    }
    let aim = Target { what: "the least of these, the aim".into(), bound: Bound::AtLeast(AIM), unit: Unit::Millions };
    part.results.push((aim, slowest));
    part.text =
        "**The first reference scenario**: N long-lived TCP flows (Linux's Reno, every segment acknowledged) beside \
                 ten streams of 39.6 Mb/s at a bottleneck of 1 Gb/s, round trip 10 ms. Packets are those that arrived \
                 at the bottleneck. With `--quick` the run of ns-3 is so short that its set-up is a large part of it."
            .into();
    part.table = grid(["contestant", "N", "packets", "CPU s", "packets / CPU s"], &rows);
    Ok(part)
}

fn row(contestant: &str, size: &str, [packets, cpu, speed]: [f64; 3]) -> [String; 5] {
    let millions = |value| Unit::Millions.write(value);
    [contestant.into(), size.into(), millions(packets), format!("{cpu:.2}"), millions(speed)]
}

fn ours(binary: &Path, size: &str) -> Command {
    let plain = [("scheme", "cbr"), ("tcp", "linux-reno"), ("delayed_ack", "false")];
    let sizes = [("n_tcp", size), ("duration_s", "40"), ("warmup_s", "10")];
    lab(binary, "geneva-s1", &[plain, sizes].concat())
}

fn commands(seconds: [&str; 2]) -> Vec<String> {
    vec![command_line(&ours(Path::new("thalweg"), "N")), command_line(&ns3("N", seconds))]
}
