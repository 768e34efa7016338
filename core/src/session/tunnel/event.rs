//! Events of a tunnel, and reasons.

use core::fmt;
use core::net::SocketAddr;

use crate::law::ParameterError;
use crate::session::mux;
use crate::session::secure::{Ending, KeyError, PublicKey};

/// The identifier of a connection, which is never reused.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Id {
    /// The number of the link, counted from 0.
    pub link: u64,
    /// The id of the connection within the link.
    pub connection: u32,
}

/// The events of a tunnel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Event {
    /// Start of a link: both ends know each other.
    Up {
        /// The link.
        link: u64,
        /// The peer's address.
        from: SocketAddr,
        /// The public key that the peer has proved, if each end has a key of its own.
        key: Option<PublicKey>,
    },
    /// A new address that the peer has proved.
    Moved {
        /// The link.
        link: u64,
        /// The address.
        to: SocketAddr,
    },
    /// Silence of the peer. Connections wait.
    Interrupted {
        /// The link.
        link: u64,
    },
    /// End of an interruption. Connections continue.
    Resumed {
        /// The link.
        link: u64,
    },
    /// A connection that the peer has opened.
    Opened(Id),
    /// Data to read after there was none.
    Readable(Id),
    /// Free space for writing after there was too little.
    Writable(Id),
    /// End of reading: all that the peer wrote is read.
    Finished(Id),
    /// End of both directions: the last event of a connection.
    Closed(Id),
    /// Reset of a connection: its last event.
    Reset(Id, Reason),
    /// End of a link. The last events of its connections follow.
    Down {
        /// The link.
        link: u64,
        /// The reason.
        why: Why,
    },
}

/// The reason of a reset.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reason {
    /// A reason that an end gave.
    Reset(mux::Reason),
    /// End of the connection's link.
    Lost(Why),
}

/// The reason for which a link is down.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Why {
    /// End of its association, which no other could follow.
    Ended(Ending),
    /// Interruption that lasted longer than [`super::Config::resume`].
    GaveUp,
    /// A peer that no longer knows the link: it was restarted, or has given up.
    Forgotten,
    /// Violation of the protocol.
    Protocol,
}

/// The reason for which a tunnel was not made.
#[derive(Clone, PartialEq, Debug)]
pub enum Error {
    /// A key that names no peer.
    Key(KeyError),
    /// A value of the configuration that is out of its range, with its name and range.
    Config(ParameterError),
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Reset(reason) => reason.fmt(f),
            Reason::Lost(why) => why.fmt(f),
        }
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Why::Ended(ending) => ending.fmt(f),
            Why::GaveUp => f.write_str("the peer was silent for too long"),
            Why::Forgotten => f.write_str("the peer no longer knows this link: was it restarted?"),
            Why::Protocol => f.write_str("the peer violated the protocol"),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Key(error) => error.fmt(f),
            Error::Config(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Error {}
