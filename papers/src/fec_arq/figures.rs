//! Figs. 3 to 12.

mod numbers;
mod sweeps;
mod traces;

pub use self::numbers::{Number, all as numbers};
pub(super) use self::traces::{STEPS, followed, settled};

use super::case::Case;
use super::contender::{Contender, Strategy, Variant};
use super::outcome::Outcome;
use super::results::Results;
use crate::figure::{self, Points};
use crate::page::Axis;

/// A figure of the paper.
pub type Figure = figure::Figure<Contender>;
/// One plot.
pub type Panel = figure::Panel<Contender>;
/// Points drawn as one series.
pub type Series = figure::Series<Contender>;

/// All figures, from the jobs that have been run.
pub fn all(results: &Results) -> Vec<Figure> {
    let [first, second, third] = Case::TABLE_2;
    let of = |name, what: &str, case| Figure {
        name,
        caption: format!("Distribution of the delay and of the application's rate: {what}. The first seed."),
        panels: distributions(results, case),
    };
    let mut figures = vec![
        traces::fig_3(),
        of("Fig. 4", "eps = 5 %, D = 150 ms, S = 500 kb/s", first),
        of("Fig. 5", "eps = 15 %, D = 150 ms, S = 500 kb/s", second),
        of("Fig. 6", "eps = 15 %, D = 400 ms, S = 500 kb/s", third),
        of("Fig. 7", "eps = 15 %, D = 400 ms, S = 300 kb/s", Case::TABLE_3[2]),
    ];
    figures.push(Figure {
        name: "Fig. 8",
        caption: "The same on recordings (Table IV says which), for the paper's trace. The first seed.".into(),
        panels: (0..results.plan().recordings.len())
            .flat_map(|nth| distributions(results, Case::recorded(nth)))
            .collect(),
    });
    figures.extend([sweeps::fig_9(results), sweeps::fig_10(results), sweeps::fig_11(results), traces::fig_12(results)]);
    figures
}

/// Two plots for each reading: the delay, and the application's rate.
fn distributions(results: &Results, case: Case) -> Vec<Panel> {
    let plots = |variant: Variant| {
        let contenders: Vec<Contender> = Strategy::PAPER
            .into_iter()
            .chain([Strategy::Ours, Strategy::Bound])
            .map(|strategy| Contender::new(strategy, variant))
            .collect();
        let panel = |what: &str, x: Axis, points: &dyn Fn(&Outcome) -> Vec<(f64, f64)>| Panel {
            title: format!("{case}: {what}, {}", if variant == Variant::Literal { "literal" } else { "fitted" }),
            x,
            y: Axis::new("share", ""),
            series: contenders
                .iter()
                .filter_map(|it| curve(&case, *it, points(results.record(case, *it, 1)?)))
                .collect(),
        };
        [
            panel("delay", Axis::new("delay", "s"), &|outcome| thinned(&outcome.distribution())),
            panel("rate", Axis::new("rate of a burst", "kb/s"), &|outcome| rates(case, outcome)),
        ]
    };
    Variant::SHOWN.into_iter().flat_map(plots).filter(|panel| !panel.series.is_empty()).collect()
}

fn curve(case: &Case, contender: Contender, points: Vec<(f64, f64)>) -> Option<Series> {
    (!points.is_empty()).then(|| Series {
        name: contender.name_in(case).to_owned(),
        subject: Some(contender),
        points: Points::Curve(points),
    })
}

/// A distribution up to 99.5 %, with points at least half a percent apart.
fn thinned(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut kept: Vec<(f64, f64)> = Vec::new();
    for point in points.iter().filter(|point| point.1 <= 0.995) {
        if kept.last().is_none_or(|last| point.1 - last.1 >= 0.005) {
            kept.push(*point);
        }
    }
    kept
}

/// The distribution of the rate: the share of bursts with at most each rate.
fn rates(case: Case, outcome: &Outcome) -> Vec<(f64, f64)> {
    let share = |packets: usize| (case.kbps(packets as f64), 1.0 - outcome.share_of_bursts(packets + 1));
    (0..=case.burst).map(share).collect()
}
