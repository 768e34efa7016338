//! The summary of the runs of one kind on a machine.

use std::fmt;

use crate::page::number;

/// The median of some runs, and their range.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Spread {
    /// The median; NaN without runs.
    pub(super) median: f64,
    least: f64,
    greatest: f64,
}

impl Spread {
    pub(super) fn of(values: impl IntoIterator<Item = f64>) -> Spread {
        let mut values: Vec<f64> = values.into_iter().collect();
        values.sort_by(f64::total_cmp);
        let (&[least, .., greatest] | &[least @ greatest]) = &values[..] else {
            return Spread { median: f64::NAN, least: f64::NAN, greatest: f64::NAN };
        };
        let middle = values.len() / 2;
        let median = if values.len().is_multiple_of(2) {
            f64::midpoint(values[middle - 1], values[middle])
        } else {
            values[middle]
        };
        Spread { median, least, greatest }
    }
}

impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Spread { median, least, greatest } = *self;
        match (median.is_nan(), least == greatest) {
            (true, _) => f.write_str("-"),
            (_, true) => f.write_str(&number(median)),
            _ => write!(f, "{} ({} to {})", number(median), number(least), number(greatest)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spread_prints_the_median_and_the_range() {
        for (values, text) in [
            (&[][..], "-"),
            (&[2.5], "2.500"),
            (&[3.0, 1.0, 2.5], "2.500 (1.000 to 3.000)"),
            (&[1.0, 2.0], "1.500 (1.000 to 2.000)"),
        ] {
            assert_eq!(Spread::of(values.iter().copied()).to_string(), text);
        }
    }
}
