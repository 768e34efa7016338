//! A part of a claim: one number and its expected range.

use core::fmt;

use thalweg_lab::statistics::{Estimate, Verdict};

/// One number of a claim.
#[derive(Clone, PartialEq, Debug)]
pub struct Part {
    /// A description of the number.
    pub what: String,
    /// The mean over the seeds, and its 95 % interval; no interval for arithmetic.
    pub measured: Estimate,
    /// The expected range.
    pub wanted: Wanted,
}

/// The expected range of a number.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Wanted {
    /// Above this bound.
    Above(f64),
    /// Below this bound.
    Below(f64),
    /// Between these bounds, inclusive.
    Within(f64, f64),
}

impl Part {
    /// A part with one value for each seed.
    pub(super) fn new(what: impl Into<String>, values: Vec<f64>, wanted: Wanted) -> Part {
        Part { what: what.into(), measured: Estimate::of(values), wanted }
    }

    /// A part with a computed number, and its expected value up to rounding.
    pub(super) fn exact(what: impl Into<String>, value: f64, expected: f64) -> Part {
        let room = expected.abs() * 1e-7;
        Part::computed(what, value, Wanted::Within(expected - room, expected + room))
    }

    /// A part with a computed number.
    pub(super) fn computed(what: impl Into<String>, value: f64, wanted: Wanted) -> Part {
        Part { what: what.into(), measured: Estimate { mean: value, half_width: 0.0, count: 1 }, wanted }
    }

    /// The verdict on the number.
    pub fn verdict(&self) -> Verdict {
        if self.measured.mean.is_nan() {
            return Verdict::Undecided;
        }
        match self.wanted {
            Wanted::Above(bound) => self.measured.above(bound),
            Wanted::Below(bound) => self.measured.below(bound),
            Wanted::Within(low, high) => within(&self.measured, low, high),
        }
    }
}

/// Judges an interval by inclusive bounds.
fn within(measured: &Estimate, low: f64, high: f64) -> Verdict {
    let (least, largest) = (measured.mean - measured.half_width, measured.mean + measured.half_width);
    if least >= low && largest <= high {
        Verdict::Holds
    } else if largest < low || least > high {
        Verdict::Contradicted
    } else {
        Verdict::Undecided
    }
}

impl fmt::Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Wanted::Above(bound) => write!(f, "above {}", short(*bound)),
            Wanted::Below(bound) => write!(f, "below {}", short(*bound)),
            Wanted::Within(low, high) if (high - low).abs() <= low.abs() * 1e-6 => {
                write!(f, "{:.4}", f64::midpoint(*low, *high))
            }
            Wanted::Within(low, high) => write!(f, "{} to {}", short(*low), short(*high)),
        }
    }
}

/// Rounds a computed bound to four decimals, which is as many as reports show for measured values; keeps bounds below
/// .01.
fn short(bound: f64) -> f64 {
    if bound.abs() < 0.01 { bound } else { (bound * 1e4).round() / 1e4 }
}
