//! Sweeps on two nodes of Ray with one processor each, beside local ones.

use thalweg_bench::report::{Bound, Part, Settings, Target, Unit, grid};

use crate::{python, run, shown};

/// The least throughput on Ray as a multiple of the local one: of long runs beside two processes, of short runs beside one.
const LONG: f64 = 0.85;
const SHORT: f64 = 1.6;

pub(super) fn measure(settings: &Settings) -> Result<Part, String> {
    let [runs, turns] = settings.pick(["40", "3"], ["8", "1"]);
    let long = run(python(&["nodes", "long", runs, turns]))?;
    // So many runs need no second turn.
    let short = run(python(&["nodes", "short", settings.pick("2000", "200"), "1"]))?;
    let mut rows = Vec::new();
    for (name, job, beside) in [("long", &long, "two processes"), ("short", &short, "one process")] {
        let value = |name| job.number(name);
        let run = format!("{:.3}", value("run")?);
        let seconds = |value: f64| format!("{value:.1}");
        rows.push([name.into(), run, format!("{}: {}", beside, seconds(value("local")?)), seconds(value("ray")?)]);
    }
    let target = |what: &str, least| Target { what: what.into(), bound: Bound::AtLeast(least), unit: Unit::Ratio };
    let (of_long, of_short) = (long.number("ratio")?, short.number("ratio")?);
    Ok(Part {
        commands: vec![shown("nodes.py long RUNS TURNS"), shown("nodes.py short RUNS TURNS")],
        text:
            "**Sweeps on Ray**: two nodes of one processor each on this machine, which are started before, as is the \
               connection. 40 long runs, of a law in Python; 2000 short runs, of a law of the lab, in batches, \
               once. Both have the digest of the local sweep."
                .into(),
        table: grid(["runs", "CPU s of one", "local, s", "two nodes of Ray, s"], &rows),
        results: vec![
            (target("long runs a second, two nodes of Ray / two local processes", LONG), of_long),
            (target("short runs a second, two nodes of Ray / one local process", SHORT), of_short),
        ],
    })
}
