//! What the paper leaves open, or contradicts.

use core::str::FromStr;

use crate::law::ParameterError;
use crate::law::parameter::known;

/// alpha and beta.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Thresholds {
    /// 2 and 4 segments above the ceiling, Eq. (4) as printed: by delay alone the rate settles at Rate RTT / (RTT - tau).
    #[default]
    Paper,
    /// 2 and 4 segments, as Vegas has them: dwnd goes down to nothing beside TCP that fills the queue, as §4 tells it.
    // Deviation(TCP Stream Eq. (4)): the ceiling in alpha and beta contradicts the text; without it the text comes true.
    Vegas,
}

/// What a loss leaves of the delay window, of which the paper says nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum OnLoss {
    /// Nothing.
    #[default]
    Reset,
    /// Half. A timeout leaves nothing all the same.
    Halve,
}

/// What the paper leaves open.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Variant {
    /// alpha and beta.
    pub thresholds: Thresholds,
    /// The delay window after a loss.
    pub on_loss: OnLoss,
}

impl Variant {
    /// The names that [`Variant::set`] knows.
    pub const NAMES: &'static [&'static str] = &["thresholds", "on_loss"];

    /// Sets `thresholds` (`paper`, `vegas`) or `on_loss` (`reset`, `halve`) from text.
    ///
    /// # Errors
    /// There is no such parameter, or no such value of it.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), ParameterError> {
        match known(name, Variant::NAMES)? {
            "thresholds" => self.thresholds = value.parse()?,
            _ => self.on_loss = value.parse()?,
        }
        Ok(())
    }
}

impl FromStr for Thresholds {
    type Err = ParameterError;

    fn from_str(text: &str) -> Result<Thresholds, ParameterError> {
        match text {
            "paper" => Ok(Thresholds::Paper),
            "vegas" => Ok(Thresholds::Vegas),
            _ => Err(refused("thresholds", text, "paper or vegas")),
        }
    }
}

impl FromStr for OnLoss {
    type Err = ParameterError;

    fn from_str(text: &str) -> Result<OnLoss, ParameterError> {
        match text {
            "reset" => Ok(OnLoss::Reset),
            "halve" => Ok(OnLoss::Halve),
            _ => Err(refused("on_loss", text, "reset or halve")),
        }
    }
}

fn refused(name: &'static str, value: &str, expected: &'static str) -> ParameterError {
    ParameterError::Value { name, value: value.to_owned(), expected }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variant_is_told_in_words_and_refused_with_its_reason() {
        let mut variant = Variant::default();
        assert_eq!(variant, Variant { thresholds: Thresholds::Paper, on_loss: OnLoss::Reset });
        variant.set("thresholds", "vegas").expect("a value");
        variant.set("on_loss", "halve").expect("a value");
        assert_eq!(variant, Variant { thresholds: Thresholds::Vegas, on_loss: OnLoss::Halve });
        for (name, value, why) in [
            ("thresholds", "reno", "paper or vegas"),
            ("on_loss", "keep", "reset or halve"),
            ("alpha", "2", "known are"),
        ] {
            let error = variant.set(name, value).expect_err(value).to_string();
            assert!(error.contains(why), "{name}={value}: {error}");
        }
    }
}
