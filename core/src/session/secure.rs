//! A secure association: sealed datagrams between two ends that know each other's key.
//!
//! Noise (The Noise Protocol Framework, revision 34) agrees on keys, behind a cookie that keeps unknown clients from
//! costing memory; every datagram after that is sealed by itself. The association is sans-I/O like all sessions, but
//! delivers plaintext where they report events: the layer above writes with [`Association::seal`] and reads what
//! [`Association::handle_datagram`] opens. `docs/security.md` says what is protected against whom, and what is not; the
//! bytes are in [`crate::wire::secure`].
//!
//! A responder has an acceptor, [`Acceptor`], which holds no state for unknown clients and makes an association for each
//! initiator that proves possession of the key. The owner of both finds with [`receiver`] which of them a datagram is
//! for:
//!
//! ```
//! # use std::collections::BTreeMap;
//! # use thalweg_core::session::{MAX_DATAGRAM, secure::{Association, Config, Acceptor, Entropy, Key, receiver}};
//! # use thalweg_core::time::Time;
//! let (client, server) = ("192.0.2.1:5000".parse()?, "192.0.2.2:7000".parse()?);
//! // On sockets the seed comes from the operating system.
//! let mut entropy = Entropy::new([7; 32]);
//! let key = Key::shared(&mut entropy);
//! let mut initiator = Association::initiate(Config::default(), &key, server, Time::ZERO, entropy.fork())?;
//! let mut acceptor = Acceptor::new(Config::default(), &key, entropy.fork())?;
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
//!                 let reply = acceptor.handle_datagram(Time::ZERO, client, &bytes, &mut buf)?;
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
//! Associations, acceptors and entropy are not `Clone`: a copy would seal with nonces that its original uses too.

mod acceptor;
mod address;
mod association;
mod backoff;
mod client_handshake;
mod cookies;
mod entropy;
mod epoch;
mod keepalive;
mod key;
mod keyring;
mod noise;
mod public;
mod replay;

use core::fmt;
use core::net::SocketAddr;

pub use acceptor::{Acceptor, Reply};
pub use association::Association;
pub use entropy::Entropy;
pub use key::{Key, KeyError, PublicKey};
pub use noise::Role;
pub use replay::WINDOW;

use crate::time::Span;
use crate::wire::Error;
use crate::wire::secure::{Datagram, VERSION, sealed::Sealed};

/// Bytes that sealing adds to the plaintext.
pub const OVERHEAD: usize = Sealed::OVERHEAD;

/// The configuration of one end. Those of both ends may differ in every field.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Config {
    /// Length of the hello: that of the longest datagram the path must carry, within 256 and
    /// [`crate::session::MAX_DATAGRAM`], so that a path which cannot carry it is noticed at once.
    pub datagram: usize,
    /// The time for which an initiator tries, and for which a responder waits for the first sealed datagram.
    pub handshake: Span,
    /// The time of silence after which the peer is pinged; at most a third of `idle`.
    pub keepalive: Span,
    /// The time of silence after which the association ends.
    pub idle: Span,
    /// Limits at which keys are changed.
    pub limits: Limits,
}

/// The limits at which an initiator asks for new keys.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Datagrams in either direction. At twice as many nothing more is sealed, and the association ends.
    pub packets: u64,
    /// The age of the keys. At five times this nothing more is sealed, and the association ends.
    pub age: Span,
    /// The time for which old keys still open late datagrams.
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

/// An event of an association.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Event {
    /// The peer has proved that it has the key; from now on datagrams can be sealed.
    Established,
    /// New keys are in use.
    Rekeyed {
        /// The number of key changes so far.
        epoch: u32,
    },
    /// The peer has proved a new address.
    Moved {
        /// The peer's new address.
        to: SocketAddr,
    },
    /// The association is over.
    Ended(Ending),
}

/// The reason of an association's end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ending {
    /// This end closed it.
    Closed(Reason),
    /// The peer closed it.
    ClosedByPeer(Reason),
    /// Nothing was received from the peer for [`Config::idle`], for [`Config::handshake`] before its first sealed
    /// datagram, or for two seconds after [`Association::on_unknown`].
    Silent,
    /// No responder answered the hello.
    NoAnswer,
    /// A responder answered, but did not complete the handshake. It gives no reason: it has another key, or no
    /// capacity, or its answer was lost.
    Refused,
    /// The peer speaks this other version of the protocol.
    Version(u8),
    /// The keys were worn out before there were new ones.
    WornOut,
}

/// The reason with which an end closes an association.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reason {
    /// All data has arrived, in both directions.
    Done,
    /// The program ends.
    Stopped,
    /// The peer violated the protocol.
    Protocol,
    /// There is no capacity left.
    Overload,
    /// The stream that the association carried is lost.
    Lost,
    /// The code of a reason that only later versions know.
    Other(u8),
}

/// The id of the association that a datagram is for; none if it is for the [`Acceptor`].
///
/// # Errors
/// The bytes are not a datagram of a secure association.
pub fn receiver(bytes: &[u8]) -> Result<Option<u64>, Error> {
    Datagram::parse(bytes).map(|datagram| datagram.receiver())
}

/// The id of an association that the peer claims not to have, if a datagram is such a claim. It is unauthenticated.
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
            Reason::Protocol => f.write_str("protocol violation"),
            Reason::Overload => f.write_str("overloaded"),
            Reason::Lost => f.write_str("the stream that it carried is lost"),
            Reason::Other(code) => write!(f, "reason code {code}"),
        }
    }
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // A regular end is the same whichever end closed first.
            Ending::Closed(Reason::Done) | Ending::ClosedByPeer(Reason::Done) => Reason::Done.fmt(f),
            Ending::Closed(reason) => write!(f, "closed: {reason}"),
            Ending::ClosedByPeer(reason) => write!(f, "closed by the peer: {reason}"),
            Ending::Silent => f.write_str("the peer has fallen silent"),
            Ending::NoAnswer => f.write_str("no answer: is the peer running, and is its UDP port open?"),
            Ending::Refused => f.write_str(
                "the peer answers, but refuses the handshake: do both key files match, and is it overloaded?",
            ),
            Ending::Version(theirs) => {
                write!(f, "the peer uses version {theirs} of the protocol, this program version {VERSION}")
            }
            Ending::WornOut => f.write_str("the keys reached their usage limit before the peer agreed to new ones"),
        }
    }
}
