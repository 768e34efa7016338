//! A saturated Wi-Fi cell, beside ns-3: an access point that has more for four stations than the medium carries.

use std::path::Path;
use std::process::Command;

use thalweg_bench::job::Job;
use thalweg_bench::program::command_line;
use thalweg_bench::report::{Bound, Part, Settings, Target, Unit, grid};
use thalweg_bench::simulator::lab;
use thalweg_bench::statistics::median;

use crate::run;

/// Ratios of simulated seconds per CPU second, ours to ns-3's: the target and the aim.
const TIMES: f64 = 30.0;
const AIM: f64 = 100.0;

const TEXT: &str = "**A saturated Wi-Fi cell**: 802.11g, four stations at 54 Mb/s, slots of 9 us, downlink of 1024 bytes \
                    of UDP in a packet. The lab's sources have access links, those of ns-3 are at the access point.";

/// Simulated seconds per CPU second.
fn speed(job: &Job) -> Result<f64, String> {
    Ok(job.number("sim_s")? / job.cpu.as_secs_f64())
}

pub(super) fn measure(settings: &Settings) -> Result<Part, String> {
    let [our_seconds, their_seconds] = settings.pick(["1000", "11"], ["200", "4"]);
    let turn = || -> Result<[f64; 2], String> {
        let ours = speed(&run(ours(&settings.binary, our_seconds))?)?;
        Ok([ours, speed(&run(theirs(their_seconds))?)?])
    };
    let turns: Vec<[f64; 2]> = (0..settings.pick(5, 1)).map(|_| turn()).collect::<Result<_, _>>()?;
    let [ours, theirs] = [0, 1].map(|side| median(turns.iter().map(|turn| turn[side])));
    let ratio = median(turns.iter().map(|[ours, theirs]| ours / theirs));
    let rows = [("thalweg lab", ours), ("ns-3", theirs)].map(|(name, speed)| [name.into(), format!("{speed:.1}")]);
    let target = |what: &str, least| Target { what: what.into(), bound: Bound::AtLeast(least), unit: Unit::Ratio };
    let what = "`wifi`: simulated seconds a CPU second / ns-3's";
    Ok(Part {
        commands: vec![
            command_line(&self::ours(Path::new("thalweg"), our_seconds)),
            command_line(&self::theirs(their_seconds)),
        ],
        text: TEXT.into(),
        table: grid(["contestant", "simulated s / CPU s"], &rows),
        results: vec![(target(what, TIMES), ratio), (target("the same, the aim", AIM), ratio)],
    })
}

fn ours(binary: &Path, seconds: &str) -> Command {
    lab(binary, "ns3-wifi", &[("duration_s", seconds)])
}

/// The ns-3 command; half a second passes before its stations have associated.
fn theirs(seconds: &str) -> Command {
    let mut command = Command::new("benches/ns3/run");
    command.args(["--wifi".into(), format!("--duration={seconds}")]);
    command
}
