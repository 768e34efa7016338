//! Parsing of a line of a log, with checks of its values.

use std::ops::RangeInclusive;

use serde::Deserialize;
use thalweg_core::law::redundancy::MAX_RTT;
use thalweg_core::units::Seconds;

/// The one object of `line`.
pub(super) fn parsed<'a, T: Deserialize<'a>>(line: &'a [u8]) -> Result<T, String> {
    if let Some(what) = no_object(line) {
        return Err(format!("expected one JSON object, found {what}"));
    }
    serde_json::from_slice(line).map_err(|error| {
        let text = error.to_string();
        // The line within the object says nothing here; the column does.
        let what = text.split(" at line ").next().unwrap_or_default();
        let what = what
            .replace("expected u32", "expected a whole number, 0 or more")
            .replace("expected u8", "expected a whole number, 0 or more")
            .replace("expected f64", "expected a number");
        let what = what.replace("expected ident", "not JSON").replace("expected value", "not JSON");
        // A line that is cut short fails at column 0 of the next one, which says nothing.
        if error.column() == 0 { what } else { format!("{what} (column {})", error.column()) }
    })
}

/// A round-trip sample in the range that laws accept.
pub(super) fn sample(name: &str, seconds: Option<f64>) -> Result<Option<Seconds>, String> {
    if seconds.is_some_and(|seconds| !(0.0..=MAX_RTT.0).contains(&seconds)) {
        return Err(format!("{name} must be 0 to {} seconds, or null", MAX_RTT.0));
    }
    Ok(seconds.map(Seconds))
}

/// The largest number in a line, of rates, packets and other values that have no range of their own.
pub(super) const LARGEST: f64 = 1e9;

/// A value within its range.
pub(super) fn checked(name: &str, value: f64, range: RangeInclusive<f64>) -> Result<f64, String> {
    if range.contains(&value) {
        return Ok(value);
    }
    Err(format!("{name} must be {} to {}, not {value}", range.start(), range.end()))
}

/// The kind of JSON that `line` begins with, if it is no object. serde takes an array of values for the object that has
/// them.
fn no_object(line: &[u8]) -> Option<&'static str> {
    Some(match line.trim_ascii_start().first()? {
        b'[' => "an array",
        b'"' => "a string",
        b'0'..=b'9' | b'-' => "a number",
        _ => match line.trim_ascii() {
            b"null" => "null",
            b"true" | b"false" => "a boolean",
            _ => return None,
        },
    })
}
