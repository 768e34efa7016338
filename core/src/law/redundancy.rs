//! How much do I protect? Answers to that question, one a file.

pub mod dp_fec;
pub mod fixed;
pub mod geneva;
pub mod none;

pub use super::ParameterError;

use super::parameter;
use crate::probe::Probe;
use crate::units::Seconds;

/// What one report says, as GENEVA §3.2.1 counts it: source and repair packets alike.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct LossReport {
    /// Packets found lost since the last report.
    pub lost: u32,
    /// Packets found delivered since the last report.
    pub delivered: u32,
    /// A round-trip sample, where the report carries one.
    pub srtt: Option<Seconds>,
    /// When the report was taken, on any clock that does not step; only laws that time loss events read it.
    pub at: Seconds,
}

/// A law that answers each report with the number of repair packets of the next block.
pub trait Redundancy: Probe {
    /// Takes one report into account.
    fn on_report(&mut self, report: &LossReport);

    /// Repair packets for a block that closes now.
    fn repair(&self) -> u32;
}

/// The longest round trip that a law believes, an hour; samples outside 0 ..= `MAX_RTT` are no samples.
pub const MAX_RTT: Seconds = Seconds(3600.0);

/// `ERTT <- alpha ERTT + (1 - alpha) SRTT`, the first sample as it is; unchanged without a sample.
fn smoothed(ertt: Option<f64>, srtt: Option<Seconds>, alpha: f64) -> Option<f64> {
    match (ertt, srtt.filter(|sample| (0.0..=MAX_RTT.0).contains(&sample.0))) {
        (known, None) => known,
        (None, Some(Seconds(first))) => Some(first),
        (Some(ertt), Some(Seconds(sample))) => Some(alpha * ertt + (1.0 - alpha) * sample),
    }
}

/// The whole packets of a window that may have a fraction, forgiving what rounding took off a whole one.
fn whole(window: f64) -> f64 {
    libm::floor(window + 1e-9)
}
