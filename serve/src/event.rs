//! Events of a server that are worth a line to its operator.

use crate::law::{Change, Lack};

/// An event that is worth a line.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Event {
    /// A file of the folder cannot be parsed.
    Fault {
        /// The name of the file.
        name: String,
        /// The fault in it.
        why: String,
    },
    /// A note about the index of a video, in one line.
    Note(String),
    /// An answer was aborted.
    Broken {
        /// The name of the file.
        name: String,
        /// The reason.
        why: String,
    },
    /// A client has requested TLS on a port without it, for the first time.
    AskedForTls,
    /// The kernel's law is not available, or not any more.
    LawLost(Lack),
    /// The kernel has the law, or another one under its name: from now on connections get it with their next request.
    LawBack {
        /// The name of the law.
        name: String,
    },
}

impl From<Change> for Event {
    fn from(change: Change) -> Event {
        match change {
            Change::Lost(lack) => Event::LawLost(lack),
            Change::Back { name } => Event::LawBack { name: name.to_string() },
        }
    }
}
