//! The opportunistic law ("no cost" in the paper's tables): Y. Huang, S. Mehrotra, J. Li, "A hybrid FEC-ARQ protocol
//! for low-delay lossless sequential data streaming", ICME 2009, as §IV describes it.
//!
//! A lost original that nothing in flight can replace is retransmitted; else a new original is sent; and if none waits,
//! every free opportunity carries a combination of all originals sent.

use super::{Config, Decision, LARGEST, ParameterError, Queue, Schedule, View, parameter};
use crate::law::registry::{self, Entry};
use crate::probe::{Probe, Visitor};

/// Repair only in free opportunities.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Opportunistic {
    cap: Option<f64>,
}

/// The parameters of the law.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Parameters {
    /// The bound of [`Opportunistic::capped`]; the paper has none.
    pub cap: Option<f64>,
}

impl registry::Parameters for Parameters {
    const NAMES: &'static [&'static str] = &["cap"];

    fn set(&mut self, name: &str, value: &str) -> Result<(), ParameterError> {
        parameter::known(name, <Parameters as registry::Parameters>::NAMES)?;
        self.cap = Some(parameter::number("cap", value)?);
        Ok(())
    }
}

impl Opportunistic {
    /// The law as in the paper.
    pub fn new() -> Opportunistic {
        Opportunistic::default()
    }

    /// Leaves a free opportunity unused while combinations in flight are at least `cap` of the originals sent and in
    /// doubt.
    ///
    /// # Errors
    /// `cap` is not positive.
    pub fn capped(cap: f64) -> Result<Opportunistic, ParameterError> {
        parameter::within("cap", cap, parameter::positive(1e6))?;
        Ok(Opportunistic { cap: Some(cap) })
    }
}

impl Entry<Config> for Opportunistic {
    const NAME: &'static str = "opportunistic";
    const ABOUT: &'static str = "repairs whenever nothing else is to be sent";
    type Parameters = Parameters;

    fn start(parameters: &Parameters, _config: &Config) -> Result<Opportunistic, ParameterError> {
        parameters.cap.map_or(Ok(Opportunistic::new()), Opportunistic::capped)
    }
}

impl Schedule for Opportunistic {
    fn choose(&mut self, view: &View<'_>) -> Decision {
        let queue = view.queue;
        match queue.first_missing() {
            Some(original) if is_short(queue) => Decision::resend(original),
            _ if queue.m() > 0 => Decision::NEW,
            _ if queue.n() == 0 || is_full(queue, self.cap) => Decision::IDLE,
            _ => Decision::repair(queue, (queue.d() - 1).min(queue.b() + LARGEST as u64 - 1), 0.0),
        }
    }
}

impl Probe for Opportunistic {
    /// Shows `cap`.
    fn probe(&self, visit: &mut Visitor<'_>) {
        visit("cap", self.cap.unwrap_or(f64::INFINITY));
    }
}

/// True if enough combinations are in flight.
pub(super) fn is_full(queue: &Queue, cap: Option<f64>) -> bool {
    cap.is_some_and(|cap| queue.coded_in_flight() as f64 >= cap * queue.n() as f64)
}

/// True if something would still be missing if all packets in flight arrived.
fn is_short(queue: &Queue) -> bool {
    let deficiency = queue.in_doubt().fold(0, |deficiency: u64, place| {
        let covered = u64::from(place.coded) + u64::from(place.coded_arrived);
        (deficiency + u64::from(place.is_missing())).saturating_sub(covered)
    });
    deficiency > 0
}

#[cfg(test)]
mod tests {
    use super::super::channel::Channel;
    use super::super::queues::in_flight;
    use super::super::{Next, Path};
    use super::*;
    use crate::time::{Span, Time};

    /// RFC 8681 §4.1.3 bounds the originals of a combination; B is 1.
    #[test]
    fn no_combination_covers_more_than_the_code_allows() {
        let queue = in_flight(5_000, 0);
        let (rtt, slot) = (Span::from_secs(5), Span::from_millis(1));
        let path = Path { eps: 0.1, channel: Channel::independent(0.1), rtt, slot };
        let view = View { now: Time::ZERO, queue: &queue, path };
        assert_eq!(Opportunistic::new().choose(&view).next, Next::Repair { last: 4_095 });
    }
}
