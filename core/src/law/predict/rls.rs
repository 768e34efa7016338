//! Recursive least squares: S. Haykin, "Adaptive Filter Theory", in the form of Y. S. Sun, F.-M. Tsou, M. C. Chen,
//! "Predictive flow control for TCP-friendly end-to-end real-time video on the Internet" (R3CP+) §2, which calls it a
//! Kalman filter.
//!
//! The next value is predicted as a weighted sum of the last M. Each new value corrects the weights so that the sum of
//! all squared errors so far is least, an error k values ago counting theta^k. A value takes some 4 M^2 multiplications,
//! and no memory is allocated after the start.
//!
//! | paper | here | |
//! |---|---|---|
//! | P(n), d(n): the memory, Eq. (2) | `u` | the last M values, the newest first; zeros before the start |
//! | alpha_n, beta_n, Eq. (3) | `error` | value less prediction |
//! | w(n), Eq. (4) | `w` | starts as "the same as last time", (1, 0, ..., 0) |
//! | k(n), Eq. (5) | P u / (theta + u P u) | theta^-1 P u / (1 + theta^-1 u P u) |
//! | **P**(n), Eq. (6) | `p` | symmetric by its arithmetic; starts as p0 I |
//! | theta, M | [`Parameters`] | M is about 1 / (1 - theta) |
//! | p_{n+1}, d_{n+1}, Eqs. (7), (8) | [`Predictor::prediction`] | w u, with the new value in u |
//!
//! Least squares over few values fit the noise, too. On an autoregressive series the error is about sqrt(1 + M (1 - theta)
//! / (1 + theta)) times the noise while M (1 - theta) is well below 1: 1.02 with M = 10 and theta = 0.99. With the M = 1 /
//! (1 - theta) that the paper recommends it is a third above the noise.

#[cfg(test)]
mod tests;

use super::parameter::{known, number, positive, within};
use super::{ParameterError, Predictor};
use crate::law::registry::{self, Entry};
use crate::probe::{Probe, Visitor};

/// The sum of squares up to which the last M values are taken for zeros.
const QUIET: f64 = 1e-12;
/// The greatest trace of P.
const MOST_TRACE: f64 = 1e6;

/// A filter over one series.
#[derive(Clone, PartialEq, Debug)]
pub struct Rls {
    parameters: Parameters,
    /// The last M values, the newest first.
    u: Vec<f64>,
    w: Vec<f64>,
    /// P by rows.
    p: Vec<f64>,
    /// P u of the last correction.
    v: Vec<f64>,
    error: Option<f64>,
}

/// The constants of the filter. The paper gives no values, only that theta is close to 1.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Parameters {
    /// M: the number of values in a prediction. 1 to 64.
    pub m: u32,
    /// The memory factor. Above 0, at most 1.
    pub theta: f64,
    /// The diagonal of P at the start, the distrust in the first weights. Above 0, M times it at most 10^6.
    pub p0: f64,
}

impl Default for Parameters {
    fn default() -> Parameters {
        Parameters { m: 10, theta: 0.9, p0: 100.0 }
    }
}

impl registry::Parameters for Parameters {
    const NAMES: &'static [&'static str] = &["m", "theta", "p0"];

    fn set(&mut self, name: &str, value: &str) -> Result<(), ParameterError> {
        let name = known(name, <Parameters as registry::Parameters>::NAMES)?;
        let value = number(name, value)?;
        match name {
            "theta" => self.theta = value,
            "p0" => self.p0 = value,
            _ => {
                within(name, value, 1.0..=64.0)?;
                if value.fract() != 0.0 {
                    return Err(ParameterError::Refused(format!("m = {value} is not a whole number of values")));
                }
                self.m = value as u32;
            }
        }
        Ok(())
    }
}

impl Rls {
    /// A filter before its first value.
    ///
    /// # Errors
    /// A parameter is out of its range.
    pub fn new(parameters: Parameters) -> Result<Rls, ParameterError> {
        let Parameters { m, theta, p0 } = parameters;
        within("m", f64::from(m), 1.0..=64.0)?;
        within("theta", theta, positive(1.0))?;
        within("p0", p0, positive(MOST_TRACE / f64::from(m)))?;
        let m = m as usize;
        let mut w = vec![0.0; m];
        w[0] = 1.0;
        let mut filter = Rls { parameters, u: vec![0.0; m], w, p: vec![0.0; m * m], v: vec![0.0; m], error: None };
        filter.restart();
        Ok(filter)
    }

    /// The weights, that of the newest value first.
    pub fn weights(&self) -> &[f64] {
        &self.w
    }

    /// P = p0 I.
    fn restart(&mut self) {
        let m = self.u.len();
        self.p.fill(0.0);
        self.p.iter_mut().step_by(m + 1).for_each(|diagonal| *diagonal = self.parameters.p0);
    }

    /// Corrects the weights by the error of a prediction. Eqs. (4) to (6).
    // Deviation(R3CP+ Eq. (5)): gain and P use the values that made the prediction. As printed they use a vector that
    // holds the new value already, which correlates with the error: on an autoregressive series the error then grows.
    fn correct(&mut self, error: f64) {
        // Reading(R3CP+ Eq. (6)): P stays while all values are zero, as losses are for long, and begins anew once its
        // trace exceeds 10^6: without new information it would grow as theta^-n.
        if dot(&self.u, &self.u) <= QUIET {
            return;
        }
        let m = self.u.len();
        for (v, row) in self.v.iter_mut().zip(self.p.chunks_exact(m)) {
            *v = dot(row, &self.u);
        }
        let spread = dot(&self.u, &self.v);
        if spread.is_nan() || spread < 0.0 {
            // Rounding has cost P its positive diagonal: the values span too many orders of magnitude.
            self.restart();
            return;
        }
        let (gain, forget) = (1.0 / (self.parameters.theta + spread), 1.0 / self.parameters.theta);
        for (w, v) in self.w.iter_mut().zip(&self.v) {
            *w += v * gain * error;
        }
        for (row, a) in self.p.chunks_exact_mut(m).zip(&self.v) {
            for (p, b) in row.iter_mut().zip(&self.v) {
                *p = (*p - a * b * gain) * forget;
            }
        }
        let trace = self.trace();
        if trace.is_nan() || trace > MOST_TRACE {
            self.restart();
        }
    }

    fn trace(&self) -> f64 {
        self.p.iter().step_by(self.u.len() + 1).sum()
    }

    fn push(&mut self, x: f64) {
        self.u.rotate_right(1);
        self.u[0] = x;
    }
}

impl Predictor for Rls {
    fn observe(&mut self, x: f64) -> f64 {
        let error = x - self.prediction();
        self.correct(error);
        self.push(x);
        self.error = Some(error);
        error
    }

    fn prediction(&self) -> f64 {
        dot(&self.w, &self.u)
    }
}

impl Entry<()> for Rls {
    const NAME: &'static str = "rls";
    const ABOUT: &'static str = "recursive least squares, the filter of R3CP+";
    type Parameters = Parameters;

    fn start(parameters: &Parameters, _config: &()) -> Result<Rls, ParameterError> {
        Rls::new(*parameters)
    }
}

impl Probe for Rls {
    /// Shows `error` of the last prediction, and `prediction` of the next value.
    fn probe(&self, visit: &mut Visitor<'_>) {
        visit("error", self.error.unwrap_or(f64::NAN));
        visit("prediction", self.prediction());
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
