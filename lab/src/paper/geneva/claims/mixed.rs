//! Claims on Table 2 and Fig. 12: streams of several rates.

use super::{BURSTS, Court, Part, RESIDUAL, Wanted};
use crate::paper::geneva::condition::{Condition, Scheme};

const AT: Condition = Condition::MixedRates;

pub(super) fn order_of_losses(court: &Court<'_>) -> Vec<Part> {
    let of = |(what, number)| {
        [
            court.smaller(AT, what, number, court.geneva, Scheme::Static8),
            court.smaller(AT, what, number, Scheme::Static8, Scheme::Static12),
        ]
    };
    [("bursty events", BURSTS), ("residual loss", RESIDUAL)].into_iter().flat_map(of).collect()
}

pub(super) fn index(court: &Court<'_>) -> Vec<Part> {
    let near = Wanted::Within(-0.05, 0.05);
    vec![
        court.apart(AT, court.geneva, Scheme::Static8, near),
        court.apart(AT, court.geneva, Scheme::Static12, near),
        Part::new(format!("{AT}: TPindex, GENEVA"), court.tpindex(AT, court.geneva), Wanted::Within(0.55, 0.70)),
        court.apart(AT, court.geneva, Scheme::DpFec, Wanted::Above(0.1)),
    ]
}

/// "Far fewer" bursty events are taken as less than half of them.
pub(super) fn faster_flows_lose_nothing(court: &Court<'_>) -> Vec<Part> {
    let of = |rate: f64| {
        let residual = court.values(AT, court.geneva, |record| record.mean_at(rate, RESIDUAL));
        let bursts =
            court.values(AT, court.geneva, |record| record.mean_at(30.0, BURSTS) / 2.0 - record.mean_at(rate, BURSTS));
        [
            Part::new(format!("{rate} Mb/s: residual loss"), residual, Wanted::Below(1e-4)),
            Part::new(format!("{rate} Mb/s: half the bursty events of 30 Mb/s - its own"), bursts, Wanted::Above(0.0)),
        ]
    };
    [60.0, 90.0].into_iter().flat_map(of).collect()
}

/// "0.1 %" is taken as a third of it to three times as much.
pub(super) fn residual(court: &Court<'_>) -> Vec<Part> {
    let values = court.streams(AT, court.geneva, RESIDUAL);
    vec![Part::new("residual loss, mean of all flows", values, Wanted::Within(0.000_3, 0.003))]
}

pub(super) fn excursions(court: &Court<'_>) -> Vec<Part> {
    let part = |rate: f64| {
        let values = court.values(AT, court.geneva, |record| {
            record.trace.as_ref().map_or(f64::NAN, |trace| trace.widest(30.0) - trace.widest(rate))
        });
        Part::new(format!("widest Fwnd, 30 Mb/s - {rate} Mb/s"), values, Wanted::Above(0.0))
    };
    [60.0, 90.0].into_iter().map(part).collect()
}
