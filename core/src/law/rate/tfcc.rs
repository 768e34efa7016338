//! TFCC: triple-feedback based congestion control, the baseline of Y. S. Sun, F.-M. Tsou, M. C. Chen, "Predictive flow
//! control for TCP-friendly end-to-end real-time video on the Internet" (R3CP+) §4: additive increase and multiplicative
//! decrease of a stored video's rate by the loss of each period.
//!
//! | paper | here |
//! |---|---|
//! | p_n, p_low, p_high | the loss of a period and its thresholds |
//! | current_throughput | the rate received in the period |
//! | INC, DEC | [`Parameters::inc`], [`Parameters::dec`] |
//! | max_rate, min_rate | [`Parameters::max_rate`], [`Parameters::min_rate`] |
//!
//! Rates are in packets per second. Buffer and retransmission are those of [`r3cp`]; nothing is skipped.

use super::r3cp::{self, State};
use crate::law::ParameterError;
use crate::law::parameter::{positive, within};

/// The constants of TFCC. The paper gives max_rate alone, 800 kb/s.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Parameters {
    /// The loss below which the rate rises. 0 to `p_high`.
    pub p_low: f64,
    /// The loss above which the rate falls. `p_low` to 1.
    pub p_high: f64,
    /// INC: the increase of a period. At least 0.
    pub inc: f64,
    /// DEC: the divisor of a decrease. At least 1.
    pub dec: f64,
    /// The greatest rate that an increase leads to. Above 0.
    pub max_rate: f64,
    /// The least rate that a decrease leads to. 0 to `max_rate`.
    pub min_rate: f64,
}

impl Parameters {
    /// The constants for a video of `mu` packets per second: those that R3CP+ has, and a divisor of 2.
    pub fn of_video(mu: f64) -> Parameters {
        let r3cp::Parameters { p_low, p_high, inc_big, lambda_max, rho_min, .. } = r3cp::Parameters::of_video(mu);
        Parameters { p_low, p_high, inc: inc_big, dec: 2.0, max_rate: lambda_max, min_rate: rho_min }
    }
}

/// The law of the receiver.
#[derive(Clone, PartialEq, Debug)]
pub struct Tfcc {
    parameters: Parameters,
}

impl Tfcc {
    /// The law with these constants.
    ///
    /// # Errors
    /// A value is out of its range.
    pub fn new(parameters: Parameters) -> Result<Tfcc, ParameterError> {
        let Parameters { p_low, p_high, inc, dec, max_rate, min_rate } = parameters;
        within("p_high", p_high, 0.0..=1.0)?;
        within("p_low", p_low, 0.0..=p_high)?;
        within("inc", inc, 0.0..=1e9)?;
        within("dec", dec, 1.0..=1e9)?;
        within("max_rate", max_rate, positive(1e9))?;
        within("min_rate", min_rate, 0.0..=max_rate)?;
        Ok(Tfcc { parameters })
    }

    /// The constants in force.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// The rate to request after a period with loss `p`, in which `throughput` was received.
    // Deviation(R3CP+ §4): the increase is bounded by max_rate from above: the listing prints max(throughput + INC,
    // max_rate), which would never request less than max_rate.
    pub fn requested_rate(&self, p: f64, throughput: f64) -> f64 {
        let Parameters { p_low, p_high, inc, dec, max_rate, min_rate } = self.parameters;
        match State::of(p, p_low, p_high) {
            State::Unloaded => (throughput + inc).min(max_rate),
            State::Loaded => throughput,
            State::Congested => (throughput / dec).max(min_rate),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: Parameters =
        Parameters { p_low: 0.02, p_high: 0.04, inc: 6.0, dec: 2.0, max_rate: 100.0, min_rate: 12.0 };

    #[test]
    fn rate_follows_the_listing_with_its_bounds() {
        let law = Tfcc::new(RULES).expect("in range");
        for (p, throughput, rate) in [
            (0.0, 40.0, 46.0),
            (0.019, 97.0, 100.0),
            (0.02, 40.0, 40.0),
            (0.03, 40.0, 40.0),
            (0.04, 40.0, 40.0),
            (0.041, 40.0, 20.0),
            (1.0, 20.0, 12.0),
            (1.0, 0.0, 12.0),
        ] {
            assert_eq!(law.requested_rate(p, throughput), rate, "p = {p}, {throughput}");
        }
    }

    #[test]
    fn path_without_loss_is_taken_to_800_kbps() {
        // From the video's own 378 kb/s in steps of 50: nine periods.
        let law = Tfcc::new(Parameters::of_video(r3cp::PAPERS_MU)).expect("in range");
        let (mut rate, kbps) = (r3cp::PAPERS_MU, 378.0 / r3cp::PAPERS_MU);
        for expected in [428.0, 478.0, 528.0, 578.0, 628.0, 678.0, 728.0, 778.0, 800.0, 800.0] {
            rate = law.requested_rate(0.0, rate);
            assert!((rate * kbps - expected).abs() < 1e-9, "{}", rate * kbps);
        }
    }

    #[test]
    fn parameters_are_checked() {
        for wrong in [
            Parameters { p_low: 0.05, ..RULES },
            Parameters { p_high: 1.1, ..RULES },
            Parameters { inc: f64::NAN, ..RULES },
            Parameters { dec: 0.5, ..RULES },
            Parameters { max_rate: 0.0, ..RULES },
            Parameters { min_rate: 101.0, ..RULES },
        ] {
            assert!(Tfcc::new(wrong).is_err(), "{wrong:?}");
        }
    }
}
