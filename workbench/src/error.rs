//! Errors: the failed operation and the reason, in one line.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use thalweg_lab::scenario::plain;

/// The reason why runs cannot be performed, or their results not be written.
#[derive(Debug)]
pub enum Error {
    /// A parameter that the scenario does not have, or a value that it cannot have.
    Parameter(String),
    /// A scenario that does not exist, or has a fault.
    Scenario(String),
    /// A run that is impossible, or has found a fault of the lab.
    Run(String),
    /// A file that could not be read or written.
    File(FileError),
    /// A part of a sweep that is damaged, or of another version of the lab than the others.
    Part(String),
    /// The reader of the results is gone, and nothing else needs them.
    Unread,
}

/// A file that could not be read or written.
#[derive(Debug)]
pub struct FileError {
    /// The failed operation, `read` or `write`.
    pub operation: &'static str,
    /// The file.
    pub file: PathBuf,
    /// The reason.
    pub reason: io::Error,
}

impl FileError {
    /// A function for `map_err` after a write.
    pub fn writing(file: &Path) -> impl FnOnce(io::Error) -> FileError {
        |reason| FileError { operation: "write", file: file.to_owned(), reason }
    }

    /// A function for `map_err` after a read.
    pub fn reading(file: &Path) -> impl FnOnce(io::Error) -> FileError {
        |reason| FileError { operation: "read", file: file.to_owned(), reason }
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot {} {}: {}", self.operation, self.file.display(), plain(&self.reason))
    }
}

impl std::error::Error for FileError {}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Parameter(why) | Error::Scenario(why) | Error::Run(why) | Error::Part(why) => f.write_str(why),
            Error::File(error) => error.fmt(f),
            Error::Unread => f.write_str("the reader of the results is gone"),
        }
    }
}

impl std::error::Error for Error {}

impl From<FileError> for Error {
    fn from(error: FileError) -> Error {
        Error::File(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_error_names_the_operation_the_file_and_the_reason_in_one_line() {
        let error = FileError::writing(Path::new("out/summary.csv"))(io::Error::from_raw_os_error(28));
        assert_eq!(error.to_string(), "cannot write out/summary.csv: no space left on device");
    }
}
