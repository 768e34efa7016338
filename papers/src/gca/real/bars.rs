//! The bars that the project sets for `thalweg share` on sockets.

use super::run::Record;
use super::{Results, Way};
use crate::bar::Bar;

/// The records of a way.
pub(super) fn of(results: &Results, way: Way) -> Vec<&Record> {
    results.iter().filter(|(other, _)| *other == way).map(|(_, record)| record).collect()
}

/// The mean of a number over the runs of a way; NaN without any.
pub(super) fn mean(results: &Results, way: Way, of_record: impl Fn(&Record) -> f64) -> f64 {
    let records = of(results, way);
    records.iter().map(|record| of_record(record)).sum::<f64>() / records.len() as f64
}

/// All bars.
pub(super) fn all(results: &Results) -> Vec<Bar> {
    let spreads = of(results, Way::Shared).into_iter().map(Record::spread);
    let widest = spreads.fold(f64::NAN, f64::max);
    let left = mean(results, Way::Shared, Record::download) / mean(results, Way::Tfrc, Record::download);
    vec![
        Bar {
            what: "spread of satisfaction, the largest of all runs".into(),
            wanted: "below .15".into(),
            measured: widest,
            holds: widest < 0.15,
        },
        Bar {
            what: "CUBIC, of what it has beside three TFRC streams".into(),
            wanted: "at least .7".into(),
            measured: left,
            holds: left >= 0.7,
        },
    ]
}
