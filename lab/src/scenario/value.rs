//! Values of parameters and expressions.

use core::fmt;

/// The value of a parameter.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// A number; it must be whole where the file needs a whole one.
    Number(f64),
    /// Text, which expressions use as a whole.
    Text(String),
    /// True or false.
    Flag(bool),
}

impl Value {
    /// The kind of the value, with its article.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Value::Number(_) => "a number",
            Value::Text(_) => "text",
            Value::Flag(_) => "true or false",
        }
    }

    /// Parses another value of the same kind.
    pub(super) fn read(&self, text: &str) -> Option<Value> {
        match self {
            Value::Number(_) => text.parse().ok().filter(|number: &f64| number.is_finite()).map(Value::Number),
            Value::Text(_) => Some(Value::Text(text.to_owned())),
            Value::Flag(_) => text.parse().ok().map(Value::Flag),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Number(number) => write!(f, "{number}"),
            Value::Text(text) => f.write_str(text),
            Value::Flag(flag) => write!(f, "{flag}"),
        }
    }
}
