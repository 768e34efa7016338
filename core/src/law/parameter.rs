//! Parameters of a law by name, as in `--set NAME=VALUE`.

use core::fmt;
use core::ops::{Bound, RangeBounds};

/// The error of a parameter that was refused.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum ParameterError {
    /// The law has no parameter of that name.
    Unknown {
        /// The requested name.
        name: String,
        /// The names of all parameters.
        known: &'static [&'static str],
    },
    /// The text is not a value of that parameter.
    Value {
        /// The parameter.
        name: &'static str,
        /// The given text.
        value: String,
        /// A description of valid values.
        expected: &'static str,
    },
    /// No law of the family has this name.
    Law {
        /// The given text.
        value: String,
        /// The forms of the family's laws.
        expected: String,
    },
    /// The values are inconsistent; the text says which and why.
    Refused(String),
}

impl fmt::Display for ParameterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParameterError::Unknown { name, known: [] } => write!(f, "unknown parameter '{name}'; this law has none"),
            ParameterError::Unknown { name, known } => {
                write!(f, "unknown parameter '{name}'; expected one of {}", known.join(", "))
            }
            ParameterError::Value { name, value, expected } => write!(f, "{name}: '{value}' is not {expected}"),
            ParameterError::Law { value, expected } => write!(f, "'{value}' is not {expected}"),
            ParameterError::Refused(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for ParameterError {}

/// The canonical spelling of `name` among `known`.
pub(super) fn known(name: &str, known: &'static [&'static str]) -> Result<&'static str, ParameterError> {
    known
        .iter()
        .copied()
        .find(|candidate| *candidate == name)
        .ok_or_else(|| ParameterError::Unknown { name: name.to_owned(), known })
}

/// Parses a finite number.
pub(super) fn number(name: &'static str, value: &str) -> Result<f64, ParameterError> {
    value.trim().parse().ok().filter(|number: &f64| number.is_finite()).ok_or_else(|| ParameterError::Value {
        name,
        value: value.to_owned(),
        expected: "a number",
    })
}

/// Refuses `value` unless it lies within `bounds`.
pub(crate) fn within(name: &str, value: f64, bounds: impl RangeBounds<f64>) -> Result<(), ParameterError> {
    if bounds.contains(&value) {
        return Ok(());
    }
    let least = match bounds.start_bound() {
        Bound::Included(least) => format!("at least {least}"),
        Bound::Excluded(limit) => format!("above {limit}"),
        Bound::Unbounded => "any".to_owned(),
    };
    let most = match bounds.end_bound() {
        Bound::Included(most) => format!(" and at most {most}"),
        Bound::Excluded(limit) => format!(" and below {limit}"),
        Bound::Unbounded => String::new(),
    };
    Err(ParameterError::Refused(format!("{name} must be {least}{most}, not {value}")))
}

/// The range above 0 and up to `most`.
pub(super) const fn positive(most: f64) -> (Bound<f64>, Bound<f64>) {
    (Bound::Excluded(0.0), Bound::Included(most))
}
