//! The paper's claims, and what the results make of each, under a reading of the thresholds and with a queue.
//!
//! A part that compares two carriers is judged by the 95 % interval of the difference of runs with the same seed.
//! Arithmetic is computed by the law's own objects, and must be exact.

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
use super::record::Record;
use super::results::Results;
use super::series::Series;
use crate::paper::claim::{self, Finding, Gate, difference};
use crate::paper::part::{Part, Wanted};

/// Something that the paper says, or that follows from it.
pub type Claim = claim::Claim<fn(&Court<'_>) -> Vec<Part>>;

/// What claims are judged with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reading {
    /// TCP Stream, with one of its thresholds.
    pub ours: Carrier,
    /// Packets of the queue.
    pub queue: u32,
}

/// Judges every claim under this reading.
pub fn judge(results: &Results, reading: Reading) -> Vec<Finding> {
    let court = Court { results, reading };
    CLAIMS.iter().map(|claim| claim.finding(|judge| judge(&court))).collect()
}

/// What claims are judged by.
#[derive(Debug)]
pub struct Court<'a> {
    results: &'a Results,
    reading: Reading,
}

impl Court<'_> {
    /// A number of every seed of Fig. 3.
    fn values(&self, n_ftp: u32, carrier: Carrier, of: fn(&Record) -> f64) -> Vec<f64> {
        self.results.values(Condition::Simulation { n_ftp, queue: self.reading.queue }, carrier, of)
    }

    /// A rate of every seed of Fig. 5.
    fn rates(&self, carrier: Carrier, of: fn(&Series) -> f64) -> Vec<f64> {
        self.results.rates(Condition::Testbed { queue: self.reading.queue }, carrier, of)
    }
}

fn ceilings(_: &Court<'_>) -> Vec<Part> {
    let cap = |ms: u32| f64::from(Playback::default().cap(Seconds(f64::from(ms) / 1e3)));
    vec![
        Part::exact("the ceiling at 100 ms, packets", cap(100), 30.0),
        Part::exact("the ceiling at 120 ms, packets", cap(120), 36.0),
    ]
}

fn playing_time(_: &Court<'_>) -> Vec<Part> {
    let whole = Playback::default().rate.time_for(Bytes(270_000_000));
    vec![Part::exact("playing time, s", whole.as_secs_f64(), 600.0)]
}
