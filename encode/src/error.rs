//! Errors of running a pipeline.

use std::fmt;

/// The reason that a pipeline does not run, or no longer.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Error {
    /// This program was built without the feature `gstreamer`.
    NotBuilt,
    /// The reader of standard output has closed it.
    Unread,
    /// The pipeline, or a part of it, failed.
    Failed(thalweg_net::Error),
}

impl From<thalweg_net::Error> for Error {
    fn from(error: thalweg_net::Error) -> Error {
        Error::Failed(error)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::NotBuilt => f.write_str(
                "this thalweg was built without the feature `gstreamer`; on Debian: apt-get install libgstreamer1.0-dev \
                 libgstreamer-plugins-base1.0-dev pkg-config, then cargo build --release --features gstreamer",
            ),
            Error::Unread => f.write_str("the reader of standard output has closed it"),
            Error::Failed(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Error {}
