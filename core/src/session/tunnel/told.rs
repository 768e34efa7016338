//! What a tunnel tells: events and reasons.

use core::fmt;
use core::net::SocketAddr;

use crate::law::ParameterError;
use crate::session::mux;
use crate::session::secure::{Ending, KeyError, PublicKey};

/// A connection. None is used twice.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Id {
    /// The link that it belongs to, counted from 0.
    pub link: u64,
    /// Its number there.
    pub connection: u32,
}

/// What a tunnel tells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event {
    /// A link has begun: both ends know each other.
    Up {
        /// Which.
        link: u64,
        /// Where the other end is.
        from: SocketAddr,
        /// Who it is: the public key that it has proved to have, where each end has a key of its own.
        key: Option<PublicKey>,
    },
    /// The other end has proved a new address.
    Moved {
        /// Which link.
        link: u64,
        /// The address.
        to: SocketAddr,
    },
    /// The other end has fallen silent. Connections wait.
    Interrupted {
        /// Which link.
        link: u64,
    },
    /// The other end is back. Connections go on.
    Resumed {
        /// Which link.
        link: u64,
    },
    /// The other end has opened a connection.
    Opened(Id),
    /// There is something to read where there was nothing.
    Readable(Id),
    /// There is room again for writing after there was too little.
    Writable(Id),
    /// All that the other end wrote is read.
    Finished(Id),
    /// Both directions are done: the last that is told of a connection.
    Closed(Id),
    /// A connection was broken off: the last that is told of it.
    Reset(Id, Reason),
    /// The link is gone. What it told of its connections follows.
    Down {
        /// Which.
        link: u64,
        /// Why.
        why: Why,
    },
}

/// Why a connection was broken off.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reason {
    /// An end says why.
    Told(mux::Reason),
    /// Its link is gone.
    Lost(Why),
}

/// Why a link is gone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Why {
    /// Its association ended, and no other could follow.
    Ended(Ending),
    /// The other end was silent for longer than [`super::Config::resume`].
    GaveUp,
    /// The other end no longer knows it: it was restarted, or has given up.
    Forgotten,
    /// What came made no sense.
    Protocol,
}

/// Why there is no tunnel.
#[derive(Clone, PartialEq, Debug)]
pub enum Error {
    /// The key does not say whom to speak to.
    Key(KeyError),
    /// A value of the configuration is out of its range: which, and what that is.
    Config(ParameterError),
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Told(reason) => reason.fmt(f),
            Reason::Lost(why) => why.fmt(f),
        }
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Why::Ended(ending) => ending.fmt(f),
            Why::GaveUp => f.write_str("the other end was silent for too long"),
            Why::Forgotten => f.write_str("the other end no longer knows this link: was it restarted?"),
            Why::Protocol => f.write_str("what the other end said made no sense"),
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
