//! Results of each group of flows, a row for each.

use thalweg_lab::experiment::GROUP_QUANTITIES;
use thalweg_lab::statistics::Estimate;
use thalweg_papers::page::interval;
use thalweg_workbench::campaign::Finished;

use crate::table::Table;

/// Adds a row for each group, with means over the seeds of `runs`, which are of one variant; `scheme` stands before the
/// group's name, if there are several.
pub(super) fn rows(table: &mut Table, scheme: Option<&str>, runs: &[&Finished]) {
    let Some(first) = runs.first() else { return };
    for (group, name) in first.groups.iter().enumerate() {
        let name = scheme.map_or_else(|| name.clone(), |scheme| format!("{scheme}: {name}"));
        let values = GROUP_QUANTITIES.iter().map(|quantity| {
            let values: Vec<f64> = runs.iter().map(|run| run.outcome.of_group(group, quantity)).collect();
            // Such as the number of flows, of all kinds but transfers.
            let is_one_whole_number = values.iter().all(|value| *value == values[0] && value.fract() == 0.0);
            if is_one_whole_number { values[0].to_string() } else { interval(&Estimate::of(values)) }
        });
        table.row([name].into_iter().chain(values).collect());
    }
}

/// A table with the names of the columns alone.
pub(super) fn table() -> Table {
    let mut table = Table::default();
    let names = GROUP_QUANTITIES.iter().map(|quantity| quantity.name.to_owned());
    table.row(["group".to_owned()].into_iter().chain(names).collect());
    table
}
