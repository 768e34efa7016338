//! A secure association: datagrams between two ends that know each other's key, and nobody else's.
//!
//! Noise (The Noise Protocol Framework, revision 34) agrees on keys, behind a cookie that keeps strangers from costing
//! memory; every datagram after that is sealed by itself. The association is sans-I/O like all sessions, but hands out
//! plaintext where they hand out events: the layer above writes with [`Association::seal`] and reads what
//! [`Association::handle_datagram`] opens. What this protects against whom, and what not, is in `docs/security.md`;
//! the bytes are in [`crate::wire::secure`].
//!
//! A responder has a [`Door`], which holds no state for strangers and makes an association for each initiator that has
//! the key. Whoever owns both looks at [`receiver`] to see which of them a datagram is for:
//!
//! ```
//! # use std::collections::BTreeMap;
//! # use thalweg_core::session::{MAX_DATAGRAM, secure::{Association, Config, Door, Entropy, Key, receiver}};
//! # use thalweg_core::time::Time;
//! let (client, server) = ("192.0.2.1:5000".parse()?, "192.0.2.2:7000".parse()?);
//! // On sockets the seed comes from the operating system.
//! let mut entropy = Entropy::new([7; 32]);
//! let key = Key::shared(&mut entropy);
//! let mut initiator = Association::initiate(Config::default(), &key, server, Time::ZERO, entropy.fork())?;
//! let mut door = Door::new(Config::default(), &key, entropy.fork())?;
//! let mut inside = BTreeMap::new();
//!
//! let (mut buf, mut plain, mut heard) = ([0; MAX_DATAGRAM], [0; MAX_DATAGRAM], Vec::new());
//! for _ in 0..4 {
//!     while let Some(transmit) = initiator.poll_transmit(Time::ZERO, &mut buf) {
//!         let bytes = buf[..transmit.len].to_vec();
//!         match receiver(&bytes)?.and_then(|id| inside.get_mut(&id)) {
//!             Some(association) => {
//!                 let association: &mut Association = association;
//!                 heard.extend(association.handle_datagram(Time::ZERO, client, &bytes, &mut plain)?.map(<[u8]>::to_vec));
//!             }
//!             None => {
//!                 let reply = door.handle_datagram(Time::ZERO, client, &bytes, &mut buf)?;
//!                 inside.extend(reply.association.map(|association| (association.id(), association)));
//!                 initiator.handle_datagram(Time::ZERO, server, &buf[..reply.transmit.len].to_vec(), &mut plain)?;
//!             }
//!         }
//!     }
//!     if let Some(transmit) = initiator.seal(Time::ZERO, b"hello", &mut buf) {
//!         let association = inside.first_entry().expect("an association").into_mut();
//!         let opened = association.handle_datagram(Time::ZERO, client, &buf[..transmit.len], &mut plain)?;
//!         heard.extend(opened.map(<[u8]>::to_vec));
//!     }
//! }
//! assert_eq!(heard[0], b"hello");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Associations, doors and entropy are not `Clone`: a copy would seal with nonces that its original uses too.

mod association;
mod backoff;
mod cookies;
mod door;
mod entropy;
mod epoch;
mod greeting;
mod key;
mod keyring;
mod noise;
mod path;
mod pulse;
mod replay;

use core::fmt;
use core::net::SocketAddr;

pub use association::Association;
pub use door::{Door, Reply};
pub use entropy::Entropy;
pub use key::{Key, KeyError, PublicKey};
pub use noise::Role;
pub use replay::WINDOW;

use crate::time::Span;
use crate::wire::Error;
use crate::wire::secure::{Datagram, VERSION, sealed::Sealed};

/// Bytes that sealing adds to what the layer above writes.
pub const OVERHEAD: usize = Sealed::HEADER + 1 + Sealed::TAG;

/// What an end is told at its start. Both ends may differ in all of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Config {
    /// Length of the hello: that of the longest datagram the path must carry, within 256 and
    /// [`crate::session::MAX_DATAGRAM`], so that a path which does not is noticed at once.
    pub datagram: usize,
    /// How long an initiator tries, and a responder waits for the first sealed datagram.
    pub handshake: Span,
    /// After how much silence the other end is asked whether it is there; at most a third of `idle`.
    pub keepalive: Span,
    /// After how much silence it is not.
    pub idle: Span,
    /// When keys are changed.
    pub limits: Limits,
}

/// When an initiator asks for new keys.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// After so many datagrams in either direction. At twice as many nothing more is sealed, and the association ends.
    pub packets: u64,
    /// After this time. At five times as much nothing more is sealed, and the association ends.
    pub age: Span,
    /// For how long old keys still open what is late.
    pub grace: Span,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            datagram: 1200,
            handshake: Span::from_secs(10),
            keepalive: Span::from_secs(10),
            idle: Span::from_secs(30),
            limits: Limits {
                // RFC 9001 §6.6 allows 2^23 packets for AES-GCM.
                packets: 1 << 22,
                age: Span::from_secs(120),
                grace: Span::from_secs(10),
            },
        }
    }
}

/// What an association tells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event {
    /// The other end has proved that it has the key; from now on there is sealing.
    Established,
    /// New keys are in use.
    Rekeyed {
        /// How often keys have been changed.
        epoch: u32,
    },
    /// The other end has proved a new address.
    Moved {
        /// That address.
        to: SocketAddr,
    },
    /// Over.
    Ended(Ending),
}

/// Why an association ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ending {
    /// It was closed here.
    Closed(Reason),
    /// The other end closed it.
    ClosedByPeer(Reason),
    /// Nothing has been heard of the other end for longer than [`Config::idle`].
    Silent,
    /// Nobody answered the hello.
    NoAnswer,
    /// Somebody answered, and let nobody in. A responder does not say why: it has another key, or no room, or what it said was lost.
    Refused,
    /// The other end speaks another version of the protocol.
    Version(u8),
    /// The keys were worn out before there were new ones.
    WornOut,
}

/// Why an end closes an association.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reason {
    /// All has arrived, both ways.
    Done,
    /// The program ends.
    Stopped,
    /// What came made no sense.
    Protocol,
    /// There is no room.
    Overload,
    /// What it carried is lost.
    Lost,
    /// What a later version may mean.
    Other(u8),
}

/// The id of the association that a datagram is for; none if it is for the [`Door`].
///
/// # Errors
/// It is no datagram of a secure association.
pub fn receiver(bytes: &[u8]) -> Result<Option<u64>, Error> {
    Datagram::parse(bytes).map(|datagram| datagram.receiver())
}

/// The id of an association that the other end is said not to have, if a datagram says that. Nobody has to prove it.
pub fn unknown(bytes: &[u8]) -> Option<u64> {
    match Datagram::parse(bytes) {
        Ok(Datagram::Unknown(unknown)) => Some(unknown.id),
        _ => None,
    }
}

impl From<u8> for Reason {
    fn from(code: u8) -> Reason {
        match code {
            0 => Reason::Done,
            1 => Reason::Stopped,
            2 => Reason::Protocol,
            3 => Reason::Overload,
            4 => Reason::Lost,
            other => Reason::Other(other),
        }
    }
}

impl From<Reason> for u8 {
    fn from(reason: Reason) -> u8 {
        match reason {
            Reason::Done => 0,
            Reason::Stopped => 1,
            Reason::Protocol => 2,
            Reason::Overload => 3,
            Reason::Lost => 4,
            Reason::Other(other) => other,
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Done => f.write_str("all has arrived"),
            Reason::Stopped => f.write_str("the program was stopped"),
            Reason::Protocol => f.write_str("what came made no sense"),
            Reason::Overload => f.write_str("there is no room"),
            Reason::Lost => f.write_str("what it carried is lost"),
            Reason::Other(code) => write!(f, "reason {code}"),
        }
    }
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // A good end is the same whoever was the first to say so.
            Ending::Closed(Reason::Done) | Ending::ClosedByPeer(Reason::Done) => Reason::Done.fmt(f),
            Ending::Closed(reason) => write!(f, "closed: {reason}"),
            Ending::ClosedByPeer(reason) => write!(f, "closed by the other end: {reason}"),
            Ending::Silent => f.write_str("the other end has fallen silent"),
            Ending::NoAnswer => f.write_str("nobody answered: does the other end run, and is its UDP port open?"),
            Ending::Refused => {
                f.write_str("the other end answers, but lets nobody in: do both key files match, and is it overloaded?")
            }
            Ending::Version(theirs) => {
                write!(f, "the other end speaks version {theirs} of the protocol, and this one version {VERSION}")
            }
            Ending::WornOut => f.write_str("the keys were worn out before the other end agreed to new ones"),
        }
    }
}
