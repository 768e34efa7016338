//! Bars: numbers of a measurement, and the ranges in which they should lie.

use crate::page::{Element, Row, Table};

/// A number and the range in which it should lie.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Bar {
    /// The quantity.
    pub(crate) what: String,
    /// The range, in words.
    pub(crate) wanted: String,
    /// The measured number; NaN if it was not run.
    pub(crate) measured: f64,
    /// True if it lies in the range.
    pub(crate) holds: bool,
}

/// The table of bars.
pub(crate) fn table(bars: &[Bar], measured: &str) -> Element {
    let row = |bar: &Bar| {
        let (number, verdict) = match bar.measured.is_nan() {
            true => ("-".to_owned(), "not run"),
            false => (format!("{:.2}", bar.measured), if bar.holds { "holds" } else { "does not hold" }),
        };
        Row { subject: bar.what.clone(), tone: None, cells: vec![bar.wanted.clone(), number, verdict.to_owned()] }
    };
    let head = ["what", "wanted", measured, "verdict"].map(str::to_owned).to_vec();
    Element::Words(Table { head, rows: bars.iter().map(row).collect() })
}

/// A sentence with the number of bars that hold.
pub(crate) fn summary(bars: &[Bar]) -> String {
    let hold = bars.iter().filter(|bar| bar.holds).count();
    format!("{hold} of {} bars hold.", bars.len())
}
