//! Faults of a scenario, and their places.

use core::fmt;
use core::ops::Range;

/// The reason why a scenario cannot be used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Error {
    file: String,
    line: Option<usize>,
    message: String,
    of_settings: bool,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Error { file, line, message, .. } = self;
        match line {
            Some(line) => write!(f, "{file}:{line}: {message}"),
            None => write!(f, "{file}: {message}"),
        }
    }
}

impl std::error::Error for Error {}

impl Error {
    /// An error of a whole file.
    pub(super) fn of(file: &str, message: String) -> Error {
        Error { file: file.to_owned(), line: None, message, of_settings: false }
    }

    /// True if the settings are wrong, rather than the file.
    pub fn is_of_settings(&self) -> bool {
        self.of_settings
    }
}

/// An error and its place in the text.
pub(super) struct Fault {
    span: Option<Range<usize>>,
    message: String,
    of_settings: bool,
}

impl Fault {
    pub(super) fn at(span: &Range<usize>, message: impl Into<String>) -> Fault {
        Fault { span: Some(span.clone()), message: message.into(), of_settings: false }
    }

    /// Adds `also` to the known fields in the message if the unknown field is one of `keys`.
    pub(super) fn expecting(mut self, keys: &[String], also: &[&str]) -> Fault {
        let mut words = self.message.split('`').skip(1).step_by(2);
        let unknown = words.next().filter(|key| keys.iter().any(|own| own == key));
        if let Some(unknown) = unknown.filter(|_| self.message.starts_with("unknown field `")) {
            let known: Vec<String> = words.chain(also.iter().copied()).map(|key| format!("`{key}`")).collect();
            self.message = format!("unknown field `{unknown}`, expected one of {}", known.join(", "));
        }
        self
    }

    /// A fault of the settings, which are not in the text.
    pub(super) fn of_settings(message: String) -> Fault {
        Fault { span: None, message, of_settings: true }
    }

    /// The same fault, placed at `span` if its place is unknown.
    pub(super) fn or_at(self, span: &Range<usize>) -> Fault {
        match self.of_settings {
            true => self,
            false => Fault { span: self.span.or_else(|| Some(span.clone())), ..self },
        }
    }

    /// The error for display, of the file called `name` whose content is `text`.
    pub(super) fn in_file(self, name: &str, text: &str) -> Error {
        let lines_before = |at: usize| text.as_bytes().iter().take(at).filter(|byte| **byte == b'\n').count();
        let Fault { span, message, of_settings } = self;
        // A value that replaced an expression is not in the file: the expression is.
        let source = span.clone().and_then(|span| text.get(span)).map(|source| source.trim_matches(['"', '\'']));
        let message = match source.filter(|source| !source.contains('\n')) {
            Some(expression) if expression.starts_with('=') => format!("{message}, from '{}'", short(expression)),
            // The library does not name the key.
            Some(key) if message == "duplicate key" => format!("'{key}' is given twice in its section"),
            _ => message,
        };
        let line = span.map(|span| 1 + lines_before(span.start));
        Error { file: name.to_owned(), line, message, of_settings }
    }
}

impl From<toml::de::Error> for Fault {
    fn from(error: toml::de::Error) -> Fault {
        // The library puts its expectation on a second line.
        let message = error.message().trim_end().replace('\n', ", ");
        Fault { span: error.span(), message: in_words(message), of_settings: false }
    }
}

/// The beginning of a text that is too long for a message.
fn short(text: &str) -> String {
    match text.char_indices().nth(MOST_SHOWN) {
        Some((at, _)) => format!("{}...", &text[..at]),
        None => text.to_owned(),
    }
}

/// The maximum number of characters of an expression in an error: a line of a terminal or two.
const MOST_SHOWN: usize = 120;

/// A message without Rust's names for types of numbers.
fn in_words(message: String) -> String {
    let Some((what, expected)) = message.rsplit_once(", expected ") else { return message };
    let number = match expected {
        "u8" => format!("a whole number from 0 to {}", u8::MAX),
        "u16" => format!("a whole number from 0 to {}", u16::MAX),
        "u32" => format!("a whole number from 0 to {}", u32::MAX),
        "u64" | "usize" => "a whole number from 0 on".to_owned(),
        "f64" => "a number".to_owned(),
        "a boolean" => "true or false".to_owned(),
        _ => return message,
    };
    format!("{what}, expected {number}")
}
