//! Static FEC, the baseline of GENEVA §4.1: the same number of repair packets for every block, 8 or 12 in the paper.

use super::parameter::{known, number, positive, within};
use super::{LossReport, ParameterError, Redundancy};
use crate::law::registry::{self, Argument, Entry};
use crate::probe::{Probe, Visitor};
use crate::units::Seconds;

/// The same number of repair packets regardless of reports.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Fixed(Parameters);

/// The number of repair packets, and the block that its probe assumes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Parameters {
    /// Repair packets of a block. 0 to 65535.
    pub repair: u32,
    /// Source packets of a block, used only for the gap. Above 0, at most 65535.
    pub k: f64,
    /// Length of a block, used only for the gap.
    pub syn: Seconds,
}

impl Default for Parameters {
    /// 8 packets, beside the 25 source packets in 10 ms of a 30 Mb/s stream.
    fn default() -> Parameters {
        Parameters { repair: 8, k: 25.0, syn: Seconds(0.01) }
    }
}

impl Parameters {
    /// `repair` packets per block.
    pub fn of(repair: u32) -> Parameters {
        Parameters { repair, ..Parameters::default() }
    }
}

impl registry::Parameters for Parameters {
    const NAMES: &'static [&'static str] = &["repair", "k"];
    const ARGUMENT: Option<Argument> = Some(Argument::Required("N"));

    fn set(&mut self, name: &str, value: &str) -> Result<(), ParameterError> {
        let name = known(name, <Parameters as registry::Parameters>::NAMES)?;
        let value = number(name, value)?;
        if name == "k" {
            within("k", value, positive(65535.0))?;
            self.k = value;
            return Ok(());
        }
        within("repair", value, 0.0..=65535.0)?;
        if value.fract() != 0.0 {
            return Err(ParameterError::Refused(format!("repair = {value} is not a whole number of packets")));
        }
        self.repair = value as u32;
        Ok(())
    }

    fn set_argument(&mut self, value: &str) -> Result<(), ParameterError> {
        let expected = "a whole number of packets";
        let refused = |_| ParameterError::Value { name: "static:N", value: value.to_owned(), expected };
        self.repair = value.parse().map_err(refused)?;
        Ok(())
    }

    fn argument(&self) -> Option<String> {
        Some(self.repair.to_string())
    }
}

impl Fixed {
    /// `repair` packets per block.
    pub fn new(repair: u32) -> Fixed {
        Fixed(Parameters::of(repair))
    }
}

impl Entry<()> for Fixed {
    const NAME: &'static str = "static";
    const ABOUT: &'static str = "N packets for each 10 ms, or for the time of 21 packets if that is longer";
    type Parameters = Parameters;

    fn start(parameters: &Parameters, _config: &()) -> Result<Fixed, ParameterError> {
        Ok(Fixed(*parameters))
    }
}

impl Redundancy for Fixed {
    fn on_report(&mut self, _report: &LossReport) {}

    fn repair(&self) -> u32 {
        self.0.repair
    }

    fn bounds(&self) -> (f64, f64) {
        (self.0.repair.into(), self.0.repair.into())
    }
}

impl Probe for Fixed {
    fn probe(&self, visit: &mut Visitor<'_>) {
        let Parameters { repair, k, syn } = self.0;
        visit("repair", f64::from(repair));
        visit("ipg", syn.0 / (f64::from(repair) + k));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::registry::Parameters as _;

    #[test]
    fn heavy_loss_leaves_the_window_where_it_was() {
        let mut law = Fixed::default();
        law.on_report(&LossReport { lost: 33, srtt: Some(Seconds(0.1)), ..LossReport::default() });
        assert_eq!(law.repair(), 8);
        // (8 + 25) packets in 10 ms.
        let mut gap = f64::NAN;
        law.probe(&mut |name, value| {
            if name == "ipg" {
                gap = value;
            }
        });
        assert!((gap - 0.01 / 33.0).abs() < 1e-15);
    }

    #[test]
    fn settings_are_checked() {
        let mut parameters = Parameters::default();
        parameters.set("repair", "12").unwrap();
        assert_eq!(Fixed(parameters).repair(), 12);
        for (name, value) in [("repair", "-1"), ("repair", "8.5"), ("k", "0"), ("k", "nan"), ("k", "x"), ("f", "8")] {
            assert!(parameters.set(name, value).is_err(), "{name}={value}");
        }
    }
}
