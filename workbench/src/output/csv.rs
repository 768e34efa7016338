//! Cells of CSV files, and rows as JSON.

use serde_json::{Map, Number, Value};

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

/// A row of a file with this header as JSON: values of its first columns, and numbers for the others; null where a cell
/// is empty.
pub(super) fn object(header: &str, head: Vec<Value>, cells: impl Iterator<Item = String>) -> Value {
    let numbers = cells.map(|cell| cell.parse::<Number>().map_or(Value::Null, Value::Number));
    let names = header.trim_end().split(',').map(str::to_owned);
    Value::Object(names.zip(head.into_iter().chain(numbers)).collect::<Map<_, _>>())
}
