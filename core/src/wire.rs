//! The lowest layer of the protocol: wire formats, one per file, each with `parse` and `emit`.

#[cfg(feature = "media")]
pub mod fecframe;
#[cfg(feature = "media")]
pub mod hello;
pub mod mux;
#[cfg(feature = "media")]
pub mod npt;
#[cfg(feature = "media")]
pub mod ntp;
#[cfg(feature = "media")]
pub mod payload;
#[cfg(feature = "media")]
pub mod proof;
#[cfg(feature = "media")]
pub mod rlc;
#[cfg(feature = "media")]
pub mod rtcp;
#[cfg(feature = "media")]
pub mod rtp;
#[cfg(feature = "media")]
pub mod sdp;
pub mod secure;
pub mod sequence;
#[cfg(feature = "media")]
pub mod stored;
pub mod stream;
pub mod tunnel;

use core::fmt;

#[cfg(feature = "media")]
pub use rtcp::feedback;

/// The reason that a peer's bytes were refused. Always the peer's fault, never ours; the datagram is counted and
/// dropped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Error {
    /// The format needs more bytes than there are.
    Truncated,
    /// A version, type or magic number that this format does not have.
    Unknown,
    /// A length field that contradicts the datagram or the format's bounds.
    Length,
    /// A field whose value the format does not allow.
    Malformed,
    /// Not sealed with the expected key, or modified on the path.
    Forged,
    /// Genuine, but a repetition, or too old to be distinguished from one.
    Repeated,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Error::Truncated => "truncated",
            Error::Unknown => "unknown version or type",
            Error::Length => "inconsistent length",
            Error::Malformed => "value out of range",
            Error::Forged => "not authentic",
            Error::Repeated => "repeated",
        })
    }
}

impl std::error::Error for Error {}
