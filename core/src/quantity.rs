//! Quantities as text: a number followed by a unit.

use core::fmt;

/// The error of a quantity that could not be parsed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParseUnitError {
    text: String,
    expected: &'static str,
}

impl ParseUnitError {
    pub(crate) fn new(text: &str, expected: &'static str) -> ParseUnitError {
        ParseUnitError { text: text.to_owned(), expected }
    }
}

impl fmt::Display for ParseUnitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}' is not {}", self.text, self.expected)
    }
}

impl std::error::Error for ParseUnitError {}

/// Parses a non-negative number followed by one of `units`; the result is the number times the unit's factor.
pub(crate) fn split_unit(text: &str, units: &[(&str, f64)], expected: &'static str) -> Result<f64, ParseUnitError> {
    let error = || ParseUnitError::new(text, expected);
    let at = text.find(|c: char| !c.is_ascii_digit() && c != '.').ok_or_else(error)?;
    let (number, unit) = text.split_at(at);
    let value: f64 = number.parse().map_err(|_| error())?;
    let factor = units.iter().find(|(name, _)| unit.trim().eq_ignore_ascii_case(name)).ok_or_else(error)?.1;
    let scaled = value * factor;
    // 2^63 nanoseconds is the smallest bound that any quantity here has.
    if scaled.is_finite() && scaled < 9.2e18 { Ok(scaled) } else { Err(error()) }
}
