//! The forecast of a path: the loss and the round trip of the next period (§2).

use std::collections::VecDeque;

use crate::law::ParameterError;
use crate::law::predict::{Choice, Law, Predictor};
use crate::units::Seconds;

/// The greatest predicted loss: with all packets lost no rate would meet the target.
const MOST_LOSS: f64 = 0.95;
/// The measured round trips by which a prediction is bounded.
const RECENT: usize = 10;
/// The minimum length of a flow control period: a shorter one holds too few packets to measure.
pub const LEAST_PERIOD: Seconds = Seconds(0.1);

/// Two predictors, one for each quantity.
#[derive(Clone, PartialEq, Debug)]
pub struct Forecast {
    loss: Law,
    rtt: Law,
    recent: VecDeque<f64>,
}

impl Forecast {
    /// Predictors of the kind that `choice` names, before the first measurement.
    ///
    /// # Errors
    /// Its parameters are out of their range.
    pub fn new(choice: &Choice) -> Result<Forecast, ParameterError> {
        let start = || Law::new(choice, &());
        Ok(Forecast { loss: start()?, rtt: start()?, recent: VecDeque::with_capacity(RECENT + 1) })
    }

    /// Takes the measurements of a period. A period in which nothing was expected has no loss, and one that no new group
    /// of packets reached no round trip.
    pub fn measure(&mut self, p: Option<f64>, d: Option<Seconds>) {
        if let Some(p) = p {
            self.loss.observe(p);
        }
        if let Some(d) = d {
            self.rtt.observe(d.0);
            self.recent.push_back(d.0);
            if self.recent.len() > RECENT {
                self.recent.pop_front();
            }
        }
    }

    /// p: the predicted loss, from 0 to 0.95.
    // Reading(R3CP+ Eq. (7)): a prediction is bounded where it is used, and not in the filter, which needs its own errors.
    pub fn loss(&self) -> f64 {
        self.loss.prediction().clamp(0.0, MOST_LOSS)
    }

    /// d: the predicted round trip, from half of the least to twice the greatest of the last ten; none before the first.
    pub fn rtt(&self) -> Option<Seconds> {
        let least = self.recent.iter().copied().reduce(f64::min)?;
        let greatest = self.recent.iter().copied().reduce(f64::max)?;
        Some(Seconds(self.rtt.prediction().max(0.5 * least).min(2.0 * greatest)))
    }

    /// The length of the next period: the predicted round trip, at least 0.1 s; none before the first.
    pub fn period(&self) -> Option<Seconds> {
        self.rtt().map(|rtt| Seconds(rtt.0.max(LEAST_PERIOD.0)))
    }
}
