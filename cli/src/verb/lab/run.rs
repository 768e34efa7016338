//! `thalweg lab run`: one scenario, many seeds.

mod over;

use std::fmt::Write as _;
use std::path::PathBuf;

use serde_json::{Map, Value};
use thalweg_lab::scenario::Blueprint;
use thalweg_lab::statistics::Estimate;
use thalweg_net::terminal::escaped;
use thalweg_papers::page::interval;
use thalweg_workbench::campaign::{Campaign, Finished, quantities};
use thalweg_workbench::part::parameters;
use thalweg_workbench::pool;
use thalweg_workbench::source::Source;

use super::campaign::{Performed, perform};
use super::{groups, output, plot, print, refused, stations};
use crate::failure::Failure;
use crate::table::Table;
use crate::verb::replay::setting;

/// Run a scenario with many seeds.
///
/// Prints means over the seeds with their 95 % intervals; --out writes everything to files. docs/lab.md defines each
/// quantity. Ctrl-C keeps the completed runs.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  thalweg lab run dumbbell --seeds 10 --set scheme=static8
  thalweg lab run geneva-s1 --set n_tcp=200 --set state=real --tpindex --json
  thalweg lab run my.toml --out results --interval 100ms
  thalweg lab run dumbbell --over tcp=cubic,newreno --plot grid.html")]
pub(super) struct Args {
    /// Scenario file, or name of a built-in scenario.
    #[arg(value_name = "SCENARIO")]
    scenario: String,
    #[command(flatten)]
    seeds: Seeds,
    /// Set a parameter of the scenario; an unknown NAME lists the known ones, `auto` is the file's own value.
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = setting)]
    settings: Vec<(String, String)>,
    /// Run each of the values of a parameter; several --over make a grid. The results have a row for each point.
    #[arg(long, value_name = "NAME=A,B,...", value_parser = setting, conflicts_with = "tpindex")]
    over: Vec<(String, String)>,
    /// Also write a page with throughput, queues and windows over time, of the first seed.
    #[arg(long, value_name = "FILE.html")]
    plot: Option<PathBuf>,
    /// Run the same seeds with scheme=tfrc, too, and print TPindex: the throughput of TCP beside this scheme, divided
    /// by the throughput of TCP beside TFRC.
    #[arg(long)]
    tpindex: bool,
    /// Print JSON on standard output: a line for each seed, in the order of the seeds, and the means as the last line.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    output: output::Files,
}

/// The seeds, and the number of runs at a time.
#[derive(clap::Args)]
pub(super) struct Seeds {
    /// Number of seeds.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    seeds: u64,
    /// First seed.
    #[arg(long, value_name = "FIRST", default_value_t = 1)]
    seed: u64,
    /// Number of parallel runs, by default one per processor. Results do not depend on it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
}

impl Seeds {
    pub(super) fn campaign(&self, variants: Vec<(String, Blueprint)>) -> Campaign {
        Campaign { variants, seeds: self.numbers() }
    }

    /// All seeds.
    pub(super) fn numbers(&self) -> Vec<u64> {
        (0..self.seeds).map(|index| self.seed.wrapping_add(index)).collect()
    }

    /// The number of runs at a time.
    pub(super) fn threads(&self) -> usize {
        self.jobs.map_or_else(pool::processors, usize::from)
    }
}

/// The parameter that selects the protection of streams.
pub(super) const SCHEME: &str = "scheme";

/// The scheme that TPindex compares with.
const TFRC: &str = "tfrc";

/// The scheme of a blueprint; `None` if it has no such parameter.
fn scheme(blueprint: &Blueprint) -> Option<String> {
    let found = blueprint.parameters().iter().find(|parameter| parameter.name == SCHEME);
    found.map(|parameter| parameter.value.to_string())
}

pub(super) fn run(args: Args) -> Result<(), Failure> {
    args.plot.as_deref().map_or(Ok(()), plot::check)?;
    let source = Source::find(&args.scenario).map_err(refused)?;
    if !args.over.is_empty() {
        return over::run(&args, &source);
    }
    let blueprint = source.blueprint(&args.settings).map_err(refused)?;
    let name = scheme(&blueprint);
    let mut variants = vec![(name.clone().unwrap_or_default(), blueprint.clone())];
    if args.tpindex && name.as_deref() != Some(TFRC) {
        if name.is_none() {
            let why = format!("lab: --tpindex needs a parameter '{SCHEME}', which {} lacks", args.scenario);
            return Err(Failure::Usage(why));
        }
        let settings = [&args.settings[..], &[(SCHEME.to_owned(), TFRC.to_owned())]].concat();
        variants.push((TFRC.to_owned(), source.blueprint(&settings).map_err(refused)?));
    }
    let tfrc = args.tpindex.then(|| variants.len() - 1);
    let campaign = args.seeds.campaign(variants);
    let output = args.output.open(&campaign, args.json)?;
    let results = perform(&campaign, &output, args.seeds.threads())?;
    if results.of(0).next().is_none() {
        return Err(results.nothing_before("the first run was completed"));
    }
    results.plot(args.plot.as_deref(), &args.scenario, &campaign, args.seeds.threads())?;
    let report = Report { blueprint: &blueprint, results: &results, tfrc };
    print(&if args.json { report.json(&args.scenario) } else { report.text(&args.scenario) })?;
    results.complete()
}

struct Report<'a> {
    blueprint: &'a Blueprint,
    results: &'a Performed,
    /// The variant that TPindex compares with, if it is asked for.
    tfrc: Option<usize>,
}

impl Report<'_> {
    /// Every quantity of every seed.
    fn quantities(&self) -> Vec<(&'static str, Vec<f64>)> {
        let runs: Vec<&Finished> = self.results.of(0).collect();
        let of = |name| (name, runs.iter().map(|run| run.value(name)).collect());
        let mut all: Vec<_> = quantities().map(|(name, _)| of(name)).collect();
        if let Some(tfrc) = self.tfrc {
            let beside = |seed| self.results.of(tfrc).find(|other| other.seed == seed);
            let index = |run: &&Finished| beside(run.seed).map_or(f64::NAN, |tfrc| tpindex(run, tfrc));
            all.push(("tpindex", runs.iter().map(index).collect()));
        }
        all
    }

    /// The means as the last line of JSON.
    fn json(&self, scenario: &str) -> String {
        let mut object = Map::new();
        object.insert("scenario".to_owned(), scenario.into());
        object.insert("parameters".to_owned(), parameters(self.blueprint).into());
        let seeds: Vec<u64> = self.results.of(0).map(|run| run.seed).collect();
        object.insert("seeds".to_owned(), seeds.into());
        for (name, values) in self.quantities() {
            object.insert(name.to_owned(), Estimate::of(values.iter().copied()).mean.into());
            object.insert(format!("{name}_per_seed"), values.into());
        }
        format!("{}\n", Value::Object(object))
    }

    fn text(&self, scenario: &str) -> String {
        let mut text = titled(scenario, self.blueprint);
        let parameters = self.blueprint.parameters().iter();
        let parameters: Vec<String> = parameters.map(|it| format!("{}={}", it.name, it.value)).collect();
        if !parameters.is_empty() {
            let _ = writeln!(text, "{}", escaped(&parameters.join(" ")));
        }
        let runs: Vec<&Finished> = self.results.of(0).collect();
        let window = runs.first().map_or_else(String::new, |run| {
            format!(", measured from {} s to {} s", run.outcome.from().as_secs_f64(), run.outcome.end.as_secs_f64())
        });
        let seeds = if runs.len() == 1 { "seed" } else { "seeds" };
        let _ = writeln!(text, "{} {seeds}{window}; means over seeds and 95 % intervals\n", runs.len());
        let mut table = Table::default();
        for (name, values) in self.quantities() {
            let estimate = Estimate::of(values);
            if estimate.count > 0 {
                table.row(vec![name.to_owned(), interval(&estimate)]);
            }
        }
        let mut groups = groups::table();
        groups::rows(&mut groups, None, &runs);
        let stations = stations::table(&runs).map_or_else(String::new, |stations| format!("\n{stations}"));
        format!("{text}{table}\n{groups}{stations}")
    }
}

/// The line that names the scenario, and its subject if its file states one.
pub(super) fn titled(scenario: &str, blueprint: &Blueprint) -> String {
    match blueprint.about() {
        "" => format!("{}\n", escaped(scenario)),
        about => format!("{}: {}\n", escaped(scenario), escaped(about)),
    }
}

/// TCP's throughput beside a scheme, as a share of its throughput beside TFRC.
pub(super) fn tpindex(run: &Finished, tfrc: &Finished) -> f64 {
    run.value("tcp_throughput_mbps") / tfrc.value("tcp_throughput_mbps")
}
