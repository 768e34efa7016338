//! What was tried and why it failed.

use std::fmt;
use std::io;

/// An operation that the machine refused.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Error {
    tried: String,
    reason: String,
}

impl Error {
    /// `tried` says what was being done, as in `input file:film.ts`.
    pub fn new(tried: impl Into<String>, reason: impl fmt::Display) -> Error {
        Error { tried: tried.into(), reason: reason.to_string() }
    }

    /// For use with `map_err` on what the kernel says.
    pub fn io(tried: impl Into<String>) -> impl FnOnce(io::Error) -> Error {
        |error| Error::new(tried, plain(&error))
    }
}

/// What the kernel or the resolver says, without its number and without who says it.
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
    fn an_error_says_what_was_tried_and_why_it_failed_in_one_line() {
        let error = Error::io("input file:film.ts")(io::Error::from_raw_os_error(2));
        assert_eq!(error.to_string(), "input file:film.ts: no such file or directory");
        // As std words what gai_strerror(3) has for EAI_NONAME.
        let unknown = io::Error::other("failed to lookup address information: Name or service not known");
        let error = Error::io("looking up nosuch.invalid:22")(unknown);
        assert_eq!(error.to_string(), "looking up nosuch.invalid:22: name or service not known");
    }
}
