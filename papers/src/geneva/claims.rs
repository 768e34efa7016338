//! The paper's claims, and the findings about each.
//!
//! A claim consists of parts. It holds if all of them hold, and is contradicted if one is. A part that compares two
//! schemes is judged by the 95 % interval of the difference between runs with the same seed: it holds if the whole
//! interval lies on the claimed side, is contradicted if it lies on the other side, and is undecided otherwise.
//! Arithmetic is computed from the law and must be exact.

mod arithmetic;
mod list;
mod long;
mod mixed;
mod one;
mod qualification;
mod short;

use thalweg_core::law::redundancy::geneva::State;

pub use self::list::CLAIMS;
use super::condition::{Condition, Scheme};
use super::plan::Plan;
use super::record::{Record, StreamRecord};
use crate::claim::{self, Gate, difference};
use crate::part::{Part, Wanted};

/// A claim of the paper, or one that follows from it.
pub type Claim = claim::Claim<Plan, State>;
/// The results, and the state of GENEVA's window, by which claims are judged.
pub type Evaluator<'a> = claim::Evaluator<'a, Plan, State>;

type Stream = fn(&StreamRecord) -> f64;

const RESIDUAL: Stream = |stream| stream.residual_loss;
const BURSTS: Stream = |stream| stream.bursty_events;
const FWND: Stream = |stream| stream.fwnd;

impl Evaluator<'_> {
    /// GENEVA with the state of its window that is judged.
    fn geneva(&self) -> Scheme {
        Scheme::geneva(self.reading)
    }

    fn streams(&self, at: Condition, scheme: Scheme, of: Stream) -> Vec<f64> {
        self.results.streams(at, scheme, of)
    }

    fn values(&self, at: Condition, scheme: Scheme, of: impl Fn(&Record) -> f64) -> Vec<f64> {
        self.results.values(at, scheme, of)
    }

    fn tpindex(&self, at: Condition, scheme: Scheme) -> Vec<f64> {
        self.results.tpindex(at, scheme)
    }

    /// Requires that a mean over the streams is smaller with `low` than with `high`.
    fn smaller(&self, at: Condition, what: &str, of: Stream, low: Scheme, high: Scheme) -> Part {
        let (less, more) = (self.streams(at, low, of), self.streams(at, high, of));
        let what = format!("{at}: {what}, {} - {}", short_name(high), short_name(low));
        Part::new(what, difference(&more, &less), Wanted::Above(0.0))
    }

    /// The TPindex with `first` minus that with `second`.
    fn apart(&self, at: Condition, first: Scheme, second: Scheme, wanted: Wanted) -> Part {
        let what = format!("{at}: TPindex, {} - {}", short_name(first), short_name(second));
        Part::new(what, difference(&self.tpindex(at, first), &self.tpindex(at, second)), wanted)
    }
}

fn short_name(scheme: Scheme) -> &'static str {
    match scheme {
        Scheme::GenevaInteger | Scheme::GenevaReal => "GENEVA",
        Scheme::Static8 => "static8",
        Scheme::Static12 => "static12",
        Scheme::DpFec => "DP-FEC",
        Scheme::Tfrc => "TFRC",
        Scheme::Udp => "UDP",
    }
}

/// The slope of the least-squares line through each seed's values; `at` holds the x-coordinates of `values`.
fn slopes(at: &[f64], values: &[Vec<f64>]) -> Vec<f64> {
    let seeds = values.iter().map(Vec::len).min().unwrap_or(0);
    let middle = at.iter().sum::<f64>() / at.len() as f64;
    let spread: f64 = at.iter().map(|x| (x - middle) * (x - middle)).sum();
    let slope = |seed: usize| {
        let rise = at.iter().zip(values).map(|(x, values)| (x - middle) * values[seed]).sum::<f64>();
        if spread > 0.0 { rise / spread } else { f64::NAN }
    };
    (0..seeds).map(slope).collect()
}

#[cfg(test)]
mod tests;
