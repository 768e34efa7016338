//! Figs. 9, 10 and 11: delay, overhead and rate as functions of one parameter.

use super::super::case::{Case, Path};
use super::super::contender::{Contender, Strategy, Variant};
use super::super::outcome::Outcome;
use super::super::results::Results;
use super::{Axis, Figure, Panel, Series};

/// The value that a plot shows for each value of the parameter.
type Number<'a> = &'a dyn Fn(Case, &Outcome) -> f64;

pub(super) fn fig_9(results: &Results) -> Figure {
    let percentiles = [0.9, 0.95, 0.99];
    let over = |what: String, y, of: Number<'_>| {
        // No U_MAX above .6 takes effect.
        let x = |case: Case| (f64::from(case.u_max) / 1e3).min(0.6);
        panel(results, what, (Axis::new("U_MAX (10 is drawn at .6)", ""), y), &Case::BOUNDS, &bounded(), &x, of)
    };
    let delay = |share: f64| {
        over(format!("{} % of the delay", share * 100.0), Axis::new("delay", "s"), &move |_, it| it.percentile(share))
    };
    let mut panels: Vec<Panel> = percentiles.into_iter().map(delay).collect();
    panels.push(over("U".into(), Axis::new("U", ""), &|_, it| it.overhead()));
    panels.push(rate(&over));
    Figure {
        name: "Fig. 9",
        caption: "Effect of U_MAX: S = 500 kb/s, eps = 15 %, D = 400 ms. The paper draws distributions.".into(),
        panels,
    }
}

pub(super) fn fig_10(results: &Results) -> Figure {
    let percent = |case: Case| match case.path {
        Path::Random { percent, .. } => f64::from(percent),
        Path::Recorded(_) | Path::Shared { .. } => f64::NAN,
    };
    let over = |what: String, y, of: Number<'_>| {
        panel(results, what, (Axis::new("loss rate", "%"), y), &Case::LOSSES, &compared(), &percent, of)
    };
    three(
        "Fig. 10",
        "Overhead, delay and rate over the loss rate: S = 500 kb/s, D = 150 ms. The paper draws no cost and cost.",
        &over,
    )
}

pub(super) fn fig_11(results: &Results) -> Figure {
    let burst = |case: Case| case.burst as f64;
    let over = |what: String, y, of: Number<'_>| {
        panel(results, what, (Axis::new("P", "packets"), y), &Case::BURSTS, &compared(), &burst, of)
    };
    three("Fig. 11", "The same over the length of a burst: S = 500 kb/s, eps = 5 %, D = 150 ms.", &over)
}

fn three(name: &'static str, caption: &str, over: &dyn Fn(String, Axis, Number<'_>) -> Panel) -> Figure {
    let panels = vec![
        over("(a) overhead".into(), Axis::new("U", ""), &|_, it| it.overhead()),
        over("(b) 99 % of the delay".into(), Axis::new("delay", "s"), &|_, it| it.percentile(0.99)),
        rate(over),
    ];
    Figure { name, caption: caption.into(), panels }
}

fn rate(over: &dyn Fn(String, Axis, Number<'_>) -> Panel) -> Panel {
    over("(c) application's rate".into(), Axis::new("rate", "kb/s"), &|case, it| case.kbps(it.mean_accepted()))
}

fn compared() -> Vec<Contender> {
    let of = |variant| Strategy::PAPER.map(|strategy| Contender::new(strategy, variant));
    Variant::SHOWN.into_iter().flat_map(of).chain([Contender::OURS]).collect()
}

fn bounded() -> Vec<Contender> {
    Variant::SHOWN.into_iter().map(|variant| Contender::new(Strategy::Cost, variant)).chain([Contender::OURS]).collect()
}

fn panel(
    results: &Results,
    title: String,
    (x, y): (Axis, Axis),
    cases: &[Case],
    contenders: &[Contender],
    at: &dyn Fn(Case) -> f64,
    of: Number<'_>,
) -> Panel {
    let series = |contender: &Contender| {
        let point = |case: &Case| (at(*case), results.values(*case, *contender, |outcome| of(*case, outcome)));
        Series::measured(*contender, cases.iter().map(point))
    };
    Panel { title, x, y, series: contenders.iter().map(series).collect() }
}
