//! Live media: a source that does not wait, repaired by erasure codes under a law.

mod address;
mod least;
mod network;
pub mod receiver;
mod second;
mod secret;
pub mod sender;
mod tokens;

use core::fmt;
use core::net::SocketAddr;

pub use self::network::Network;
pub use self::secret::{End, Secret};

use crate::time::Span;
use crate::units::Bytes;
use crate::wire::hello::VERSION;

/// The longest media datagram that is carried: what an Ethernet frame leaves after IPv6, UDP, RTP, the repair
/// packet's extension and payload ID.
pub const MAX_PAYLOAD: usize = 1400;

/// What the media datagrams are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Media {
    /// Anything; boundaries are kept.
    Opaque,
    /// Whole MPEG transport stream packets (RFC 2250).
    Mp2t,
}

/// When the receiver hands out a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Playout {
    /// As soon as everything before it has been handed out or given up; the latency is a bound.
    Asap,
    /// Exactly the latency after it went in.
    Constant,
}

/// Why a stream ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ending {
    /// A goodbye: the sender's own, at the end of its media or by its user's wish.
    Bye,
    /// Nobody answered the first hellos.
    NoAnswer,
    /// The receiver answered that it takes another stream.
    Busy,
    /// The receiver answered that it speaks this other version of the protocol.
    Version(u8),
    /// The sender went away without a goodbye.
    Silent,
    /// The circuit breaker: going on would have flooded the path.
    Breaker,
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Ending::Version(theirs) => return write!(f, "the receiver {}", other_version(*theirs)),
            Ending::Bye => "goodbye",
            Ending::NoAnswer => "nobody answered",
            Ending::Busy => "the receiver is taken by another stream",
            Ending::Silent => "the sender has gone without a goodbye",
            Ending::Breaker => "the circuit breaker opened: the path cannot carry this stream",
        })
    }
}

/// A line on a peer that speaks version `theirs` of the protocol, behind its name.
pub fn other_version(theirs: u8) -> String {
    let place = if theirs < VERSION { "there" } else { "here" };
    format!("speaks version {theirs} of the protocol and this program version {VERSION}: update Thalweg {place}")
}

/// What kind of number a metric is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Only ever grows.
    Counter,
    /// Goes up and down.
    Gauge,
}

/// A documented metric: the JSON key, and after `thalweg_` the Prometheus name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Metric {
    /// Name, with the unit as its last word where it has one.
    pub name: &'static str,
    /// Counter or gauge.
    pub kind: Kind,
    /// One line for people.
    pub help: &'static str,
}

const fn counter(name: &'static str, help: &'static str) -> Metric {
    Metric { name, kind: Kind::Counter, help }
}

const fn gauge(name: &'static str, help: &'static str) -> Metric {
    Metric { name, kind: Kind::Gauge, help }
}

/// Latency that a session assumes until told otherwise.
pub const DEFAULT_LATENCY: Span = Span::from_millis(90);

/// Between regular reports of a receiver.
const REPORT_INTERVAL: Span = Span::from_secs(1);

/// Payload type of the source stream when its datagrams are not MPEG-TS: the first dynamic one (RFC 3551 §6).
pub const OPAQUE: u8 = 96;
/// Payload type of the repair stream.
pub const REPAIR: u8 = 97;
/// ID of the header extension element that holds [`crate::wire::fecframe::BlockBounds`].
pub const BLOCK_BOUNDS: u8 = 1;

/// The canonical name of a session's side: random, and kept for the session (RFC 7022).
fn cname(ssrc: u32) -> String {
    format!("thalweg-{ssrc:08x}")
}

/// How long both sides wait for what reordering may have delayed: a quarter of the round trip, however short that is.
fn patience(round_trip: Span) -> Span {
    (round_trip / 4).max(Span::from_millis(1))
}

/// Bytes of the IP and UDP headers of a datagram to or from `address`.
pub fn overhead(address: SocketAddr) -> Bytes {
    match address {
        SocketAddr::V4(_) => Bytes(28),
        SocketAddr::V6(_) => Bytes(48),
    }
}
