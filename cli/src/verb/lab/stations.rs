//! Results of each station of a Wi-Fi cell, a row for each.

use thalweg_core::units::Rate;
use thalweg_lab::experiment::{Outcome, StationOutcome};
use thalweg_lab::node::wifi::LinkCounters;
use thalweg_lab::statistics::Estimate;
use thalweg_papers::page::interval;
use thalweg_workbench::campaign::Finished;

use crate::table::Table;

/// A column: its name, and its value of a station.
type Column = (&'static str, fn(&Outcome, &StationOutcome) -> f64);

const COLUMNS: [Column; 6] = [
    ("down, Mb/s", |run, station| mbps(run, &station.down)),
    ("up, Mb/s", |run, station| mbps(run, &station.up)),
    ("loss down", |_, station| loss(&station.down)),
    ("loss up", |_, station| loss(&station.up)),
    // Of all transmissions, those that collided.
    ("collisions", |_, station| {
        let collisions = station.down.collisions + station.up.collisions;
        collisions as f64 / (collisions + station.down.delivered + station.up.delivered) as f64
    }),
    ("airtime", |run, station| (station.down.airtime + station.up.airtime).as_secs_f64() / run.window.as_secs_f64()),
];

/// A table with a row for each station, with means over the seeds of `runs`, which are of one variant; none without a
/// cell.
pub(super) fn table(runs: &[&Finished]) -> Option<Table> {
    let stations = runs.first().map_or(&[][..], |run| &run.outcome.stations);
    let mut table = Table::default();
    let names = COLUMNS.iter().map(|(name, _)| (*name).to_owned());
    table.row(["station".to_owned()].into_iter().chain(names).collect());
    for (number, station) in stations.iter().enumerate() {
        let values = COLUMNS.iter().map(|(_, of)| {
            interval(&Estimate::of(runs.iter().map(|run| of(&run.outcome, &run.outcome.stations[number]))))
        });
        table.row([station.name.clone()].into_iter().chain(values).collect());
    }
    (!stations.is_empty()).then_some(table)
}

fn mbps(run: &Outcome, link: &LinkCounters) -> f64 {
    Rate::of(link.bytes, run.window).as_mbps_f64()
}

fn loss(link: &LinkCounters) -> f64 {
    link.offered.dropped as f64 / link.offered.packets as f64
}
