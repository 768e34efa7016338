//! `thalweg lab run --over`: every point of a grid.

use serde_json::json;
use thalweg_lab::statistics::Estimate;
use thalweg_workbench::campaign::quantities;
use thalweg_workbench::source::Source;
use thalweg_workbench::sweep;

use super::{Args, titled};
use crate::failure::Failure;
use crate::verb::lab::campaign::{Performed, perform};
use crate::verb::lab::grid::{self, Point};
use crate::verb::lab::{groups, print, refused};

pub(super) fn run(args: &Args, source: &Source) -> Result<(), Failure> {
    let values = sweep::grid(&grid::lists(&args.over)).map_err(grid::at_fault)?;
    if let Some((name, value)) = args.settings.iter().find(|(set, _)| args.over.iter().any(|(name, _)| name == set)) {
        return Err(Failure::Usage(format!("lab: --set {name}={value}: conflicts with --over; leave it out")));
    }
    let blueprint = |values: &Vec<_>| source.blueprint(&[&args.settings[..], values].concat()).map_err(refused);
    let variants = values.iter().map(|values| Ok((grid::named(values), blueprint(values)?)));
    let campaign = args.seeds.campaign(variants.collect::<Result<_, Failure>>()?);
    let output = args.output.open(&campaign, args.json)?;
    let results = perform(&campaign, &output, args.seeds.threads())?;
    let points: Vec<Point<'_>> = values.iter().enumerate().map(|(nth, values)| point(nth, values, &results)).collect();
    results.plot(args.plot.as_deref(), &args.scenario, &campaign, args.seeds.threads())?;
    let seeds = campaign.seeds.len();
    let text = if args.json {
        format!("{}\n", json!({ "scenario": args.scenario, "seeds": campaign.seeds, "points": grid::json(&points) }))
    } else {
        let mut rows = groups::table();
        for (nth, (name, _)) in campaign.variants.iter().enumerate() {
            groups::rows(&mut rows, Some(name), &results.of(nth).collect::<Vec<_>>());
        }
        let title = titled(&args.scenario, &campaign.variants[0].1);
        format!("{title}{seeds} seeds; means over seeds and 95 % intervals\n\n{}\n{rows}", grid::table(&points))
    };
    print(&text)?;
    results.complete()
}

/// The means of the runs of a variant.
fn point<'a>(variant: usize, values: &'a grid::Values, results: &Performed) -> Point<'a> {
    let mean = |name| Estimate::of(results.of(variant).map(|run| run.value(name)));
    Point { values, means: quantities().map(|(name, _)| (name, mean(name))).collect() }
}
