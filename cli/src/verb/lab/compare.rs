//! `thalweg lab compare`: several schemes on one path, with the same seeds.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};
use thalweg_lab::scenario::{self, Blueprint};
use thalweg_lab::statistics::Estimate;
use thalweg_papers::page::interval;
use thalweg_workbench::campaign::{CPU, Finished, quantities};
use thalweg_workbench::part::parameters;
use thalweg_workbench::source::Source;

use super::campaign::{Performed, perform};
use super::run::{SCHEME, Seeds, titled, tpindex};
use super::{grid, groups, output, print, refused};
use crate::failure::Failure;
use crate::table::Table;
use crate::verb::replay::setting;

/// Compare schemes on one path, with the same seeds.
///
/// Each scheme is a value of the scenario's parameter `scheme`, or with --over of another parameter. The first scheme is
/// compared with each of the others.
/// The table shows the mean difference of two runs with the same seed, and its 95 % interval; a * marks an interval
/// that excludes zero, except for processor time. If tfrc is among the schemes, the table has TPindex, too (see `lab
/// run --help`).
#[derive(clap::Args)]
#[command(after_help = "Examples:
  thalweg lab compare geneva-s1 --schemes geneva,static8,static12,tfrc \\
    --set n_tcp=200 --set duration_s=60
  thalweg lab compare r3cp-s1 --over control=r3cp+,tfcc,none --set videos=3")]
pub(super) struct Args {
    /// Scenario file, or name of a built-in scenario.
    #[arg(value_name = "SCENARIO")]
    scenario: String,
    #[arg(long, value_name = "A,B,...", value_delimiter = ',', required_unless_present = "over", help = schemes_help())]
    schemes: Vec<String>,
    /// Values of another parameter of the scenario, two or more, in place of --schemes
    #[arg(long, value_name = "NAME=A,B,...", value_parser = setting, conflicts_with = "schemes")]
    over: Option<(String, String)>,
    #[command(flatten)]
    seeds: Seeds,
    /// Set a parameter of the scenario; an unknown NAME lists the known ones, `auto` is the file's own value.
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = setting)]
    settings: Vec<(String, String)>,
    /// Print JSON on standard output: a line for each run, seed by seed, and the comparison as the last line.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    output: output::Files,
}

fn schemes_help() -> String {
    format!("Values of the parameter `scheme`, two or more of: {}. docs/lab.md describes each", scenario::schemes())
}

pub(super) fn run(args: Args) -> Result<(), Failure> {
    let source = Source::find(&args.scenario).map_err(refused)?;
    let (option, name, values) = match args.over {
        Some((name, list)) => ("--over", name, grid::values(&list)),
        None => ("--schemes", SCHEME.to_owned(), args.schemes),
    };
    let variants = variants(&source, option, (&name, &values), &args.settings)?;
    let first = variants[0].1.clone();
    let campaign = args.seeds.campaign(variants);
    let output = args.output.open(&campaign, args.json)?;
    let results = perform(&campaign, &output, args.seeds.threads())?;
    let table = Comparison::of(&name, &values, &results);
    if table.seeds.is_empty() {
        return Err(results.nothing_before("every scheme was completed with one seed"));
    }
    print(&if args.json { table.json(&args.scenario, &first) } else { table.text(&args.scenario, &first) })?;
    results.complete()
}

/// The scenario with each of the values of its parameter `name`, which `option` gave.
fn variants(
    source: &Source,
    option: &str,
    (name, values): (&str, &[String]),
    settings: &[(String, String)],
) -> Result<Vec<(String, Blueprint)>, Failure> {
    if values.len() < 2 {
        return Err(Failure::Usage(format!("lab: {option}: needs two or more")));
    }
    if let Some((_, value)) = settings.iter().find(|(set, _)| set == name) {
        return Err(Failure::Usage(format!("lab: --set {name}={value}: conflicts with {option}; leave it out")));
    }
    let mut variants: Vec<(String, Blueprint)> = Vec::new();
    for value in values {
        if variants.iter().any(|(known, _)| known == value) {
            return Err(Failure::Usage(format!("lab: {option}: '{value}' is given twice")));
        }
        let settings = [settings, &[(name.to_owned(), value.clone())]].concat();
        variants.push((value.clone(), source.blueprint(&settings).map_err(refused)?));
    }
    Ok(variants)
}

/// Every quantity of every scheme for the seeds that all of them have.
struct Comparison<'a> {
    /// The parameter whose values the schemes are.
    over: &'a str,
    schemes: &'a [String],
    seeds: Vec<u64>,
    /// Values by quantity, then by scheme, then by seed.
    values: Vec<(&'static str, Vec<Vec<f64>>)>,
    /// Results of each group of each scheme.
    groups: Table,
}

impl<'a> Comparison<'a> {
    fn of(over: &'a str, schemes: &'a [String], results: &Performed) -> Comparison<'a> {
        let has = |variant: usize, seed: u64| results.of(variant).any(|run| run.seed == seed);
        let common = |run: &Finished| (1..schemes.len()).all(|variant| has(variant, run.seed)).then_some(run.seed);
        let seeds: Vec<u64> = results.of(0).filter_map(common).collect();
        let paired = |variant: usize| results.of(variant).filter(|run| seeds.contains(&run.seed));
        let of = |value: &dyn Fn(&Finished) -> f64| -> Vec<Vec<f64>> {
            (0..schemes.len()).map(|variant| paired(variant).map(value).collect()).collect()
        };
        let mut values: Vec<_> = quantities().map(|(name, _)| (name, of(&|run| run.value(name)))).collect();
        if let Some(tfrc) = schemes.iter().position(|scheme| scheme == "tfrc") {
            let beside = |run: &Finished| results.of(tfrc).find(|other| other.seed == run.seed);
            values.push(("tpindex", of(&|run| beside(run).map_or(f64::NAN, |tfrc| tpindex(run, tfrc)))));
        }
        let mut groups = groups::table();
        for (variant, scheme) in schemes.iter().enumerate() {
            groups::rows(&mut groups, Some(scheme), &paired(variant).collect::<Vec<_>>());
        }
        Comparison { over, schemes, seeds, values, groups }
    }

    fn text(&self, scenario: &str, blueprint: &Blueprint) -> String {
        let mut text = titled(scenario, blueprint) + "\n";
        let mut means = Table::default();
        means.row([String::new()].into_iter().chain(self.schemes.iter().cloned()).collect());
        let mut differences = Table::default();
        let first = &self.schemes[0];
        let others = self.schemes[1..].iter().map(|other| format!("{first} - {other}"));
        differences.row([String::new()].into_iter().chain(others).collect());
        for (name, values) in &self.values {
            let estimates: Vec<Estimate> = values.iter().map(|values| Estimate::of(values.iter().copied())).collect();
            if estimates.iter().all(|estimate| estimate.count == 0) {
                continue;
            }
            means.row([(*name).to_owned()].into_iter().chain(estimates.iter().map(interval)).collect());
            let cells = values[1..].iter().map(|other| marked(name, &Estimate::of_difference(&values[0], other)));
            differences.row([(*name).to_owned()].into_iter().chain(cells).collect());
        }
        let _ = writeln!(text, "Means over {} seeds, with 95 % intervals\n{means}\n{}", self.seeds.len(), self.groups);
        let _ = write!(text, "Mean differences of paired runs; * if the interval excludes zero\n{differences}");
        text
    }

    /// The comparison as the last line of JSON.
    fn json(&self, scenario: &str, blueprint: &Blueprint) -> String {
        let mut schemes = Map::new();
        let mut differences = Map::new();
        for (variant, scheme) in self.schemes.iter().enumerate() {
            let (mut own, mut beside) = (Map::new(), Map::new());
            for (name, values) in &self.values {
                own.insert((*name).to_owned(), Estimate::of(values[variant].iter().copied()).mean.into());
                own.insert(format!("{name}_per_seed"), values[variant].clone().into());
                let difference = Estimate::of_difference(&values[0], &values[variant]);
                let interval = json!({ "mean": difference.mean, "half_width": difference.half_width });
                beside.insert((*name).to_owned(), interval);
            }
            schemes.insert(scheme.clone(), Value::Object(own));
            if variant > 0 {
                differences.insert(scheme.clone(), Value::Object(beside));
            }
        }
        // The values of this parameter are the keys of `schemes`.
        let mut parameters = parameters(blueprint);
        parameters.remove(self.over);
        let whole = json!({
            "scenario": scenario,
            "parameters": parameters,
            "seeds": self.seeds,
            "schemes": schemes,
            "first": self.schemes[0],
            "first_minus": differences,
        });
        format!("{whole}\n")
    }
}

/// An interval, with a star if it excludes zero; processor time has none, since the machine decides it.
fn marked(name: &str, estimate: &Estimate) -> String {
    let star = if name != CPU && estimate.mean.abs() > estimate.half_width { " *" } else { "" };
    interval(estimate) + star
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processor_time_is_not_marked_as_significant() {
        let far_from_zero = Estimate { mean: 1.0, half_width: 0.5, count: 5 };
        assert_eq!(marked("tcp_loss", &far_from_zero), "1.000 ± 0.500 *");
        assert_eq!(marked("cpu_s", &far_from_zero), "1.000 ± 0.500");
    }
}
