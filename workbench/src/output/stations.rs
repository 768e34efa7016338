//! `stations.csv` and `stations.jsonl`: a row for each way of each station of a Wi-Fi cell, within the measuring window.

use serde_json::Value;
use thalweg_lab::node::wifi::LinkCounters;

use super::csv::{cell, object, quoted};
use crate::campaign::Finished;

pub(super) const HEADER: &str = "scheme,seed,station,way,offered_packets,dropped_packets,given_up_packets,\
                                 delivered_packets,delivered_bytes,collisions,airtime_s\n";

pub(super) fn rows(scheme: &str, run: &Finished) -> String {
    links(run)
        .map(|(station, way, cells)| {
            format!("{},{},{},{way},{}\n", quoted(scheme), run.seed, quoted(station), cells.join(","))
        })
        .collect()
}

/// The rows as JSON.
pub(crate) fn objects(scheme: &str, run: &Finished) -> impl Iterator<Item = Value> {
    links(run).map(move |(station, way, cells)| {
        let head = vec![scheme.into(), run.seed.into(), station.into(), way.into()];
        object(HEADER, head, cells.into_iter())
    })
}

/// Each station, each of its ways, and the cells behind these.
fn links(run: &Finished) -> impl Iterator<Item = (&str, &'static str, [String; 7])> {
    numbers(run).map(|(station, way, numbers)| (station, way, numbers.map(cell)))
}

/// The names of the numbers of [`numbers`].
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    HEADER.trim_end().split(',').skip(4)
}

/// Each station, each of its ways, and the values behind these, in the order of the header.
pub(crate) fn numbers(run: &Finished) -> impl Iterator<Item = (&str, &'static str, [f64; 7])> {
    run.outcome.stations.iter().flat_map(|station| {
        let name = station.name.as_str();
        [(name, "down", of_link(&station.down)), (name, "up", of_link(&station.up))]
    })
}

fn of_link(link: &LinkCounters) -> [f64; 7] {
    let LinkCounters { offered, given_up, delivered, bytes, collisions, airtime } = *link;
    let counts = [offered.packets, offered.dropped, given_up, delivered, bytes.0, collisions];
    let [a, b, c, d, e, f] = counts.map(|count| count as f64);
    [a, b, c, d, e, f, airtime.as_secs_f64()]
}
