//! GCA: E. Casey, G.-M. Muntean, "TCP Compatible Greediness Control Algorithm for Wireless Multimedia Streaming".
//!
//! TFRC with another throughput equation, that of a TCP whose window grows by α packets in a round trip, and keeps the
//! share β of itself at a loss. The application sets both to make a stream more or less greedy, and may change them at
//! any time; all else is [`tfrc`](super::tfrc).
//!
//! | paper | here | |
//! |---|---|---|
//! | X, Eq. (2) | [`Equation::rate`] of [`Greediness`] | throughput |
//! | α | [`Greediness::alpha`] | 1 in a TCP; X grows with its square root, for every p |
//! | β = 1/δ | [`Greediness::beta`] | 1/2 in a TCP; the larger, the greedier |
//! | s, RTT, p | arguments of [`Equation::rate`] | size of a packet, round trip, loss event rate |

#[cfg(test)]
mod tests;

use core::ops::{Bound, RangeInclusive};

use super::Config;
use super::one_sided::OneSided;
use super::tfrc::{Equation, TcpThroughput};
use crate::law::ParameterError;
use crate::law::parameter::{known, number, within};
use crate::law::registry::{Argument, Entry, Parameters};
use crate::units::{Bytes, Seconds};

/// The values of α that users can set. Ours: a tenth to four times the rate of a TCP, at β = 1/2.
pub const ALPHA: RangeInclusive<f64> = 0.01..=16.0;
/// The values of β that users can set. Ours: at small p, .6 to 3.6 times the rate at β = 1/2.
pub const BETA: RangeInclusive<f64> = 0.05..=0.95;

/// α and β, and with them Eq. (2).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Greediness {
    alpha: f64,
    beta: f64,
}

impl Default for Greediness {
    /// That of a TCP: α = 1, β = 1/2, with which Eq. (2) is the equation of TFRC.
    fn default() -> Greediness {
        Greediness { alpha: 1.0, beta: 0.5 }
    }
}

impl Greediness {
    /// The greediness of these parameters, within the domain of Eq. (2): `alpha` above 0, `beta` above 0 and below 1.
    ///
    /// # Errors
    /// The parameter that is out of the domain.
    pub fn new(alpha: f64, beta: f64) -> Result<Greediness, ParameterError> {
        within("alpha", alpha, (Bound::Excluded(0.0), Bound::Unbounded))?;
        within("beta", beta, (Bound::Excluded(0.0), Bound::Excluded(1.0)))?;
        Ok(Greediness { alpha, beta })
    }

    /// α: the number of packets by which the TCP's window grows in a round trip.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    /// β: the share of its window that the TCP keeps at a loss.
    pub fn beta(&self) -> f64 {
        self.beta
    }

    /// The rate at a loss event rate of `p`, above 0 and at most 1, as a multiple of a TCP's: sqrt(α) at β = 1/2.
    pub fn multiplier(&self, p: f64) -> f64 {
        let (s, rtt) = (Bytes(1), Seconds(1.0));
        self.rate(s, rtt, p) / TcpThroughput::default().rate(s, rtt, p)
    }
}

impl Equation for Greediness {
    /// X = s / (RTT (sqrt(2p(δ-1) / (α(δ+1))) + 12 p sqrt(p(δ-1)(δ+1) / (2αδ²)) (1 + 32p²))), Eq. (2).
    ///
    /// The 12 holds b = 1 and t_RTO = 4 RTT.
    fn rate(&self, segment: Bytes, rtt: Seconds, p: f64) -> f64 {
        let Greediness { alpha, beta } = self;
        // With δ = 1/β: (δ-1)/(δ+1) = (1-β)/(1+β), and (δ-1)(δ+1)/δ² = 1-β².
        let recovery = f64::sqrt(2.0 * p * (1.0 - beta) / (alpha * (1.0 + beta)));
        let timeouts = 12.0 * p * f64::sqrt(p * (1.0 - beta * beta) / (2.0 * alpha)) * (1.0 + 32.0 * p * p);
        segment.0 as f64 / (rtt.0 * (recovery + timeouts))
    }
}

impl Parameters for Greediness {
    const NAMES: &'static [&'static str] = &["alpha", "beta"];
    const ARGUMENT: Option<Argument> = Some(Argument::Optional("ALPHA[:BETA]"));

    fn set(&mut self, name: &str, value: &str) -> Result<(), ParameterError> {
        let name = known(name, Greediness::NAMES)?;
        let value = number(name, value)?;
        let (field, range) = if name == "alpha" { (&mut self.alpha, ALPHA) } else { (&mut self.beta, BETA) };
        within(name, value, range)?;
        *field = value;
        Ok(())
    }

    fn set_argument(&mut self, value: &str) -> Result<(), ParameterError> {
        let (alpha, beta) = value.split_once(':').map_or((value, None), |(alpha, beta)| (alpha, Some(beta)));
        self.set("alpha", alpha)?;
        beta.map_or(Ok(()), |beta| self.set("beta", beta))
    }

    fn argument(&self) -> Option<String> {
        let Greediness { alpha, beta } = self;
        let default = Greediness::default();
        match (*alpha == default.alpha, *beta == default.beta) {
            (true, true) => None,
            (false, true) => Some(alpha.to_string()),
            (_, false) => Some(format!("{alpha}:{beta}")),
        }
    }
}

impl Entry<Config> for OneSided<Greediness> {
    const NAME: &'static str = "gca";
    const ABOUT: &'static str =
        "tfrc, as greedy as you say: sqrt(ALPHA) times the throughput of a TCP at a BETA of 0.5";
    type Parameters = Greediness;

    fn start(greediness: &Greediness, config: &Config) -> Result<OneSided<Greediness>, ParameterError> {
        OneSided::within_session(config, *greediness)
    }
}
