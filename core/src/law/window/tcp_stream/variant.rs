//! Variants where the paper is silent or contradicts itself.

use core::str::FromStr;

use crate::law::ParameterError;
use crate::law::parameter::known;
use crate::law::registry::Parameters;

/// The values of alpha and beta.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Thresholds {
    /// 2 and 4 segments above the ceiling, Eq. (4) as printed: by delay alone the rate settles at Rate RTT / (RTT -
    /// tau).
    #[default]
    Paper,
    /// 2 and 4 segments, as in Vegas: dwnd falls to zero beside a queue-filling TCP, as §4 describes.
    // Deviation(TCP Stream Eq. (4)): the ceiling in alpha and beta contradicts the text; without it the text is true.
    Vegas,
}

/// The effect of a loss on the delay window, which the paper does not give.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum OnLoss {
    /// It becomes zero.
    #[default]
    Reset,
    /// It is halved. A timeout sets it to zero all the same.
    Halve,
}

/// The choices that the paper leaves open.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Variant {
    /// The values of alpha and beta.
    pub thresholds: Thresholds,
    /// The delay window after a loss.
    pub on_loss: OnLoss,
}

impl Parameters for Variant {
    const NAMES: &'static [&'static str] = &["thresholds", "on_loss"];

    /// Sets `thresholds` (`paper`, `vegas`) or `on_loss` (`reset`, `halve`) from text.
    fn set(&mut self, name: &str, value: &str) -> Result<(), ParameterError> {
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
    fn variant_is_parsed_and_refused_with_a_reason() {
        let mut variant = Variant::default();
        assert_eq!(variant, Variant { thresholds: Thresholds::Paper, on_loss: OnLoss::Reset });
        variant.set("thresholds", "vegas").expect("a value");
        variant.set("on_loss", "halve").expect("a value");
        assert_eq!(variant, Variant { thresholds: Thresholds::Vegas, on_loss: OnLoss::Halve });
        for (name, value, why) in [
            ("thresholds", "reno", "paper or vegas"),
            ("on_loss", "keep", "reset or halve"),
            ("alpha", "2", "one of thresholds"),
        ] {
            let error = variant.set(name, value).expect_err(value).to_string();
            assert!(error.contains(why), "{name}={value}: {error}");
        }
    }
}
