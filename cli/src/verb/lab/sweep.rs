//! `thalweg lab sweep`: a grid of values with many seeds, on one machine or many.

use std::path::PathBuf;

use serde_json::{Map, Value, json};
use thalweg_core::time::Span;
use thalweg_lab::statistics::Estimate;
use thalweg_net::signal::Stop;
use thalweg_workbench::campaign::reproducible_quantities;
use thalweg_workbench::part::Part;
use thalweg_workbench::pool::Pool;
use thalweg_workbench::source::Source;
use thalweg_workbench::sweep::{Shard, Sweep, Swept, digest};

use super::run::Seeds;
use super::{failed, grid, interrupted, print, refused};
use crate::failure::Failure;
use crate::progress::Shown;
use crate::verb::replay::setting;

/// Run a grid of parameter values with many seeds, and keep each run in a file of its own.
///
/// A run whose file is in the folder is not performed again: the same command continues an interrupted sweep. With
/// --shard, several processes or machines divide the runs; once all files are in one folder, the same command without
/// --shard prints the table. docs/lab.md documents the files, and shows a Slurm array job.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  thalweg lab sweep dumbbell --over rtt_ms=10,50 --over tcp=cubic,newreno \\
    --seeds 20 --out grid
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
    let over = grid::lists(&args.over);
    let sweep =
        Sweep::new(&source, &args.settings, &over, &args.seeds.numbers(), args.interval).map_err(grid::at_fault)?;
    let stop = Stop::on_signal().map_err(|error| failed(format!("cannot handle signals: {error}")))?;
    let shown = Shown::default();
    let pool = Pool { threads: args.seeds.threads(), stopped: &|| stop.asked(), progress: &|at| shown.show(at) };
    let swept = sweep.run(&args.out, args.shard, pool);
    shown.end();
    let Swept { before, performed, missing, .. } = swept.map_err(refused)?;
    let parts = sweep.parts(&args.out);
    if missing > 0 {
        let (folder, all) = (args.out.display(), sweep.len());
        let why = interrupted(&stop);
        return Err(failed(format!("{why}: {folder} has {} of {all} runs; the same command continues", parts.len())));
    }
    let report = Report { scenario: &args.scenario, sweep: &sweep, parts: &parts, before, performed };
    print(&if args.json { report.json() } else { report.text(&args.out.display().to_string()) })
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

    /// The means of each quantity at each point.
    fn points(&self) -> Vec<grid::Point<'_>> {
        let means = |nth: usize| {
            let parts = self.parts.iter().filter(|(of, _)| *of == nth);
            let runs: Vec<Map<String, Value>> =
                parts.flat_map(|(_, part)| part.of("summary").collect::<Vec<_>>()).collect();
            let value = |run: &Map<String, Value>, name| run.get(name).and_then(Value::as_f64).unwrap_or(f64::NAN);
            let mean = |name| (name, Estimate::of(runs.iter().map(|run| value(run, name))));
            reproducible_quantities().map(mean).collect()
        };
        let points = self.sweep.points().iter().enumerate();
        points.map(|(nth, point)| grid::Point { values: &point.values, means: means(nth) }).collect()
    }

    fn text(&self, folder: &str) -> String {
        let (all, kept) = (self.sweep.len(), self.parts.len());
        let Report { before, performed, .. } = self;
        let done = format!("{performed} runs performed, {before} were there; {folder} has {kept} of {all}\n");
        match self.is_whole() {
            true => format!("{done}\nMeans over seeds and 95 % intervals\n{}", grid::table(&self.points())),
            false => done,
        }
    }

    fn json(&self) -> String {
        let mut object = json!({
            "scenario": self.scenario,
            "runs": self.sweep.len(),
            "before": self.before,
            "performed": self.performed,
            "kept": self.parts.len(),
        });
        if self.is_whole() {
            object["digest"] = digest(self.parts.iter().map(|(_, part)| part)).into();
            object["points"] = grid::json(&self.points());
        }
        format!("{object}\n")
    }
}
