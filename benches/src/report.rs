//! The command line of every bench, and its output: a section of Markdown on standard output.

use std::path::PathBuf;
use std::process::ExitCode;

use crate::udp::sharpen_timers;

/// The command-line settings of a bench.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The path of the `thalweg` binary.
    pub binary: PathBuf,
    /// True if a rough result is enough.
    pub quick: bool,
    /// The other arguments.
    pub arguments: Vec<String>,
}

impl Settings {
    /// Returns `quick` if a rough result is enough, else `full`.
    pub fn pick<T>(&self, full: T, quick: T) -> T {
        if self.quick { quick } else { full }
    }
}

/// Runs `bench` with the settings of the command line: `[--quick] [ARGUMENT...] BINARY`.
pub fn main(name: &str, bench: impl FnOnce(&Settings) -> Result<(), String>) -> ExitCode {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let all = arguments.len();
    arguments.retain(|argument| argument != "--quick");
    let quick = arguments.len() < all;
    let settings = Settings { binary: arguments.pop().unwrap_or_default().into(), quick, arguments };
    sharpen_timers();
    match bench(&settings) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{name}: {error}");
            ExitCode::FAILURE
        }
    }
}

/// A target for a measured value.
#[derive(Clone, Debug)]
pub struct Target {
    /// A description of the value.
    pub what: String,
    /// The bound.
    pub bound: Bound,
    /// The unit of the value and of the bound.
    pub unit: Unit,
}

/// A bound, and the side of it that is good.
#[derive(Clone, Copy, Debug)]
pub enum Bound {
    /// At most this value.
    AtMost(f64),
    /// At least this value.
    AtLeast(f64),
}

/// A unit, and the form in which values are written.
#[derive(Clone, Copy, Debug)]
pub enum Unit {
    /// A plain ratio.
    Ratio,
    /// A share, written as a percentage.
    Percent,
    /// Seconds, written as milliseconds.
    Milliseconds,
    /// Bytes, written as megabytes.
    Megabytes,
    /// Bytes, written as kibibytes.
    Kibibytes,
    /// Bits per second, written as megabits per second.
    Megabits,
    /// Bits per second, written as kilobits per second.
    Kilobits,
    /// A whole number.
    Count,
    /// Counts, written in millions.
    Millions,
    /// Seconds.
    Seconds,
}

impl Unit {
    /// The value with its unit.
    pub fn write(self, value: f64) -> String {
        match self {
            Unit::Ratio => format!("{value:.3}"),
            Unit::Percent => format!("{:.2} %", value * 100.0),
            Unit::Milliseconds => format!("{:.2} ms", value * 1e3),
            Unit::Megabytes => format!("{:.1} MB", value / 1e6),
            Unit::Kibibytes => format!("{:.1} KiB", value / 1024.0),
            Unit::Megabits => format!("{:.0} Mb/s", value / 1e6),
            Unit::Kilobits => format!("{:.0} kb/s", value / 1e3),
            Unit::Count => format!("{value:.0}"),
            Unit::Millions => format!("{:.2} M", value / 1e6),
            Unit::Seconds => format!("{value:.2} s"),
        }
    }
}

/// Writes the heading of a section, its text, and the commands of its contestants.
pub fn section(title: &str, text: &str, commands: &[String]) {
    println!("## {title}\n\n{text}\n\n```text\n{}\n```\n", commands.join("\n"));
}

/// Writes a table.
pub fn table<const N: usize>(head: [&str; N], rows: &[[String; N]]) {
    println!("{}", grid(head, rows));
}

/// The text of a table.
pub fn grid<const N: usize>(head: [&str; N], rows: &[[String; N]]) -> String {
    let mut text = format!("| {} |\n|---|{}\n", head.join(" | "), "---:|".repeat(N - 1));
    rows.iter().for_each(|row| text += &format!("| {} |\n", row.join(" | ")));
    text
}

/// One of several parts of a section.
#[derive(Clone, Debug, Default)]
pub struct Part {
    /// The commands that were run.
    pub commands: Vec<String>,
    /// A description of the measurement.
    pub text: String,
    /// The table of results.
    pub table: String,
    /// The targets and the measured values.
    pub results: Vec<(Target, f64)>,
}

impl Part {
    /// Writes the text and the table.
    pub fn print(&self) {
        println!("{}\n\n{}", self.text, self.table);
    }
}

/// Measures one part of a section.
pub type Measure = fn(&Settings) -> Result<Part, String>;

/// Measures all parts of a section, and writes it.
pub fn parts(settings: &Settings, title: &str, text: &str, measures: &[Measure]) -> Result<(), String> {
    let measured = measures.iter().map(|measure| measure(settings)).collect::<Result<Vec<Part>, String>>()?;
    let commands: Vec<String> = measured.iter().flat_map(|part| part.commands.clone()).collect();
    section(title, text, &commands);
    measured.iter().for_each(Part::print);
    verdicts(&measured.into_iter().flat_map(|part| part.results).collect::<Vec<_>>());
    Ok(())
}

/// Writes the targets, the measured values, and whether the targets were reached.
pub fn verdicts(results: &[(Target, f64)]) {
    let rows: Vec<[String; 4]> = results.iter().map(|(target, value)| verdict(target, *value)).collect();
    table(["target", "must reach", "measured", "verdict"], &rows);
}

fn verdict(target: &Target, value: f64) -> [String; 4] {
    // NaN reaches no target.
    let (bound, reached) = match target.bound {
        Bound::AtMost(most) => (format!("at most {}", target.unit.write(most)), value <= most),
        Bound::AtLeast(least) => (format!("at least {}", target.unit.write(least)), value >= least),
    };
    let verdict = if reached { "reached" } else { "**not reached**" };
    [target.what.clone(), bound, target.unit.write(value), verdict.into()]
}
