//! Messages of the system's errors.

use std::io;

/// The system's message of an error, without its number.
pub(crate) fn plain(error: &io::Error) -> String {
    error.to_string().split(" (os error").next().unwrap_or_default().to_lowercase()
}
