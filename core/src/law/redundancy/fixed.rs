//! Static FEC, the baseline of GENEVA §4.1: the same number of repair packets for every block, 8 or 12 in the paper.

use super::parameter::{known, number, positive, within};
use super::{LossReport, ParameterError, Redundancy};
use crate::probe::{Probe, Visitor};
use crate::units::Seconds;

/// The same window whatever the reports say.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Fixed {
    repair: u32,
    k: f64,
    syn: Seconds,
}

impl Default for Fixed {
    fn default() -> Fixed {
        Fixed::new(8)
    }
}

impl Fixed {
    /// The parameters that [`Fixed::set`] knows.
    pub const NAMES: &'static [&'static str] = &["repair", "k"];

    /// `repair` packets a block, beside the 25 source packets in 10 ms of a 30 Mb/s stream.
    pub fn new(repair: u32) -> Fixed {
        Fixed { repair, k: 25.0, syn: Seconds(0.01) }
    }

    /// Sets `repair` (0 to 65535 packets) or `k` (source packets of a block, which only the gap reads).
    ///
    /// # Errors
    /// The name is not known or the value out of range.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), ParameterError> {
        let name = known(name, Fixed::NAMES)?;
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
}

impl Redundancy for Fixed {
    fn on_report(&mut self, _report: &LossReport) {}

    fn repair(&self) -> u32 {
        self.repair
    }
}

impl Probe for Fixed {
    fn probe(&self, visit: &mut Visitor<'_>) {
        visit("repair", f64::from(self.repair));
        visit("ipg", self.syn.0 / (f64::from(self.repair) + self.k));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let mut law = Fixed::default();
        law.set("repair", "12").unwrap();
        assert_eq!(law.repair(), 12);
        for (name, value) in [("repair", "-1"), ("repair", "8.5"), ("k", "0"), ("k", "nan"), ("k", "x"), ("f", "8")] {
            assert!(law.set(name, value).is_err(), "{name}={value}");
        }
    }
}
