//! Live media: a real-time source, repaired by erasure codes whose redundancy a law sets.

mod address;
#[cfg(feature = "secure")]
pub mod carried;
mod inside;
mod interval_stats;
mod knock;
mod latency;
mod network;
pub mod receiver;
mod secret;
pub mod sender;

use core::fmt;
use core::net::SocketAddr;

pub use self::inside::inside;
pub use self::latency::{LATENCIES, Latency};
pub use self::network::Network;
pub use self::secret::{End, Secret};

use crate::session::MAX_DATAGRAM;
use crate::time::Span;
use crate::units::Bytes;
use crate::wire::fecframe::{Adui, PayloadId};
use crate::wire::hello::VERSION;
use crate::wire::rtp;
use crate::wire::secure::sealed::Sealed;

/// The longest media datagram: an Ethernet payload without the headers of IPv6, UDP and RTP and the repair packet's
/// header extension and payload ID.
pub const MAX_PAYLOAD: usize = 1400;

/// The longest media datagram inside an association, whose seal takes the rest.
pub const MAX_SEALED_PAYLOAD: usize = MAX_PAYLOAD - Sealed::OVERHEAD;

// Seven packets of MPEG-TS, and the repair of the longest media, fit into an Ethernet payload with IPv6, UDP and the seal.
const _: () = {
    let symbol = Adui::OVERHEAD + rtp::HEADER_LEN + MAX_SEALED_PAYLOAD;
    // RFC 8285 §4.2: the extension that names a block, with its header.
    let bounds = 4 + 4;
    let repair = rtp::HEADER_LEN + bounds + PayloadId::LEN + symbol;
    assert!(MAX_SEALED_PAYLOAD >= 7 * 188 && repair + Sealed::OVERHEAD + 48 <= MAX_DATAGRAM);
};

/// The window of minimum round trips and offsets of clocks: a minimum lasts for one to two of these. Ours: queues come
/// and go within seconds (docs/controls.md, the live profile); longer follows a changed route later.
const MIN_WINDOW: Span = Span::from_secs(5);

/// The kind of the media datagrams.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Media {
    /// Arbitrary datagrams; their boundaries are kept.
    Opaque,
    /// Whole MPEG transport stream packets (RFC 2250).
    Mp2t,
}

/// The time at which the receiver delivers a packet to the application.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Playout {
    /// As soon as every packet before it has been delivered or given up; the latency is an upper bound.
    Asap,
    /// Exactly the latency after the source produced it.
    Constant,
}

/// The reason of a stream's end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ending {
    /// A goodbye from the sender, at the end of its media or at its user's request.
    Bye,
    /// No receiver answered the first hellos.
    NoAnswer,
    /// The receiver answered that it has another sender's stream.
    Busy,
    /// The receiver answered that it speaks this other version of the protocol.
    Version(u8),
    /// The sender fell silent without a goodbye.
    Silent,
    /// The circuit breaker opened: continuing would have flooded the path.
    Breaker,
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Ending::Version(theirs) => return write!(f, "the receiver {}", other_version(*theirs)),
            Ending::Bye => "goodbye",
            Ending::NoAnswer => "no receiver answered: is thalweg recv running there, and is its UDP port open?",
            Ending::Busy => "the receiver is busy with another stream",
            Ending::Silent => "the sender went silent without a goodbye",
            Ending::Breaker => "the circuit breaker opened: the path cannot carry this stream; reduce its rate",
        })
    }
}

/// A message about a peer that speaks version `theirs` of the protocol, to follow the peer's name.
pub fn other_version(theirs: u8) -> String {
    let place = if theirs < VERSION { "there" } else { "here" };
    format!("uses version {theirs} of the protocol, this program version {VERSION}: update Thalweg {place}")
}

/// Latency of a session of which no end leaves it to the path, unless it is configured otherwise. Ours: at a round trip of
/// 40 ms it leaves blocks of 30 ms; longer recovers longer bursts.
pub const DEFAULT_LATENCY: Span = Span::from_millis(90);

/// Interval between regular reports of a receiver. RFC 3550 §6.2: 5 s, or 360 s divided by the rate in kb/s, which is
/// less than this from 360 kb/s on.
const REPORT_INTERVAL: Span = Span::from_secs(1);

/// Payload type of the source stream when its datagrams are not MPEG-TS: the first dynamic one (RFC 3551 §6).
pub const OPAQUE: u8 = 96;
/// Payload type of the repair stream.
pub const REPAIR: u8 = 97;
/// ID of the header extension element that holds [`crate::wire::fecframe::BlockBounds`].
pub const BLOCK_BOUNDS: u8 = 1;

/// The reordering threshold of both ends, as a time: a quarter of the round trip, and at least 1 ms.
fn reordering_delay(round_trip: Span) -> Span {
    (round_trip / 4).max(Span::from_millis(1))
}

/// Bytes of the IP and UDP headers of a datagram to or from `address`, and of the seal of one inside an association.
pub fn overhead(address: SocketAddr) -> Bytes {
    inside::overhead(address).unwrap_or(match address {
        SocketAddr::V4(_) => Bytes(28),
        SocketAddr::V6(_) => Bytes(48),
    })
}

/// The longest media datagram to `address`: [`MAX_PAYLOAD`], less the seal of one inside an association.
pub fn max_payload(address: SocketAddr) -> usize {
    if inside::overhead(address).is_some() { MAX_SEALED_PAYLOAD } else { MAX_PAYLOAD }
}

/// Bytes of a datagram of `len` bytes to or from `address`, IP and UDP headers included.
fn wire_size(len: usize, address: SocketAddr) -> Bytes {
    Bytes(len as u64) + overhead(address)
}
