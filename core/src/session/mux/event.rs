//! Events of a mux, and reasons.

use core::fmt;

/// The reason of a reset.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reason {
    /// Reset by the program behind the connection.
    Aborted,
    /// Destination that the peer could not reach.
    Unreachable,
    /// Too many connections.
    TooMany,
    /// End of the tunnel.
    Stopped,
    /// Peer that accepts one connection, and has it.
    Taken,
    /// More unread data than an end keeps for one peer.
    Memory,
    /// Code of a later version.
    Other(u8),
}

impl From<u8> for Reason {
    fn from(code: u8) -> Reason {
        match code {
            0 => Reason::Aborted,
            1 => Reason::Unreachable,
            2 => Reason::TooMany,
            3 => Reason::Stopped,
            4 => Reason::Taken,
            5 => Reason::Memory,
            other => Reason::Other(other),
        }
    }
}

impl From<Reason> for u8 {
    fn from(reason: Reason) -> u8 {
        match reason {
            Reason::Aborted => 0,
            Reason::Unreachable => 1,
            Reason::TooMany => 2,
            Reason::Stopped => 3,
            Reason::Taken => 4,
            Reason::Memory => 5,
            Reason::Other(other) => other,
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Aborted => f.write_str("the program at the peer aborted the connection"),
            Reason::Unreachable => f.write_str("the peer could not reach the target of the connection"),
            Reason::TooMany => f.write_str("the peer has reached its limit of open connections"),
            Reason::Stopped => f.write_str("the tunnel was stopped"),
            Reason::Taken => {
                f.write_str("this pipe is in use: the peer serves one client, and another one is connected")
            }
            Reason::Memory => f.write_str("unread data exceeds the memory of one peer"),
            Reason::Other(code) => write!(f, "reason code {code}"),
        }
    }
}

/// The events of a mux, by the connection's id.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Event {
    /// A connection that the peer has opened.
    Opened(u32),
    /// Data to read after there was none.
    Readable(u32),
    /// Free space for writing after there was too little.
    Writable(u32),
    /// End of reading: all that the peer wrote is read.
    Finished(u32),
    /// End of both directions.
    Closed(u32),
    /// Reset by the peer, which may have refused the connection; or by this end, for lack of memory.
    Reset(u32, Reason),
}

impl Event {
    /// The connection of the event.
    pub fn id(&self) -> u32 {
        let (Event::Opened(id)
        | Event::Readable(id)
        | Event::Writable(id)
        | Event::Finished(id)
        | Event::Closed(id)
        | Event::Reset(id, _)) = *self;
        id
    }
}

/// The reason for which a connection was not opened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unopened {
    /// As many connections as are allowed.
    Full {
        /// The limit, which counts the connections that either end opened.
        limit: usize,
    },
    /// Exhaustion of the ids of the link: 2^31 connections.
    Spent,
    /// End of the tunnel, or of the link.
    Stopped,
    /// No peer.
    Nobody,
}

impl fmt::Display for Unopened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unopened::Full { limit } => write!(f, "the limit of open connections is reached: {limit}"),
            Unopened::Spent => f.write_str("the link has used all of its 2^31 connection ids"),
            Unopened::Stopped => f.write_str("the tunnel was stopped, or its peer is gone"),
            Unopened::Nobody => f.write_str("no peer is connected"),
        }
    }
}

impl std::error::Error for Unopened {}
