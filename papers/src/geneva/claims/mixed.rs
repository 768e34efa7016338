//! Claims about Table 2 and Fig. 12: streams of several rates.

use super::{BURSTS, Evaluator, Part, RESIDUAL, Wanted};
use crate::geneva::condition::{Condition, Scheme};

const AT: Condition = Condition::MixedRates;

pub(super) fn order_of_losses(evaluator: &Evaluator<'_>) -> Vec<Part> {
    let of = |(what, number)| {
        [
            evaluator.smaller(AT, what, number, evaluator.geneva(), Scheme::Static8),
            evaluator.smaller(AT, what, number, Scheme::Static8, Scheme::Static12),
        ]
    };
    [("bursty events", BURSTS), ("residual loss", RESIDUAL)].into_iter().flat_map(of).collect()
}

pub(super) fn index(evaluator: &Evaluator<'_>) -> Vec<Part> {
    let near = Wanted::Within(-0.05, 0.05);
    vec![
        evaluator.apart(AT, evaluator.geneva(), Scheme::Static8, near),
        evaluator.apart(AT, evaluator.geneva(), Scheme::Static12, near),
        Part::new(
            format!("{AT}: TPindex, GENEVA"),
            evaluator.tpindex(AT, evaluator.geneva()),
            Wanted::Within(0.55, 0.70),
        ),
        evaluator.apart(AT, evaluator.geneva(), Scheme::DpFec, Wanted::Above(0.1)),
    ]
}

/// "Far fewer" bursty events are taken as less than half as many.
pub(super) fn faster_flows_lose_nothing(evaluator: &Evaluator<'_>) -> Vec<Part> {
    let of = |rate: f64| {
        let residual = evaluator.values(AT, evaluator.geneva(), |record| record.mean_at(rate, RESIDUAL));
        let bursts = evaluator
            .values(AT, evaluator.geneva(), |record| record.mean_at(30.0, BURSTS) / 2.0 - record.mean_at(rate, BURSTS));
        [
            Part::new(format!("{rate} Mb/s: residual loss"), residual, Wanted::Below(1e-4)),
            Part::new(format!("{rate} Mb/s: half the bursty events of 30 Mb/s - its own"), bursts, Wanted::Above(0.0)),
        ]
    };
    [60.0, 90.0].into_iter().flat_map(of).collect()
}

/// "0.1 %" is taken as the range from a third of it to three times it.
pub(super) fn residual(evaluator: &Evaluator<'_>) -> Vec<Part> {
    let values = evaluator.streams(AT, evaluator.geneva(), RESIDUAL);
    vec![Part::new("residual loss, mean of all flows", values, Wanted::Within(0.000_3, 0.003))]
}

pub(super) fn excursions(evaluator: &Evaluator<'_>) -> Vec<Part> {
    let part = |rate: f64| {
        let values = evaluator.values(AT, evaluator.geneva(), |record| {
            record.trace.as_ref().map_or(f64::NAN, |trace| trace.widest(30.0) - trace.widest(rate))
        });
        Part::new(format!("widest Fwnd, 30 Mb/s - {rate} Mb/s"), values, Wanted::Above(0.0))
    };
    [60.0, 90.0].into_iter().map(part).collect()
}
