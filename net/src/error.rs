//! Errors that name the failed operation and the reason.

use std::fmt;
use std::io;

/// A failed operation and the reason.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Error {
    tried: String,
    reason: String,
}

impl Error {
    /// An error; `tried` names the operation, as in `input file:video.ts`.
    pub fn new(tried: impl Into<String>, reason: impl fmt::Display) -> Error {
        Error { tried: tried.into(), reason: reason.to_string() }
    }

    /// A function for `map_err` that converts errors of the kernel.
    pub fn io(tried: impl Into<String>) -> impl FnOnce(io::Error) -> Error {
        |error| Error::new(tried, plain(&error))
    }
}

/// The message of an error from the kernel or the resolver, without its number and the resolver's prefix.
pub fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.strip_prefix("failed to lookup address information: ").unwrap_or(&text);
    text.split(" (os error").next().unwrap_or_default().to_lowercase()
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.tried, self.reason)
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_names_operation_and_reason_in_one_line() {
        let error = Error::io("input file:video.ts")(io::Error::from_raw_os_error(2));
        assert_eq!(error.to_string(), "input file:video.ts: no such file or directory");
        // std's wording of EAI_NONAME, with the text of gai_strerror(3).
        let unknown = io::Error::other("failed to lookup address information: Name or service not known");
        let error = Error::io("looking up nosuch.invalid:22")(unknown);
        assert_eq!(error.to_string(), "looking up nosuch.invalid:22: name or service not known");
    }
}
