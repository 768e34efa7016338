//! Rates of flows that share a link: the loss event rate at which all of them together fill it.
//!
//! A model of a link at which all flows see the same loss event rate. It predicts shares before anything is sent; the
//! streams themselves measure.

use super::super::gca::Greediness;
use super::super::tfrc::LEAST_P;
use super::super::tfrc::{Equation, MAX_RTT};
use crate::law::ParameterError;
use crate::law::parameter::{positive, within};
use crate::units::{Bytes, Seconds};

/// The highest capacity, in bytes per second.
const FASTEST: f64 = 1e15;

/// A flow of a shared link.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Flow {
    /// s: the size of its packets, 1 to 65535 bytes.
    pub segment: Bytes,
    /// R: its round trip, above 0, at most an hour.
    pub rtt: Seconds,
    /// α and β.
    pub greediness: Greediness,
    /// The rate of its source in bytes per second, above 0; none for a flow that always has data.
    pub cap: Option<f64>,
}

impl Flow {
    /// Its rate at a loss event rate of `p`, in bytes per second; without loss the rate of its source.
    fn rate(&self, p: f64) -> f64 {
        let cap = self.cap.unwrap_or(f64::INFINITY);
        if p > 0.0 { self.greediness.rate(self.segment, self.rtt, p).min(cap) } else { cap }
    }

    fn check(&self) -> Result<(), ParameterError> {
        within("s", self.segment.0 as f64, 1.0..=65_535.0)?;
        within("rtt", self.rtt.0, positive(MAX_RTT.as_secs_f64()))?;
        self.cap.map_or(Ok(()), |cap| within("cap", cap, positive(FASTEST)))
    }
}

/// A link's state once its flows have settled.
#[derive(Clone, PartialEq, Debug)]
pub struct Share {
    /// p: the loss event rate of all flows, at least 1e-16; 0 if the rates of all sources fit.
    pub p: f64,
    /// X_i: the rates of the flows in bytes per second, in their order. Together they are the capacity, unless all
    /// sources fit, or p reaches a bound.
    pub x: Vec<f64>,
}

/// The rates of `flows` on a link of `capacity` bytes per second, above 0.
///
/// # Errors
/// There is no flow, or a value is out of its range.
pub fn share(capacity: f64, flows: &[Flow]) -> Result<Share, ParameterError> {
    within("capacity", capacity, positive(FASTEST))?;
    if flows.is_empty() {
        return Err(ParameterError::Refused("flows: no flow is given; give at least one".to_owned()));
    }
    flows.iter().try_for_each(Flow::check)?;
    let p = loss_event_rate(capacity, flows);
    Ok(Share { p, x: flows.iter().map(|flow| flow.rate(p)).collect() })
}

/// The p at which the rates of all flows are `capacity` together, by bisection on its logarithm.
fn loss_event_rate(capacity: f64, flows: &[Flow]) -> f64 {
    let sum = |p: f64| flows.iter().map(|flow| flow.rate(p)).sum::<f64>();
    if sum(0.0) <= capacity {
        return 0.0;
    }
    let (mut low, mut high) = (LEAST_P, 1.0);
    for _ in 0..64 {
        let middle = f64::sqrt(low * high);
        if sum(middle) > capacity {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}
