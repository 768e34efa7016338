//! A line of a log, and what can be believed of it.

use serde::Deserialize;
use thalweg_core::law::redundancy::MAX_RTT;
use thalweg_core::units::Seconds;

/// The one object of `line`.
pub(super) fn parsed<'a, T: Deserialize<'a>>(line: &'a [u8]) -> Result<T, String> {
    if let Some(what) = no_object(line) {
        return Err(format!("this is {what}: a line is one JSON object"));
    }
    serde_json::from_slice(line).map_err(|error| {
        let text = error.to_string();
        // The line within the object says nothing here; the column does.
        let what = text.split(" at line ").next().unwrap_or_default();
        let what = what
            .replace("expected u32", "expected a whole number, 0 or more")
            .replace("expected f64", "expected a number");
        let what = what.replace("expected ident", "this is no JSON").replace("expected value", "this is no JSON");
        // What was found missing behind the object has no place in it.
        if error.column() == 0 { what } else { format!("{what} (column {})", error.column()) }
    })
}

/// A round-trip sample that a law can believe.
pub(super) fn sample(name: &str, seconds: Option<f64>) -> Result<Option<Seconds>, String> {
    if seconds.is_some_and(|seconds| !(0.0..=MAX_RTT.0).contains(&seconds)) {
        return Err(format!("{name} must be 0 to {} seconds, or null", MAX_RTT.0));
    }
    Ok(seconds.map(Seconds))
}

/// What `line` begins with, if that is JSON but no object. serde takes an array for the object whose values it has.
fn no_object(line: &[u8]) -> Option<&'static str> {
    Some(match line.trim_ascii_start().first()? {
        b'[' => "an array",
        b'"' => "a string",
        b'0'..=b'9' | b'-' => "a number",
        _ => match line.trim_ascii() {
            b"null" => "null",
            b"true" | b"false" => "a truth value",
            _ => return None,
        },
    })
}
