//! A fixed rate: the baseline, and the rate of the papers' experiments.

use super::{Allowance, Config, Pacer, Report};
use crate::law::ParameterError;
use crate::law::parameter::known;
use crate::law::registry::{Argument, Entry, Parameters};
use crate::probe::{Probe, Visitor};
use crate::time::{Span, Time};
use crate::units::{Bytes, ParseUnitError, Rate};

/// Sends at the same rate whatever happens to the packets.
#[derive(Clone, PartialEq, Debug)]
pub struct Fixed {
    rate: Rate,
    pacer: Pacer,
}

impl Fixed {
    /// Packets leave at `rate`, headers included; a late caller catches up on at most `slack`.
    pub fn new(rate: Rate, slack: Span) -> Fixed {
        Fixed { rate, pacer: Pacer::new(slack) }
    }
}

/// The law's only parameter, which follows the colon.
impl Parameters for Rate {
    const NAMES: &'static [&'static str] = &["rate"];
    const ARGUMENT: Option<Argument> = Some(Argument::Required("RATE"));

    fn set(&mut self, name: &str, value: &str) -> Result<(), ParameterError> {
        known(name, Rate::NAMES)?;
        self.set_argument(value)
    }

    fn set_argument(&mut self, value: &str) -> Result<(), ParameterError> {
        *self = value.parse().map_err(|error: ParseUnitError| ParameterError::Refused(error.to_string()))?;
        Ok(())
    }

    fn argument(&self) -> Option<String> {
        Some(self.to_string())
    }
}

impl Entry<Config> for Fixed {
    const NAME: &'static str = "fixed";
    const ABOUT: &'static str = "reacts to nothing, as in fixed:40mbit";
    type Parameters = Rate;

    fn start(rate: &Rate, config: &Config) -> Result<Fixed, ParameterError> {
        Ok(Fixed::new(*rate, config.slack))
    }
}

impl Allowance for Fixed {
    fn next_send(&self, _in_flight: u32) -> Option<Time> {
        Some(self.pacer.release())
    }

    fn rate(&self, _packet: Bytes, _srtt: Span) -> Rate {
        self.rate
    }

    fn on_sent(&mut self, now: Time, size: Bytes) {
        self.pacer.sent(now, self.rate.time_for(size));
    }

    fn on_report(&mut self, _report: &Report) {}

    fn on_silence(&mut self, _now: Time, _in_flight: u32) {}
}

impl Probe for Fixed {
    /// Shows `rate` in bits a second.
    fn probe(&self, visit: &mut Visitor<'_>) {
        visit("rate", self.rate.as_bps() as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thousand_packets_of_1200_bytes_take_960_ms_at_10_mbps() {
        let mut law = Fixed::new(Rate::from_mbps(10), Span::ZERO);
        let mut now = Time::ZERO;
        for in_flight in 0..1_000 {
            now = now.max(law.next_send(in_flight).expect("always"));
            law.on_sent(now, Bytes(1_200));
        }
        assert_eq!(law.next_send(1_000), Some(Time::ZERO + Span::from_millis(960)));
    }
}
