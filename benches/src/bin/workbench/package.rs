//! The time of the import, and the size of the wheel.

use std::fs;

use thalweg_bench::report::{Bound, Part, Settings, Target, Unit, grid};
use thalweg_bench::statistics::median;

use crate::{python, run, shown};

const MOST_SECONDS: f64 = 0.06;
const MOST_BYTES: f64 = 8e6;

pub(super) fn measure(settings: &Settings) -> Result<Part, String> {
    let turns = settings.pick(21, 5);
    let seconds = (0..turns)
        .map(|_| run(python(&["start"]))?.number("import"))
        .collect::<Result<Vec<f64>, String>>()
        .map(median)?;
    let bytes = wheel()?;
    let rows = [
        ["`import thalweg`".into(), Unit::Milliseconds.write(seconds)],
        ["the wheel".into(), Unit::Megabytes.write(bytes)],
    ];
    let target = |what: &str, most, unit| Target { what: what.into(), bound: Bound::AtMost(most), unit };
    Ok(Part {
        commands: vec![shown("start.py")],
        text: "**The package**: the import, each in a fresh process, and the file that is installed.".into(),
        table: grid(["what", "measured"], &rows),
        results: vec![
            (target("`import thalweg`", MOST_SECONDS, Unit::Milliseconds), seconds),
            (target("size of the wheel", MOST_BYTES, Unit::Megabytes), bytes),
        ],
    })
}

/// The size of the wheel that `python/prepare` has built.
fn wheel() -> Result<f64, String> {
    let entries = fs::read_dir("python/target/wheels").map_err(|error| format!("no python/target/wheels: {error}"))?;
    let sizes = entries.filter_map(|entry| Some(entry.ok()?.metadata().ok()?.len() as f64)).collect::<Vec<_>>();
    match sizes[..] {
        [size] => Ok(size),
        _ => Err(format!("python/target/wheels has {} files, expected the wheel", sizes.len())),
    }
}
