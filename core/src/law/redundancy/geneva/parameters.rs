//! GENEVA's constants, and the constraints that the paper puts on them.

use core::str::FromStr;

use super::super::parameter::{known, number, positive, within};
use super::super::{P_MAX, ParameterError};
use crate::law::registry;
use crate::units::Seconds;

/// The handling of the window's fraction from one report to the next, which the paper leaves open.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum State {
    /// The window is the result of Eq. (3): whole packets.
    #[default]
    Integer,
    /// The window keeps its fraction, and the block gets its whole part.
    Real,
}

impl FromStr for State {
    type Err = ParameterError;

    /// `integer` or `real`.
    fn from_str(text: &str) -> Result<State, ParameterError> {
        match text {
            "integer" => Ok(State::Integer),
            "real" => Ok(State::Real),
            _ => Err(ParameterError::Value { name: "state", value: text.to_owned(), expected: "integer or real" }),
        }
    }
}

/// The constants of GENEVA; the default is the paper's, for a 30 Mb/s stream of 1500-byte packets.
#[derive(Clone, PartialEq, Debug)]
pub struct Parameters {
    /// Source packets of a block, with their fraction: rate x SYN / packet size (§3.2.2). Above 0, at most 65535.
    pub k: f64,
    /// Length of a block and interval of reports (§3.2.1). 0.1 ms to 10 s.
    pub syn: Seconds,
    /// Scale of W, Eq. (2). Above 0.
    pub a: f64,
    /// The decrease of W by a delivered packet, Eq. (5). Above 0.
    pub b: f64,
    /// The highest loss that the stream tolerates, Eq. (2). Above 1.5 b^2, at most 1.
    pub p_max: f64,
    /// Weight of the old value in ERTT (§3.2.2). 0 to below 1.
    pub alpha: f64,
    /// Smallest window (§3.2.4), in packets.
    pub fwnd_min: f64,
    /// Largest window (§3.2.4), in packets. At most 65535.
    pub fwnd_max: f64,
    /// i(W) while W is small (§3.2.4), in packets. At least 0.
    pub i_low: f64,
    /// The handling of the window's fraction.
    pub state: State,
    /// The window before the first report, clamped to `fwnd_min` and `fwnd_max`, in packets. At most 65535.
    pub f: f64,
}

impl Default for Parameters {
    fn default() -> Parameters {
        Parameters {
            k: 25.0,
            syn: Seconds(0.01),
            a: 2.0,
            b: 0.04,
            p_max: P_MAX,
            alpha: 0.9,
            fwnd_min: 8.0,
            fwnd_max: 60.0,
            i_low: 10.0,
            state: State::Integer,
            f: 8.0,
        }
    }
}

impl registry::Parameters for Parameters {
    const NAMES: &'static [&'static str] =
        &["k", "syn", "a", "b", "p_max", "alpha", "fwnd_min", "fwnd_max", "i_low", "state", "f"];

    /// Times are in seconds. Call [`Parameters::check`] after the last.
    fn set(&mut self, name: &str, value: &str) -> Result<(), ParameterError> {
        let name = known(name, <Parameters as registry::Parameters>::NAMES)?;
        if name == "state" {
            self.state = value.parse()?;
            return Ok(());
        }
        let value = number(name, value)?;
        match name {
            "k" => self.k = value,
            "syn" => self.syn = Seconds(value),
            "a" => self.a = value,
            "b" => self.b = value,
            "p_max" => self.p_max = value,
            "alpha" => self.alpha = value,
            "fwnd_min" => self.fwnd_min = value,
            "fwnd_max" => self.fwnd_max = value,
            "i_low" => self.i_low = value,
            _ => self.f = value,
        }
        Ok(())
    }
}

impl Parameters {
    /// Checks that the law can run with these parameters.
    ///
    /// # Errors
    /// A value is out of its range, or values are inconsistent.
    pub fn check(&self) -> Result<(), ParameterError> {
        within("k", self.k, positive(65535.0))?;
        within("syn", self.syn.0, 1e-4..=10.0)?;
        within("a", self.a, positive(1e9))?;
        within("b", self.b, positive(1e9))?;
        within("p_max", self.p_max, positive(1.0))?;
        within("alpha", self.alpha, 0.0..1.0)?;
        within("fwnd_min", self.fwnd_min, 0.0..=65535.0)?;
        within("fwnd_max", self.fwnd_max, 0.0..=65535.0)?;
        within("i_low", self.i_low, 0.0..=1e9)?;
        within("f", self.f, 0.0..=65535.0)?;
        if self.fwnd_min > self.fwnd_max {
            let (min, max) = (self.fwnd_min, self.fwnd_max);
            return Err(ParameterError::Refused(format!("fwnd_min = {min} is above fwnd_max = {max}")));
        }
        // From W0 on Eq. (8) must be positive: W0 exists, and rounding has not moved it to the pole a / p_max.
        let (a, b, p_max, limit) = (self.a, self.b, self.p_max, 1.5 * self.b * self.b);
        if p_max <= limit {
            return Err(ParameterError::Refused(format!(
                "p_max = {p_max} must be above 1.5 b^2 = {limit} (b = {b}): i(W) would exceed half a TCP window"
            )));
        }
        let w0 = self.w0();
        if p_max * w0 <= a {
            return Err(ParameterError::Refused(format!(
                "b = {b} is too small: W0 = {w0} lies on the pole a / p_max = {} of i(W)",
                a / p_max
            )));
        }
        Ok(())
    }

    /// The window below which i(W) is constant: ceil(a / (p_max - 1.5 b^2)), 73 in the paper (§3.2.4).
    ///
    /// From there on Eq. (8) is less than half the window of a TCP with the same loss, sqrt(8 / (3 p)) / 2, p by Eq.
    /// (2).
    pub fn w0(&self) -> f64 {
        libm::ceil(self.a / (self.p_max - 1.5 * self.b * self.b))
    }

    /// i(W) = b W / (p_max W - a), Eq. (8), from `w0` on; constant below, where Eq. (8) has its pole (§3.2.4).
    ///
    /// The paper prints 2 for a, its value.
    pub fn increment(&self, w: f64, w0: f64) -> f64 {
        if w < w0 { self.i_low } else { self.b * w / (self.p_max * w - self.a) }
    }

    /// The window before the first report.
    pub(super) fn start(&self) -> f64 {
        self.f.max(self.fwnd_min).min(self.fwnd_max)
    }
}
