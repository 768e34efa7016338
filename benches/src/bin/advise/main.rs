//! `thalweg advise` on ten paths: what it predicts, and what the path then does.
//!
//! `[--quick] [N ...] BINARY`: only the paths of these numbers, from 1 on, all of whose predictions must come true.

mod line;
mod path;

use std::process::ExitCode;

use thalweg_bench::report::{Bound, Settings, Target, Unit, main as report, section, table, verdicts};

use self::line::{Advised, advise};
use self::path::{PATHS, Path};

/// The number of paths whose prediction may fail.
const WRONG: f64 = 1.0;
/// The longest time from the last packet to the table, for the default time and 8 Mb/s.
const WAIT: f64 = 10.0;

fn main() -> ExitCode {
    report("advise", bench)
}

fn bench(settings: &Settings) -> Result<(), String> {
    // 20 s are the default of `advise`.
    let seconds = settings.pick(120, 20);
    let some = chosen(&settings.arguments)?;
    let mut all = Vec::new();
    // One at a time: the trials of another path would delay packets.
    for path in some.iter().filter(|path| path.is_available()) {
        let advised = advise(settings, path, path.time(seconds)).map_err(|why| format!("{}: {why}", path.name))?;
        eprintln!("advise: {}", advised.row().join(", "));
        all.push(advised);
    }
    let wrong = all.iter().filter(|advised| !advised.comes_true()).count();
    let worse = all.iter().filter(|advised| advised.is_worse()).count();
    if !settings.arguments.is_empty() {
        return match wrong + worse {
            0 => Ok(()),
            _ => Err(format!("of {} paths {wrong} are not as predicted, and {worse} have better settings", all.len())),
        };
    }
    let wait = advise(settings, &PATHS[1].with_media("8mbit"), 20)?.wait();
    let target = |what: &str, most, unit| Target { what: what.into(), bound: Bound::AtMost(most), unit };
    let text = format!(
        "`thalweg advise` over {} paths of `thalweg emulate` for {seconds} s, on recordings for whole repetitions, and its \
         verification for as long, with another part of the same random numbers. If this machine stalls for 20 ms \
         meanwhile, the path is measured again, up to twice. A prediction comes true if the loss after repair is within a \
         factor of two or the interval where both sides saw 20 losses, and otherwise does not contradict the bound; if the \
         overhead is within 3 points, and p99 within 8 ms. *Best* is the least loss of all candidates of no more bytes and \
         latency, over the emulated path in the lab with another seed; *few* are fewer than 20 losses there.",
        all.len()
    );
    let options = "--media RATE [--latency TIME]";
    section(
        "Advice for a path",
        &text,
        &[
            format!("thalweg advise connect HOST:PORT --key-file k {options} --time {seconds}s --verify"),
            format!("thalweg advise lab PATH.toml {options} --time {seconds}s"),
        ],
    );
    let rows: Vec<_> = all.iter().map(Advised::row).collect();
    table(
        [
            "path",
            "media",
            "asked for",
            "recommended",
            "lost, predicted",
            "lost, measured",
            "overhead, %",
            "p99, ms",
            "recommended / best",
        ],
        &rows,
    );
    verdicts(&[
        (target("paths whose prediction fails", WRONG, Unit::Count), wrong as f64),
        (target("paths whose recommendation loses over twice as much as the best", 0.0, Unit::Count), worse as f64),
        (target("from the last packet to the table, 8 Mb/s for 20 s", WAIT, Unit::Seconds), wait),
    ]);
    Ok(())
}

/// The paths of these numbers, from 1 on; all without any.
fn chosen(numbers: &[String]) -> Result<Vec<Path>, String> {
    if numbers.is_empty() {
        return Ok(PATHS.to_vec());
    }
    let path = |number: &String| {
        let nth = number.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        nth.and_then(|nth| PATHS.get(nth).copied())
            .ok_or_else(|| format!("no path '{number}', expected 1 to {}", PATHS.len()))
    };
    numbers.iter().map(path).collect()
}
