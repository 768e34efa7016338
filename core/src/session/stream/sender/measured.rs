//! Measurements of a sender, without its assumptions.

use crate::time::Span;

/// The measured properties of a path; each is none before there was enough to measure.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Measured {
    /// Loss rate that decisions use.
    pub eps: Option<f64>,
    /// Loss rate by Gilbert's model, which accounts for bursts.
    pub gilbert_eps: Option<f64>,
    /// Mean length of a burst of losses by the same model, in packets; none before a loss.
    pub burst: Option<f64>,
    /// Smoothed round trip.
    pub rtt: Option<Span>,
    /// u of FEC-ARQ's Eq. (9): packets sent that were not innovative for each one that was.
    pub u: Option<f64>,
}
