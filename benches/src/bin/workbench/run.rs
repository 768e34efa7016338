//! One run: from Python beside the command line, with readings as a frame, and with a law that is written in Python.

use std::path::Path;

use thalweg_bench::program::command_line;
use thalweg_bench::report::{Bound, Part, Settings, Target, Unit, grid};
use thalweg_bench::simulator::{Cost, lab, ns3};
use thalweg_bench::statistics::median;

use crate::{python, run, shown};

/// The most CPU of a run from Python, as a multiple of that of the command.
const MOST: f64 = 1.05;
/// The most CPU of readings as a frame, as a share of that of the run.
const MOST_BEYOND: f64 = 0.3;
/// Packets per CPU second of a law in Python: the target, the aim, and the target for the ratio to ns-3's.
const FLOOR: f64 = 1e6;
const AIM: f64 = 1.5e6;
const TIMES: f64 = 15.0;
/// The first reference scenario.
const SCENARIO: &str = "ns3-dumbbell";

/// The CPU time of a run from Python beside `lab run`, and of its readings as a frame.
pub(super) fn beside_the_command(settings: &Settings) -> Result<Part, String> {
    let turn = || -> Result<[f64; 2], String> {
        let command = run(lab(&settings.binary, "geneva-s1", &[]))?;
        let python = run(python(&["run", "geneva-s1"]))?;
        Ok([command.cpu.as_secs_f64(), python.cpu.as_secs_f64()])
    };
    let turns: Vec<[f64; 2]> = (0..settings.pick(5, 1)).map(|_| turn()).collect::<Result<_, _>>()?;
    let [command, from_python] = [0, 1].map(|side| median(turns.iter().map(|turn| turn[side])));
    let ratio = median(turns.iter().map(|[command, python]| python / command));
    let readings = run(python(&["intervals", settings.pick("31", "5")]))?;
    let value = |name| readings.number(name);
    let row = |what: &str, cpu: f64| [what.to_owned(), format!("{cpu:.3}")];
    let rows = [
        row("`geneva-s1`, one seed: `lab run`", command),
        row("the same from Python", from_python),
        row("`dumbbell`, one seed, from Python", value("plain")?),
        row("the same with an interval of 100 ms", value("recorded")?),
        row(&format!("its {:.0} values as a polars frame", value("values")?), value("frame")?),
        row("the same values as lists of Python", value("lists")?),
    ];
    let target = |what: &str, most| Target { what: what.into(), bound: Bound::AtMost(most), unit: Unit::Ratio };
    Ok(Part {
        commands: vec![
            command_line(&lab(Path::new("thalweg"), "geneva-s1", &[])),
            shown("run.py geneva-s1"),
            shown("intervals.py TURNS"),
        ],
        text:
            "**One run**: from Python beside the command line, and what its readings cost beyond the run itself: to be \
               recorded, and to become a frame of polars."
                .into(),
        table: grid(["what", "CPU s"], &rows),
        results: vec![
            (target("CPU of a run from Python / `lab run`", MOST), ratio),
            (target("CPU of readings as a polars frame / the run without them", MOST_BEYOND), value("beyond")?),
        ],
    })
}

/// The speed of NewReno written in Python, beside the lab's own and ns-3's.
pub(super) fn law(settings: &Settings) -> Result<Part, String> {
    const PYTHON: [&str; 4] = ["run", SCENARIO, "tcp=CountingAcks", "prr=false"];
    const BUILT_IN: [(&str, &str); 2] = [("tcp", "newreno"), ("prr", "false")];
    let seconds = settings.pick(["9", "3"], ["3", "1"]);
    let rival = || {
        let mut command = ns3("100", seconds);
        command.arg("--tcp=newreno");
        command
    };
    let turn = || -> Result<[Cost; 3], String> {
        let ours = [Cost::of(&run(python(&PYTHON))?)?, Cost::of(&run(lab(&settings.binary, SCENARIO, &BUILT_IN))?)?];
        match ours[0].packets == ours[1].packets {
            true => Ok([ours[0], ours[1], Cost::of(&run(rival())?)?]),
            false => Err("NewReno in Python and that of the lab differ".into()),
        }
    };
    let turns: Vec<[Cost; 3]> = (0..settings.pick(3, 1)).map(|_| turn()).collect::<Result<_, _>>()?;
    let typical = |side: usize, value: fn(Cost) -> f64| median(turns.iter().map(|turn| value(turn[side])));
    let row = |side: usize, name: &str| {
        let millions = |value| Unit::Millions.write(typical(side, value));
        let cpu = format!("{:.2}", typical(side, |cost| cost.cpu));
        [name.to_owned(), millions(|cost| cost.packets), cpu, millions(Cost::speed)]
    };
    let rows = [row(0, "NewReno in Python"), row(1, "NewReno of the lab"), row(2, "ns-3, in C++")];
    let ratio = median(turns.iter().map(|turn| turn[0].speed() / turn[2].speed()));
    let speed = typical(0, Cost::speed);
    let target = |what: &str, least, unit| Target { what: what.into(), bound: Bound::AtLeast(least), unit };
    Ok(Part {
        commands: vec![
            shown("run.py ns3-dumbbell tcp=CountingAcks prr=false"),
            command_line(&lab(Path::new("thalweg"), SCENARIO, &BUILT_IN)),
            command_line(&rival()),
        ],
        text: "**A law of one's own**: NewReno as in ns-3, in the first reference scenario with 100 TCP flows. Packets are \
               those that arrived at the bottleneck; the law in Python has exactly the results of the lab's own."
            .into(),
        table: grid(["contestant", "packets", "CPU s", "packets / CPU s"], &rows),
        results: vec![
            (target("packets a CPU second, NewReno in Python, N = 100", FLOOR, Unit::Millions), speed),
            (target("the same, the aim", AIM, Unit::Millions), speed),
            (target("the same / ns-3's", TIMES, Unit::Ratio), ratio),
        ],
    })
}
