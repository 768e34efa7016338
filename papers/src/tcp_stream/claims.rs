//! The paper's claims, and the findings about each, under a reading of the thresholds and with a queue.
//!
//! A part that compares two carriers is judged by the 95 % interval of the difference between runs with the same seed.
//! Arithmetic is computed by the law's own code, and must be exact.

mod list;
mod simulation;
mod testbed;
#[cfg(test)]
mod tests;

use thalweg_core::law::window::Playback;
use thalweg_core::units::{Bytes, Seconds};

pub use self::list::CLAIMS;
use super::carrier::Carrier;
use super::condition::Condition;
use super::plan::Plan;
use super::record::Record;
use super::series::Series;
use crate::claim::{self, Gate, difference};
use crate::part::{Part, Wanted};

/// A claim of the paper, or one that follows from it.
pub type Claim = claim::Claim<Plan, Reading>;
/// The results and the reading by which claims are judged.
pub type Evaluator<'a> = claim::Evaluator<'a, Plan, Reading>;

/// The reading under which claims are judged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reading {
    /// TCP Stream, with one reading of its thresholds.
    pub ours: Carrier,
    /// The packets of the queue.
    pub queue: u32,
}

impl Evaluator<'_> {
    /// A value for every seed of Fig. 3.
    fn values(&self, n_ftp: u32, carrier: Carrier, of: fn(&Record) -> f64) -> Vec<f64> {
        self.results.values(Condition::Simulation { n_ftp, queue: self.reading.queue }, carrier, of)
    }

    /// A rate for every seed of Fig. 5.
    fn rates(&self, carrier: Carrier, of: fn(&Series) -> f64) -> Vec<f64> {
        self.results.rates(Condition::Testbed { queue: self.reading.queue }, carrier, of)
    }
}

fn ceilings(_: &Evaluator<'_>) -> Vec<Part> {
    let cap = |ms: u32| f64::from(Playback::default().cap(Seconds(f64::from(ms) / 1e3)));
    vec![
        Part::exact("the ceiling at 100 ms, packets", cap(100), 30.0),
        Part::exact("the ceiling at 120 ms, packets", cap(120), 36.0),
    ]
}

fn playing_time(_: &Evaluator<'_>) -> Vec<Part> {
    let whole = Playback::default().rate.time_for(Bytes(270_000_000));
    vec![Part::exact("playing time, s", whole.as_secs_f64(), 600.0)]
}
