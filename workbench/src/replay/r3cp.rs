//! R3CP+ at one flow control point a line: Eq. (14), and Table 1.

use serde::Deserialize;
use thalweg_core::law::ParameterError;
use thalweg_core::law::rate::r3cp::{Base, Parameters, Point, R3cp, Request, State};
use thalweg_core::law::redundancy::MAX_RTT;
use thalweg_core::law::registry::Parameters as _;
use thalweg_core::probe::{Probe, Visitor};

use super::Replayed;
use super::line::{LARGEST, checked, parsed};

/// The greatest loss: without any deliveries no rate meets the target.
const MOST_LOSS: f64 = 0.999_999;
/// The shortest period, in seconds.
const SHORTEST: f64 = 1e-6;

/// The law with `settings`.
fn law(settings: &[(String, String)]) -> Result<R3cp, ParameterError> {
    let mut parameters = Parameters::default();
    settings.iter().try_for_each(|(name, value)| parameters.set(name, value))?;
    R3cp::new(parameters)
}

/// Eq. (14), and its value at the last point.
pub(super) struct DesiredRate {
    lambda: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PointLine {
    q: f64,
    zeta_in_q: f64,
    zeta_next: f64,
    rho_prev: f64,
    p: f64,
    d: f64,
    mu: f64,
    p_l: f64,
}

impl DesiredRate {
    /// The equation, which reads none of the constants in `settings`, but checks them.
    pub(super) fn new(settings: &[(String, String)]) -> Result<DesiredRate, ParameterError> {
        law(settings)?;
        Ok(DesiredRate { lambda: f64::NAN })
    }
}

impl Replayed for DesiredRate {
    fn take(&mut self, line: &[u8]) -> Result<(), String> {
        let PointLine { q, zeta_in_q, zeta_next, rho_prev, p, d, mu, p_l } = parsed(line)?;
        let point = Point {
            q: checked("q", q, 0.0..=LARGEST)?,
            zeta_in_q: checked("zeta_in_q", zeta_in_q, 0.0..=LARGEST)?,
            zeta_next: checked("zeta_next", zeta_next, 0.0..=LARGEST)?,
            rho_prev: checked("rho_prev", rho_prev, 0.0..=LARGEST)?,
            p: checked("p", p, 0.0..=MOST_LOSS)?,
            d: checked("d", d, SHORTEST..=MAX_RTT.0)?,
            mu: checked("mu", mu, 0.0..=LARGEST)?,
            p_l: checked("p_l", p_l, 0.0..=LARGEST)?,
        };
        self.lambda = point.desired_rate();
        Ok(())
    }
}

impl Probe for DesiredRate {
    fn probe(&self, visit: &mut Visitor<'_>) {
        visit("lambda", self.lambda);
    }
}

/// Table 1, and the rate in its last cell.
pub(super) struct RequestedRate {
    law: R3cp,
    rho: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Cell {
    current: String,
    forecast: String,
    lambda: f64,
    rho_prev: f64,
    throughput: Option<f64>,
    bank_open: bool,
}

impl RequestedRate {
    /// The table with the constants in `settings`.
    pub(super) fn new(settings: &[(String, String)]) -> Result<RequestedRate, ParameterError> {
        Ok(RequestedRate { law: law(settings)?, rho: f64::NAN })
    }
}

impl Replayed for RequestedRate {
    fn take(&mut self, line: &[u8]) -> Result<(), String> {
        let Cell { current, forecast, lambda, rho_prev, throughput, bank_open } = parsed(line)?;
        let state = |name: &str, text: &str| text.parse::<State>().map_err(|why| format!("{name}: {why}"));
        let rho_prev = checked("rho_prev", rho_prev, 0.0..=LARGEST)?;
        let throughput = match throughput {
            Some(throughput) => checked("throughput", throughput, 0.0..=LARGEST)?,
            None if self.law.parameters().base == Base::Requested => rho_prev,
            None => return Err("base=throughput needs throughput, the rate received".to_owned()),
        };
        self.rho = self.law.requested_rate(&Request {
            current: state("current", &current)?,
            forecast: state("forecast", &forecast)?,
            // As Eq. (14) gives it, also below 0.
            lambda: checked("lambda", lambda, -LARGEST..=LARGEST)?,
            rho_prev,
            throughput,
            bank_open,
        });
        Ok(())
    }
}

impl Probe for RequestedRate {
    fn probe(&self, visit: &mut Visitor<'_>) {
        visit("rho", self.rho);
    }
}
