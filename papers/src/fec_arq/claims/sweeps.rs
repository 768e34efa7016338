//! Claims about Figs. 3, 9, 10 and 11.

use super::super::case::Case;
use super::super::contender::Strategy::{Arq, Cost, Opportunistic};
use super::super::figures::{STEPS, followed, settled};
use super::super::outcome::Outcome;
use super::{Evaluator, Part, Wanted, difference};

/// Half a slot, in seconds: the amount by which a percentile may shift because of the slot grid alone.
const GRID: f64 = 0.01;

pub(super) fn estimate_follows(_: &Evaluator<'_>) -> Vec<Part> {
    let points = followed(100);
    let part = |(nth, eps): (usize, f64)| {
        let wanted = Wanted::Within(0.85, 1.15);
        let ratio = settled(&points, nth) / eps;
        Part { wanted, ..Part::exact(format!("estimate / rate, {} % lost", eps * 100.0), ratio, 1.0) }
    };
    STEPS.into_iter().enumerate().map(part).collect()
}

pub(super) fn bounds(evaluator: &Evaluator<'_>) -> Vec<Part> {
    let steps = Case::BOUNDS.windows(2).map(|pair| {
        let delay = |case| evaluator.delay(case, Cost, 0.95);
        let what = format!("95 %, {} - {}, s", pair[0], f64::from(pair[1].u_max) / 1e3);
        Part::new(what, difference(&delay(pair[0]), &delay(pair[1])), Wanted::Above(-GRID))
    });
    let [least, .., boundless] = Case::BOUNDS;
    let rate = |case: Case| evaluator.values(case, Cost, |outcome| case.kbps(outcome.mean_accepted()));
    let ends = difference(&evaluator.delay(least, Cost, 0.95), &evaluator.delay(boundless, Cost, 0.95));
    let rest = [
        Part::new("95 %, least U_MAX - none, s", ends, Wanted::Above(0.0)),
        Part::new("rate, least U_MAX - none, kb/s", difference(&rate(least), &rate(boundless)), Wanted::Above(0.0)),
        Part::new(
            "U without a bound",
            evaluator.values(boundless, Cost, Outcome::overhead),
            Wanted::Within(0.34, 0.44),
        ),
    ];
    steps.chain(rest).collect()
}

pub(super) fn losses(evaluator: &Evaluator<'_>) -> Vec<Part> {
    let [least, .., most] = Case::LOSSES;
    vec![
        Part::new(
            "gain of cost on no cost at 99 %, 20 % lost - 1 % lost, s",
            difference(&evaluator.gain(most), &evaluator.gain(least)),
            Wanted::Above(0.0),
        ),
        evaluator.ratio(most, 0.99, Opportunistic, Arq, Wanted::Above(0.9)),
    ]
}

pub(super) fn bursts(evaluator: &Evaluator<'_>) -> Vec<Part> {
    let [least, .., most] = Case::BURSTS;
    let grows = difference(&evaluator.gain(most), &evaluator.gain(least));
    let what = format!("gain of cost on no cost at 99 %, P = {} - P = {}, s", most.burst, least.burst);
    vec![Part::new(what, grows, Wanted::Above(0.0))]
}
