//! Tables 1 and 2: the paper's numbers and the lab's.

mod printed;

use thalweg_lab::statistics::Estimate;

use super::condition::{Condition, Scheme};
use super::plan::Plan;
use super::record::{Record, StreamRecord};
use super::results::Results;
use crate::comparison::{self, Pair};

/// A table of the paper.
pub type Comparison = comparison::Comparison<Scheme>;
/// One row.
pub type Entry = comparison::Entry<Scheme>;

const COLUMNS: &[&str] = &[
    "data loss rate",
    "packet loss rate",
    "FEC window size",
    "total window size",
    "bursty loss events",
    "TPindex",
    "link loss rate",
];

/// Table 1: short-lived TCP.
pub fn table_1(results: &Results) -> Comparison {
    let block = |at: Condition, printed: &[[Option<f64>; 7]; 4]| {
        let row = |scheme: Scheme| {
            let name = format!("10 flows, {}", scheme.name());
            row(results, at, scheme, name, printed[place(scheme)], None)
        };
        (at.to_string(), results.compared().into_iter().map(row).collect())
    };
    Comparison {
        name: "Table 1",
        about: "Ten streams of 30 Mb/s in competition with short-lived TCP, load 500 Mb/s.".into(),
        columns: COLUMNS,
        blocks: Plan::short().into_iter().zip(&printed::TABLE_1).map(|(at, printed)| block(at, printed)).collect(),
    }
}

/// Table 2: streams of several rates.
pub fn table_2(results: &Results) -> Comparison {
    let at = Condition::MixedRates;
    let block = |scheme: Scheme| {
        let [thirty, sixty, ninety, total] = printed::TABLE_2[place(scheme)];
        let row = |name: &str, printed, rate| row(results, at, scheme, name.to_owned(), printed, rate);
        let rows = vec![
            row("5 flows of 30 Mb/s", thirty, Some(30.0)),
            row("1 flow of 60 Mb/s", sixty, Some(60.0)),
            row("1 flow of 90 Mb/s", ninety, Some(90.0)),
            row("all 7, mean", total, None),
        ];
        (scheme.name().to_owned(), rows)
    };
    Comparison {
        name: "Table 2",
        about: "Seven streams of different rates in competition with 200 long-lived TCP flows, RTTmin 10 ms.".into(),
        columns: COLUMNS,
        blocks: results.compared().into_iter().map(block).collect(),
    }
}

/// The index of a scheme in the paper's tables, which have only one GENEVA.
fn place(scheme: Scheme) -> usize {
    match scheme {
        Scheme::Static8 => 1,
        Scheme::Static12 => 2,
        Scheme::DpFec => 3,
        Scheme::GenevaInteger | Scheme::GenevaReal | Scheme::Tfrc | Scheme::Udp => 0,
    }
}

/// A row over all streams, or over those of one rate; TPindex and link loss appear in the rows over all streams, as in
/// the paper.
fn row(
    results: &Results,
    at: Condition,
    scheme: Scheme,
    subject: String,
    printed: [Option<f64>; 7],
    rate: Option<f64>,
) -> Entry {
    let of_streams = |of: fn(&StreamRecord) -> f64| {
        results.estimate(at, scheme, |record: &Record| match rate {
            Some(rate) => record.mean_at(rate, of),
            None => record.mean(of),
        })
    };
    let nothing = Estimate::of([]);
    let whole = |estimate: Estimate| if rate.is_none() { estimate } else { nothing };
    let lab = [
        of_streams(|stream| stream.residual_loss),
        of_streams(|stream| stream.packet_loss),
        of_streams(|stream| stream.fwnd),
        of_streams(|stream| stream.w_tot),
        of_streams(|stream| stream.bursty_events),
        whole(Estimate::of(results.tpindex(at, scheme))),
        whole(results.estimate(at, scheme, |record| record.link_loss)),
    ];
    let cells = printed.into_iter().zip(lab).map(|(paper, lab)| Pair { paper, lab }).collect();
    Entry { subject, scheme, cells }
}
