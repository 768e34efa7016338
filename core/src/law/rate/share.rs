//! Shares of one link among streams, by their needs: from the bit rates that streams need to the [`Greediness`] of each.
//! GCA's paper leaves this to its readers; all of it is ours.
//!
//! Each stream is to get the same share of its need. Stream i needs D_i; a TCP with its round trip and loss event rate
//! would get X1(R_i, p_i), Eq. (1). So it has to be M_i = c D_i / X1(R_i, p_i) times as greedy as a TCP, and with β = 1/2
//! and α_i = M_i² it is, for every p. A [`Norm`] determines c.
//!
//! | here | |
//! |---|---|
//! | [`multipliers`] | M_i of streams whose round trips and loss event rates are given, or are taken to be equal |
//! | [`Greediness::times`](super::gca::Greediness::times) | α_i and β of M_i |
//! | [`Group`] | streams that come and go; M_i is solved anew each second, from the averages of ten |
//! | [`Coupling`] | needs alone, needs and measurements, or the rival: RFC 8699 |
//! | [`need_of_screen`] | D_i of a screen |
//! | [`link`] | the rates at which flows of given parameters share a link, if all have the same loss event rate |
//!
//! Round trips and loss event rates are not equal on a link that is short: a faster stream sees a lower loss event rate,
//! so that needs of 9 : 6 : 3 with fixed M_i result in rates of about 4 : 2.4 : 1. With measured values they result in
//! 3 : 2 : 1.
//!
//! A stream whose round trips do not move with those of the others has its bottleneck to itself: what it leaves there
//! reaches none of the others. Such a stream is reported, and runs as `gca:1` until they move together again. [`Group`]
//! compares its round trips with the mean of the others' by their correlation. Loss event rates decide nothing: those of
//! streams behind one drop-tail queue are correlated by less than 0.2 for ten seconds and more.

mod group;
pub mod link;
mod screen;
mod series;
#[cfg(test)]
mod tests;

pub use group::{Coupling, Event, Group, Id};
pub use screen::need_of_screen;

use core::fmt;
use core::ops::Bound;
use core::str::FromStr;

use super::gca::Greediness;
use super::tfrc::{Equation, MAX_RTT, TcpThroughput};
use crate::law::ParameterError;
use crate::law::parameter::{positive, within};
use crate::time::Span;
use crate::units::{Bytes, Seconds};

/// The largest M_i of a running stream. Ours: nine times the α of a TCP; a stream that needs more than its link has would
/// otherwise starve all others.
pub const MOST: f64 = 3.0;
/// The smallest M_i of a running stream, that of the smallest α.
pub const LEAST: f64 = 0.1;
/// The time between two measurements that the owner of a [`Group`] passes to it. Ours: five in each quarter of a second, over
/// which streams are compared.
pub const MEASUREMENT_INTERVAL: Span = Span::from_millis(50);

/// The normalisation of the multipliers: the choice of c.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Norm {
    /// The mean of all M_i is 1: n streams together are as greedy as n TCPs.
    #[default]
    Sum,
    /// The largest M_i is 1: no stream is greedier than a TCP.
    Max,
    /// The smallest M_i is 1: no stream is less greedy than a TCP.
    Min,
}

impl Norm {
    /// Every normalisation, with its name.
    const ALL: [(Norm, &str); 3] = [(Norm::Sum, "sum"), (Norm::Max, "max"), (Norm::Min, "min")];

    /// The value that is to be 1, of multipliers up to a factor.
    fn of(self, multipliers: &[f64]) -> f64 {
        let multipliers = multipliers.iter().copied();
        match self {
            Norm::Sum => multipliers.clone().sum::<f64>() / multipliers.len() as f64,
            Norm::Max => multipliers.fold(0.0, f64::max),
            Norm::Min => multipliers.fold(f64::INFINITY, f64::min),
        }
    }
}

impl FromStr for Norm {
    type Err = ParameterError;

    fn from_str(text: &str) -> Result<Norm, ParameterError> {
        let named = Norm::ALL.into_iter().find(|(_, name)| *name == text).map(|(norm, _)| norm);
        let expected = || "sum, max or min".to_owned();
        named.ok_or_else(|| ParameterError::Law { value: text.to_owned(), expected: expected() })
    }
}

impl fmt::Display for Norm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = Norm::ALL.into_iter().find(|(norm, _)| norm == self);
        f.write_str(named.map_or("", |(_, name)| name))
    }
}

/// A stream's need, and the state of its path.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Need {
    /// D: the average bit rate that the stream needs, above 0, in any unit that all streams share.
    pub demand: f64,
    /// R: the round trip, above 0, at most an hour.
    pub rtt: Seconds,
    /// p: the loss event rate, above 0, at most 1.
    pub p: f64,
}

impl Need {
    /// A need on a path like that of all other streams.
    pub fn alone(demand: f64) -> Need {
        Need { demand, rtt: Seconds(1.0), p: 1.0 }
    }

    /// Checks the ranges of all values.
    ///
    /// # Errors
    /// The value that is out of its range.
    pub fn check(&self) -> Result<(), ParameterError> {
        within("demand", self.demand, positive(1e15))?;
        within("rtt", self.rtt.0, positive(MAX_RTT.as_secs_f64()))?;
        within("p", self.p, positive(1.0))
    }
}

/// M_i of all streams, in the order of `needs`.
///
/// # Errors
/// There is no stream, or a value is out of its range.
pub fn multipliers(needs: &[Need], norm: Norm) -> Result<Vec<f64>, ParameterError> {
    if needs.is_empty() {
        return Err(ParameterError::Refused("demand: no stream is given; give the need of at least one".to_owned()));
    }
    needs.iter().try_for_each(Need::check)?;
    // The size of a packet is that of all: it cancels.
    let tcp = |need: &Need| TcpThroughput::default().rate(Bytes(1), need.rtt, need.p);
    let mut multipliers: Vec<f64> = needs.iter().map(|need| need.demand / tcp(need)).collect();
    let one = norm.of(&multipliers);
    multipliers.iter_mut().for_each(|multiplier| *multiplier /= one);
    Ok(multipliers)
}

impl Greediness {
    /// The greediness of `multiplier` times the rate of a TCP, for every p: α = M² at β = 1/2.
    ///
    /// # Errors
    /// The multiplier is not above 0.
    pub fn times(multiplier: f64) -> Result<Greediness, ParameterError> {
        within("m", multiplier, (Bound::Excluded(0.0), Bound::Unbounded))?;
        Greediness::new(multiplier * multiplier, 0.5)
    }
}
