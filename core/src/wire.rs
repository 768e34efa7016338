//! The ground floor of everything that meets the network: formats, one a file, `parse` and `emit`.

pub mod fecframe;
pub mod feedback;
pub mod hello;
pub mod mpegts;
pub mod mux;
pub mod ntp;
pub mod proof;
pub mod rtcp;
pub mod rtp;
pub mod sdp;
pub mod secure;
pub mod sequence;
pub mod stream;
pub mod tunnel;

use core::fmt;

/// Why a peer's bytes were refused. Always the peer's fault, never ours; the datagram is counted and dropped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Error {
    /// The format needs more bytes than there are.
    Truncated,
    /// A version, type or magic number that this format does not have.
    Unknown,
    /// A length field that contradicts the datagram or the format's bounds.
    Length,
    /// A field whose value the format does not allow.
    Malformed,
    /// Not sealed with the key that it should be, or changed on its way.
    Forged,
    /// Genuine, but it has come before, or so late that nobody can tell.
    Repeated,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Error::Truncated => "truncated",
            Error::Unknown => "unknown version or type",
            Error::Length => "contradictory length",
            Error::Malformed => "value out of range",
            Error::Forged => "not authentic",
            Error::Repeated => "repeated",
        })
    }
}

impl std::error::Error for Error {}
