//! R3CP+'s constants. The paper gives none of them but the bound of its baseline TFCC, 800 kb/s for a video of 378 kb/s.

use core::str::FromStr;

use crate::law::ParameterError;
use crate::law::parameter::{known, number, positive, within};
use crate::law::registry;
use crate::units::Seconds;

/// The mean rate of the paper's video: 28 120 packets in ten minutes (§4), at 378 kb/s.
pub const PAPERS_MU: f64 = 28_120.0 / 600.0;
/// The same in kb/s.
const PAPERS_KBPS: f64 = 378.0;
/// The gate of a player on today's networks, where a radio loses packets without a queue.
// Deviation(R3CP+ §3.2): the paper knows no gate. A queue of 30 ms is longer than the jitter of most links.
pub const PLAYERS_GATE: Seconds = Seconds(0.03);

/// The rate that a CONGESTED path reduces.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Base {
    /// The rate requested last, as Table 1 prints.
    #[default]
    Requested,
    /// The measured throughput, as the text says.
    Throughput,
}

impl FromStr for Base {
    type Err = ParameterError;

    /// `requested` or `throughput`.
    fn from_str(text: &str) -> Result<Base, ParameterError> {
        match text {
            "requested" => Ok(Base::Requested),
            "throughput" => Ok(Base::Throughput),
            _ => {
                Err(ParameterError::Value { name: "base", value: text.to_owned(), expected: "requested or throughput" })
            }
        }
    }
}

/// The constants of R3CP+; rates are in packets per second.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Parameters {
    /// The loss below which a path is UNLOADED. 0 to `p_high`.
    pub p_low: f64,
    /// The loss above which a path is CONGESTED. `p_low` to 1.
    pub p_high: f64,
    /// Δinc: the increase while the path is and stays UNLOADED. At least 0.
    pub inc_big: f64,
    /// δinc: the increase with a worse forecast. At least 0.
    pub inc_small: f64,
    /// δdec: the factor while CONGESTED with a better forecast. Above 0, at most 1.
    pub dec_small: f64,
    /// Δdec: the factor while the path is and stays CONGESTED. Above 0, at most 1.
    pub dec_big: f64,
    /// λmax: the peak rate. Above 0.
    pub lambda_max: f64,
    /// The least rate that is requested: no packets would leave the path unmeasured. 0 to `lambda_max`.
    pub rho_min: f64,
    /// The playing time of the video that the target has in addition to the paper's. 0 to 3600 s.
    pub store: Seconds,
    /// The round trip above its minimum from which on loss counts as congestion; 0 counts all loss. 0 to 10 s.
    pub gate: Seconds,
    /// The rate that a CONGESTED path reduces.
    pub base: Base,
}

impl Default for Parameters {
    /// The constants for the paper's video.
    fn default() -> Parameters {
        Parameters::of_video(PAPERS_MU)
    }
}

impl Parameters {
    /// The constants for a video of `mu` packets per second: for 378 kb/s they are inc 50 and 12.5 kb/s, λmax 800 kb/s.
    // Reading(R3CP+ §3.2): the paper gives no constants. Increases and peak scale with the video, a quarter of its rate,
    // about that of its I frames, is the least, and the thresholds are the usual dead zone of loss-based rate control.
    pub fn of_video(mu: f64) -> Parameters {
        let scaled = |kbps: f64| mu * kbps / PAPERS_KBPS;
        Parameters {
            p_low: 0.02,
            p_high: 0.04,
            inc_big: scaled(50.0),
            inc_small: scaled(12.5),
            dec_small: 0.875,
            dec_big: 0.5,
            lambda_max: scaled(800.0),
            rho_min: mu / 4.0,
            store: Seconds(0.0),
            gate: Seconds(0.0),
            base: Base::Requested,
        }
    }

    /// Checks that the law can run with these parameters.
    ///
    /// # Errors
    /// A value is out of its range, or values are inconsistent.
    pub fn check(&self) -> Result<(), ParameterError> {
        within("p_high", self.p_high, 0.0..=1.0)?;
        within("p_low", self.p_low, 0.0..=self.p_high)?;
        within("inc_big", self.inc_big, 0.0..=1e9)?;
        within("inc_small", self.inc_small, 0.0..=1e9)?;
        within("dec_small", self.dec_small, positive(1.0))?;
        within("dec_big", self.dec_big, positive(1.0))?;
        within("lambda_max", self.lambda_max, positive(1e9))?;
        within("rho_min", self.rho_min, 0.0..=self.lambda_max)?;
        within("store_s", self.store.0, 0.0..=3600.0)?;
        within("gate", 1e3 * self.gate.0, 0.0..=1e4)
    }
}

impl registry::Parameters for Parameters {
    const NAMES: &'static [&'static str] = &[
        "p_low",
        "p_high",
        "inc_big",
        "inc_small",
        "dec_small",
        "dec_big",
        "lambda_max",
        "rho_min",
        "store_s",
        "gate",
        "base",
    ];

    /// `store_s` is in seconds, `gate` in milliseconds, `base` is `requested` or `throughput`. Call
    /// [`Parameters::check`] after the last.
    fn set(&mut self, name: &str, value: &str) -> Result<(), ParameterError> {
        let name = known(name, <Parameters as registry::Parameters>::NAMES)?;
        if name == "base" {
            self.base = value.parse()?;
            return Ok(());
        }
        let value = number(name, value)?;
        match name {
            "p_low" => self.p_low = value,
            "p_high" => self.p_high = value,
            "inc_big" => self.inc_big = value,
            "inc_small" => self.inc_small = value,
            "dec_small" => self.dec_small = value,
            "dec_big" => self.dec_big = value,
            "lambda_max" => self.lambda_max = value,
            "rho_min" => self.rho_min = value,
            "store_s" => self.store = Seconds(value),
            _ => self.gate = Seconds(value / 1e3),
        }
        Ok(())
    }
}
