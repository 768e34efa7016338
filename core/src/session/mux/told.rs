//! What a mux tells: events and reasons.

use core::fmt;

/// Why a connection was broken off.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reason {
    /// The program behind it broke it off.
    Aborted,
    /// The other end could not reach where it was to go.
    Unreachable,
    /// There were too many connections.
    TooMany,
    /// The tunnel was stopped.
    Stopped,
    /// The other end is for one connection, which it has.
    Taken,
    /// More waits to be read than an end keeps for one peer.
    Memory,
    /// What a later version may mean.
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
            Reason::Aborted => f.write_str("the program at the other end broke the connection off"),
            Reason::Unreachable => f.write_str("the other end could not reach where the connection goes"),
            Reason::TooMany => f.write_str("the other end has as many connections as it allows at a time"),
            Reason::Stopped => f.write_str("the tunnel was stopped"),
            Reason::Taken => f.write_str("this pipe is taken: the other end is for one, and has it"),
            Reason::Memory => f.write_str("more waits to be read than one peer has memory for"),
            Reason::Other(code) => write!(f, "reason {code}"),
        }
    }
}

/// What a mux tells, by the connection's id.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event {
    /// The other end has opened it.
    Opened(u32),
    /// There is something to read where there was nothing.
    Readable(u32),
    /// There is room again for writing after there was too little.
    Writable(u32),
    /// All that the other end wrote is read.
    Finished(u32),
    /// Both directions are done.
    Closed(u32),
    /// The other end has broken it off, or could not take it.
    Reset(u32, Reason),
}

impl Event {
    /// The connection that it is about.
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

/// Why there is no new connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unopened {
    /// There are as many as are allowed.
    Full {
        /// How many that is, whoever opened them.
        limit: usize,
    },
    /// Every id of the link was used: 2^31 connections.
    Spent,
    /// The tunnel was stopped, or the link is gone.
    Stopped,
    /// No other end is there.
    Nobody,
}

impl fmt::Display for Unopened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unopened::Full { limit } => write!(f, "{limit} connections are open, and no more are allowed at a time"),
            Unopened::Spent => f.write_str("2^31 connections were opened, and a link has no ids for more"),
            Unopened::Stopped => f.write_str("the tunnel was stopped, or its other end is gone"),
            Unopened::Nobody => f.write_str("no other end is there to open a connection to"),
        }
    }
}

impl std::error::Error for Unopened {}
