//! Cells of CSV files.

/// A number in CSV; empty if it is not finite.
pub(super) fn cell(value: f64) -> String {
    if value.is_finite() { value.to_string() } else { String::new() }
}

/// Text in CSV (RFC 4180 §2).
pub(super) fn quoted(text: &str) -> String {
    match text.contains(['"', ',', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}
