//! Throughput equations: one point of the equation a line.

use serde::Deserialize;
use thalweg_core::law::ParameterError;
use thalweg_core::law::rate::tfrc::{Equation, TcpThroughput};
use thalweg_core::probe::{Probe, Visitor};
use thalweg_core::units::{Bytes, Seconds};

use super::Replayed;
use super::line::{parsed, sample};

/// An equation, and its value at the last point.
pub(super) struct Equations {
    equation: TcpThroughput,
    x: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Point {
    s: u32,
    rtt: f64,
    p: f64,
}

impl Equations {
    /// The equation of RFC 5348 §3.1, which has no constants to set.
    pub(super) fn tfrc(settings: &[(String, String)]) -> Result<Equations, ParameterError> {
        match settings.first() {
            None => Ok(Equations { equation: TcpThroughput::default(), x: f64::NAN }),
            Some((name, _)) => {
                Err(ParameterError::Refused(format!("unknown parameter '{name}'; tfrc-equation has none")))
            }
        }
    }
}

impl Replayed for Equations {
    fn take(&mut self, line: &[u8]) -> Result<(), String> {
        let Point { s, rtt, p } = parsed(line)?;
        let rtt = sample("rtt", Some(rtt))?.filter(|rtt| rtt.0 > 0.0).ok_or("rtt must be above 0")?;
        if s == 0 || !(0.0..=1.0).contains(&p) {
            return Err("s must be at least 1, and p 0 to 1".to_owned());
        }
        // Without loss the equation knows no bound.
        self.x = if p > 0.0 { self.equation.rate(Bytes(u64::from(s)), Seconds(rtt.0), p) } else { f64::INFINITY };
        Ok(())
    }
}

impl Probe for Equations {
    fn probe(&self, visit: &mut Visitor<'_>) {
        visit("x", self.x);
    }
}
