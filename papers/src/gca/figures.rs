//! The figures.

use super::cell::Cell;
use super::contender::Contender;
use super::{Results, equation};
use crate::figure::{self, Subject as _};
use crate::page::Axis;

/// A figure of the paper.
pub type Figure = figure::Figure<Contender>;
/// One plot.
pub type Panel = figure::Panel<Contender>;
/// Points drawn as one series.
pub type Series = figure::Series<Contender>;

/// The flows of a run, in the order of their numbers.
const FLOWS: [&str; 4] = ["client 1", "client 2", "client 3", "background"];

/// All figures, from the jobs that have been run.
pub fn all(results: &Results) -> Vec<Figure> {
    let mut figures: Vec<Figure> = equation::figures().into();
    figures.push(Figure {
        name: "Fig. 6",
        caption: "Throughput under TFRC, first seed. The clients start at 0, 1 and 2 s, the bulk transfer at 3 s."
            .into(),
        panels: over_time(results, &[Contender::Tfrc]),
    });
    figures.push(Figure {
        name: "Fig. 7",
        caption: "Throughput under GCA, first seed, with the same starts: the paper's begin a second later. It does not \
                  state its alpha and beta. \"Squares\" are 2.25, 1 and .25 with a beta of .5, \"diagonal\" is 1.4, 1.2 and \
                  .6 with .7, .6 and .3. \"Measured\" is ours: solved anew each second."
            .into(),
        panels: over_time(results, &Contender::OURS),
    });
    figures
}

/// A plot for each contender and cell.
fn over_time(results: &Results, contenders: &[Contender]) -> Vec<Panel> {
    let panel = |cell: Cell, contender: Contender| {
        let seconds = results.record(cell, contender, 1).map_or(&[][..], |record| &record.seconds);
        let curve = |(flow, name): (usize, &str)| {
            let points = seconds.iter().enumerate().map(|(at, mbps)| (at as f64 + 1.0, mbps[flow]));
            Series::curve(name, points.collect())
        };
        Panel {
            title: format!("{}, {cell}", contender.name()),
            x: Axis::new("time", "s"),
            y: Axis::new("throughput", "Mb/s"),
            series: FLOWS.into_iter().enumerate().map(curve).collect(),
        }
    };
    Cell::ALL.into_iter().flat_map(|cell| contenders.iter().map(move |contender| panel(cell, *contender))).collect()
}
