//! The results at the points of a grid: a row for each.

use serde_json::{Map, Value, json};
use thalweg_lab::statistics::Estimate;
use thalweg_papers::page::interval;
use thalweg_workbench::Error;

use super::refused;
use crate::failure::Failure;
use crate::table::Table;

/// The values of the parameters at a point, in the order of the grid.
pub(super) type Values = [(String, String)];

/// The means of the quantities at one point.
pub(super) struct Point<'a> {
    pub(super) values: &'a Values,
    /// The same quantities at each point.
    pub(super) means: Vec<(&'static str, Estimate)>,
}

/// The lists of `--over NAME=A,B`.
pub(super) fn lists(over: &[(String, String)]) -> Vec<(String, Vec<String>)> {
    over.iter().map(|(name, list)| (name.clone(), values(list))).collect()
}

/// The values of a list with commas.
pub(super) fn values(list: &str) -> Vec<String> {
    list.split(',').map(|value| value.trim().to_owned()).collect()
}

/// The failure for an error of a grid.
pub(super) fn at_fault(error: Error) -> Failure {
    match error {
        Error::Parameter(why) => Failure::Usage(format!("lab: {why}")),
        error => refused(error),
    }
}

/// The name of a point, as in `rtt_ms=10 tcp=cubic`.
pub(super) fn named(values: &Values) -> String {
    values.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
}

/// The table of the quantities that any point has.
pub(super) fn table(points: &[Point<'_>]) -> Table {
    let all = points.first().map_or(0, |point| point.means.len());
    let shown: Vec<usize> = (0..all).filter(|nth| points.iter().any(|point| point.means[*nth].1.count > 0)).collect();
    let mut table = Table::default();
    table.row([String::new()].into_iter().chain(shown.iter().map(|nth| points[0].means[*nth].0.to_owned())).collect());
    for Point { values, means } in points {
        table.row([named(values)].into_iter().chain(shown.iter().map(|nth| interval(&means[*nth].1))).collect());
    }
    table
}

/// The points as JSON.
pub(super) fn json(points: &[Point<'_>]) -> Value {
    let point = |Point { values, means }: &Point<'_>| {
        let values = values.iter().map(|(name, value)| (name.clone(), Value::from(value.as_str())));
        let means = means.iter().map(|(name, estimate)| ((*name).to_owned(), estimate.mean.into()));
        json!({ "over": values.collect::<Map<_, _>>(), "means": means.collect::<Map<_, _>>() })
    };
    points.iter().map(point).collect::<Vec<_>>().into()
}
