//! `thalweg lab sweep`: a grid of values with many seeds, on one machine or many.

use std::path::PathBuf;

use serde_json::{Map, Value, json};
use thalweg_core::time::Span;
use thalweg_lab::statistics::Estimate;
use thalweg_net::signal::Stop;
use thalweg_papers::page::interval;
use thalweg_workbench::Error;
use thalweg_workbench::campaign::reproducible_quantities;
use thalweg_workbench::part::Part;
use thalweg_workbench::pool::Pool;
use thalweg_workbench::source::Source;
use thalweg_workbench::sweep::{Point, Shard, Sweep, Swept, digest};

use super::progress::Shown;
use super::run::Seeds;
use super::table::Table;
use super::{failed, interrupted, print, refused};
use crate::failure::Failure;
use crate::verb::replay::setting;

/// Run a grid of parameter values with many seeds, and keep each run in a file of its own.
///
/// A run whose file is in the folder is not performed again: the same command continues an interrupted sweep. With
/// --shard, several processes or machines divide the runs; once all files are in one folder, the same command without
/// --shard prints the table. docs/lab.md documents the files, and shows a Slurm array job.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  thalweg lab sweep dumbbell --over rtt_ms=10,50,100 --over tcp=cubic,newreno --seeds 20 --out grid
  thalweg lab sweep my.toml --over n_tcp=1,10,100 --shard 3/16 --out grid")]
pub(super) struct Args {
    /// Scenario file, or name of a built-in scenario.
    #[arg(value_name = "SCENARIO")]
    scenario: String,
    /// Values of a parameter of the scenario; several --over make a grid.
    #[arg(long, value_name = "NAME=A,B,...", value_parser = setting, required = true)]
    over: Vec<(String, String)>,
    #[command(flatten)]
    seeds: Seeds,
    /// Set another parameter of the scenario; an unknown NAME lists the known ones.
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = setting)]
    settings: Vec<(String, String)>,
    /// Folder for the files of the runs.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Also keep the state and counters of flows and hops at this interval, 1ms or more.
    #[arg(long, value_name = "TIME")]
    interval: Option<Span>,
    /// Perform the Kth of N shares of the runs alone.
    #[arg(long, value_name = "K/N", default_value_t = Shard::ALL)]
    shard: Shard,
    /// Print JSON on standard output, one object with the means of each point.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: Args) -> Result<(), Failure> {
    let source = Source::find(&args.scenario).map_err(refused)?;
    let over: Vec<(String, Vec<String>)> =
        args.over.iter().map(|(name, values)| (name.clone(), listed(values))).collect();
    let sweep = Sweep::new(&source, &args.settings, &over, &args.seeds.numbers(), args.interval).map_err(of_grid)?;
    let stop = Stop::on_signal().map_err(|error| failed(format!("cannot handle signals: {error}")))?;
    let shown = Shown::default();
    let pool = Pool { threads: args.seeds.threads(), stopped: &|| stop.asked(), progress: &|at| shown.show(at) };
    let swept = sweep.run(&args.out, args.shard, pool);
    shown.end();
    let Swept { before, performed, missing } = swept.map_err(refused)?;
    let parts = sweep.parts(&args.out);
    if missing > 0 {
        let (folder, all) = (args.out.display(), sweep.len());
        let why = interrupted(&stop);
        return Err(failed(format!("{why}: {folder} has {} of {all} runs; the same command continues", parts.len())));
    }
    let report = Report { scenario: &args.scenario, sweep: &sweep, parts: &parts, before, performed };
    print(&if args.json { report.json() } else { report.text(&args.out.display().to_string()) })
}

/// The values of a list with commas.
pub(super) fn listed(values: &str) -> Vec<String> {
    values.split(',').map(|value| value.trim().to_owned()).collect()
}

/// The failure for an error of a grid.
pub(super) fn of_grid(error: Error) -> Failure {
    match error {
        Error::Parameter(why) => Failure::Usage(format!("lab: {why}")),
        error => refused(error),
    }
}

struct Report<'a> {
    scenario: &'a str,
    sweep: &'a Sweep,
    /// The parts, each with the index of its point.
    parts: &'a [(usize, Part)],
    before: usize,
    performed: usize,
}

impl Report<'_> {
    fn is_whole(&self) -> bool {
        self.parts.len() == self.sweep.len()
    }

    /// The means of each quantity at a point.
    fn means(&self, point: usize) -> Vec<(&'static str, Estimate)> {
        let parts = self.parts.iter().filter(|(of, _)| *of == point);
        let runs: Vec<Map<String, Value>> =
            parts.flat_map(|(_, part)| part.of("summary").collect::<Vec<_>>()).collect();
        let value = |run: &Map<String, Value>, name: &str| run.get(name).and_then(Value::as_f64).unwrap_or(f64::NAN);
        reproducible_quantities().map(|name| (name, Estimate::of(runs.iter().map(|run| value(run, name))))).collect()
    }

    fn text(&self, folder: &str) -> String {
        let (all, kept) = (self.sweep.len(), self.parts.len());
        let Report { before, performed, .. } = self;
        let done = format!("{performed} runs performed, {before} were there; {folder} has {kept} of {all}\n");
        if !self.is_whole() {
            return done;
        }
        let means: Vec<_> = (0..self.sweep.points().len()).map(|point| self.means(point)).collect();
        let is_shown = |nth: &usize| means.iter().any(|means| means[*nth].1.count > 0);
        let shown: Vec<usize> = (0..reproducible_quantities().count()).filter(is_shown).collect();
        let mut table = Table::default();
        table.row([String::new()].into_iter().chain(shown.iter().map(|nth| means[0][*nth].0.to_owned())).collect());
        for (point, means) in self.sweep.points().iter().zip(&means) {
            table.row([named(point)].into_iter().chain(shown.iter().map(|nth| interval(&means[*nth].1))).collect());
        }
        format!("{done}\nMeans over seeds and 95 % intervals\n{table}")
    }

    fn json(&self) -> String {
        let point = |(nth, point): (usize, &Point)| {
            let values = point.values.iter().map(|(name, value)| (name.clone(), Value::from(value.as_str())));
            let means = self.means(nth).into_iter().map(|(name, estimate)| (name.to_owned(), estimate.mean.into()));
            json!({ "over": values.collect::<Map<_, _>>(), "means": means.collect::<Map<_, _>>() })
        };
        let mut object = json!({
            "scenario": self.scenario,
            "runs": self.sweep.len(),
            "before": self.before,
            "performed": self.performed,
            "kept": self.parts.len(),
        });
        if self.is_whole() {
            object["digest"] = digest(self.parts.iter().map(|(_, part)| part)).into();
            object["points"] = self.sweep.points().iter().enumerate().map(point).collect::<Vec<_>>().into();
        }
        format!("{object}\n")
    }
}

/// The values of a point, as in `rtt_ms=10 tcp=cubic`.
pub(super) fn named(point: &Point) -> String {
    point.values.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
}
