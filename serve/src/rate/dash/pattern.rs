//! Names of files, as templates give them.

use thalweg_core::units::Rate;

use crate::link::MAX_NAME;

/// The placeholder for a number in a [`FilePattern`]; XML has no such character.
const NUMBER: char = '\0';

/// The name of a file, or of many that differ in numbers.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct FilePattern(String);

impl FilePattern {
    pub(super) fn new(path: String) -> FilePattern {
        FilePattern(path)
    }

    /// True if `file`, relative to the served folder, is meant.
    pub fn is(&self, file: &str) -> bool {
        let mut pieces = self.0.split(NUMBER);
        let Some(mut rest) = pieces.next().and_then(|first| file.strip_prefix(first)) else { return false };
        for piece in pieces {
            let behind = rest.trim_start_matches(|c: char| c.is_ascii_digit());
            match behind.strip_prefix(piece) {
                Some(next) if behind.len() < rest.len() => rest = next,
                _ => return false,
            }
        }
        rest.is_empty()
    }

    /// The common beginning of the names of all files; the whole name, if only one is meant.
    pub fn start(&self) -> &str {
        self.0.split(NUMBER).next().unwrap_or_default()
    }

    /// The length in bytes.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// True if one file alone is meant.
    pub fn is_one(&self) -> bool {
        !self.0.contains(NUMBER)
    }
}

/// Fills the known values into a template (§5.3.9.4.4); none if the result is too long for a file name.
pub(super) fn fill(template: &str, id: &str, rate: Rate) -> Option<String> {
    let mut filled = String::new();
    for (nth, piece) in template.split('$').enumerate() {
        match piece {
            "" if nth % 2 == 1 => filled.push('$'),
            _ if nth % 2 == 0 => filled += piece,
            "RepresentationID" => filled += id,
            "Bandwidth" => filled += &rate.as_bps().to_string(),
            _ => filled.push(NUMBER),
        }
        if filled.len() > MAX_NAME {
            return None;
        }
    }
    Some(filled)
}
