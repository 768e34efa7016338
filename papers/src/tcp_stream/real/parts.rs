//! Curves and cells that several sections of the page have.

use thalweg_lab::statistics::Estimate;

use super::carrier::Carrier;
use super::results::{Column, Results, SECOND, Spot};
use super::run::Record;
use super::scene::Scene;
use super::spread::Spread;
use crate::figure::Subject;
use crate::page::{Axis, Element, Line, Plot, interval};

/// Rates over time.
pub(super) fn plot(title: &str, lines: Vec<Line>) -> Element {
    Element::Plot(Plot { title: title.into(), x: Axis::new("time", "s"), y: Axis::new("throughput", "Mb/s"), lines })
}

/// The rate of one connection of a run over time. A second's rate stands in its middle.
pub(super) fn curve(name: &str, carrier: Carrier, record: &Record, of: usize) -> Line {
    let points = record.mbps[of].iter().enumerate().map(|(second, mbps)| (second as f64 + 0.5, *mbps)).collect();
    Line::new(name, carrier.tone(), points)
}

/// A number in the kernel and in the lab.
pub(super) fn cell(results: &Results, spot: Spot, column: Column) -> String {
    format!("{} | {}", Spread::of(results.real(spot, column)), interval(&Estimate::of(results.lab(spot, column))))
}

/// The rate of the background over its rate beside a CUBIC video, of medians.
pub(super) fn left(results: &Results, queue: u32, carrier: Carrier) -> f64 {
    let of = |carrier| {
        let spot = Spot { scene: Scene::Background, queue, carrier };
        Spread::of(results.real(spot, SECOND)).median
    };
    of(carrier) / of(Carrier::Cubic)
}

/// The number of stalls in all runs of a kind.
pub(super) fn stalls(results: &Results, spot: Spot) -> String {
    let runs: Vec<u32> = results.records(spot).map(|record| record.stalls).collect();
    if runs.is_empty() { "-".to_owned() } else { runs.iter().sum::<u32>().to_string() }
}
