//! Throughput equations: one point of an equation a line, and one of its inverse.

use core::marker::PhantomData;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use thalweg_core::law::ParameterError;
use thalweg_core::law::rate::gca::Greediness;
use thalweg_core::law::rate::tfrc::{Equation, TcpThroughput};
use thalweg_core::probe::{Probe, Visitor};
use thalweg_core::units::{Bytes, Seconds};

use super::line::{LARGEST, checked, parsed, sample};
use super::{Replayed, without_settings};

/// An equation without constants, and its value at the last point.
pub(super) struct Equations<P> {
    value: f64,
    point: PhantomData<P>,
}

/// A point at which an equation has a value.
pub(super) trait Point: DeserializeOwned {
    /// The name of the value.
    const NAME: &'static str;

    /// The value.
    ///
    /// # Errors
    /// The point is out of the equation's domain.
    fn value(&self) -> Result<f64, String>;
}

/// A point of the equation of RFC 5348 §3.1.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TfrcPoint {
    s: u32,
    rtt: f64,
    p: f64,
}

/// A point of GCA's Eq. (2).
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GcaPoint {
    s: u32,
    rtt: f64,
    p: f64,
    alpha: f64,
    beta: f64,
}

/// A point of the inverse of GCA's Eq. (2).
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GcaRate {
    x: f64,
    s: u32,
    rtt: f64,
    alpha: f64,
    beta: f64,
}

impl Point for TfrcPoint {
    const NAME: &'static str = "x";

    fn value(&self) -> Result<f64, String> {
        throughput(&TcpThroughput::default(), self.s, self.rtt, self.p)
    }
}

impl Point for GcaPoint {
    const NAME: &'static str = "x";

    fn value(&self) -> Result<f64, String> {
        throughput(&greediness(self.alpha, self.beta)?, self.s, self.rtt, self.p)
    }
}

impl Point for GcaRate {
    const NAME: &'static str = "p";

    fn value(&self) -> Result<f64, String> {
        let greediness = greediness(self.alpha, self.beta)?;
        let (segment, rtt) = (segment(self.s)?, round_trip(self.rtt)?);
        Ok(greediness.loss_event_rate(segment, rtt, checked("x", self.x, 0.0..=LARGEST * LARGEST)?))
    }
}

impl<P: Point> Equations<P> {
    pub(super) fn new(settings: &[(String, String)]) -> Result<Equations<P>, ParameterError> {
        without_settings(settings)?;
        Ok(Equations { value: f64::NAN, point: PhantomData })
    }
}

/// The value of `equation`; without loss an equation knows no bound.
fn throughput(equation: &impl Equation, s: u32, rtt: f64, p: f64) -> Result<f64, String> {
    let (segment, rtt, p) = (segment(s)?, round_trip(rtt)?, checked("p", p, 0.0..=1.0)?);
    Ok(if p > 0.0 { equation.rate(segment, rtt, p) } else { f64::INFINITY })
}

/// The greediness of two parameters within their domain.
pub(super) fn greediness(alpha: f64, beta: f64) -> Result<Greediness, String> {
    Greediness::new(alpha, beta).map_err(|error| error.to_string())
}

fn segment(s: u32) -> Result<Bytes, String> {
    if s == 0 { Err("s must be at least 1 byte".to_owned()) } else { Ok(Bytes(s.into())) }
}

fn round_trip(rtt: f64) -> Result<Seconds, String> {
    Ok(sample("rtt", Some(rtt))?.filter(|rtt| rtt.0 > 0.0).ok_or("rtt must be above 0")?)
}

impl<P: Point> Replayed for Equations<P> {
    fn take(&mut self, line: &[u8]) -> Result<(), String> {
        self.value = parsed::<P>(line)?.value()?;
        Ok(())
    }
}

impl<P: Point> Probe for Equations<P> {
    fn probe(&self, visit: &mut Visitor<'_>) {
        visit(P::NAME, self.value);
    }
}
