//! Configuration and events of a sender.

use core::net::SocketAddr;

use crate::law::ParameterError;
use crate::law::rate;
use crate::law::redundancy::{Choice, Law, Redundancy};
use crate::law::registry::{self, Scope};
use crate::session::live::{DEFAULT_LATENCY, Ending, Latency, Media};
use crate::time::Span;
use crate::units::Rate;

/// The largest window of a law that knows nothing of blocks: of the code's 255 symbols some are source packets. Ours:
/// 55 are left for those.
const MOST_REPAIR: f64 = 200.0;

/// The law of redundancy that `choice` names, checked for a session.
///
/// # Errors
/// The law runs in the lab alone, its parameters are inconsistent, or static repair is not of 1 to 200 packets.
pub fn redundancy(choice: &Choice) -> Result<Law, ParameterError> {
    let is_lab = choice.description().scope == Scope::Lab;
    if is_lab {
        return Err(ParameterError::Law { value: choice.to_string(), expected: registry::forms(Choice::anywhere()) });
    }
    let law = Law::new(choice, &())?;
    let (_, most) = law.bounds();
    if !law.is_none() && law.interval().is_none() && !(1.0..=MOST_REPAIR).contains(&most) {
        return Err(ParameterError::Refused(format!("{choice} must have 1 to {MOST_REPAIR} packets")));
    }
    Ok(law)
}

/// The breaker that ends a stream which would flood its path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Breaker {
    /// Repair is taken down first, then the source is asked for a lower rate, then the stream ends; but not by loss
    /// that is shown to be the path's own.
    RepairFirst,
    /// RFC 8083 to the letter.
    Rfc8083,
    /// The breaker only reports.
    Off,
}

/// The place of a source packet's block number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SourceId {
    /// Appended to each source packet (RFC 6865 §5.1.2).
    Explicit,
    /// In the repair packets alone: source packets are unmodified RTP, and receivers need not be Thalweg's.
    Plain,
}

/// The configuration of a sender.
#[derive(Clone, PartialEq, Debug)]
pub struct Config {
    /// The receiver; if receivers call, the address at which they do.
    pub to: SocketAddr,
    /// True if receivers call: the sender then sends nothing before one has called, and media only to one that has proved its
    /// address.
    pub listens: bool,
    /// The destination of bare RFC 6865 repair packets; none sends them as an RTP stream beside the source.
    pub fec_to: Option<SocketAddr>,
    /// The kind of the media datagrams.
    pub media: Media,
    /// The law of redundancy. A window that depends on blocks follows the source; another one is for each interval: one
    /// SYN, or the time that 21 source packets take.
    pub repair: Law,
    /// Time from input to output: of both ends' numbers the longer applies, and a number before what the path needs.
    pub latency: Latency,
    /// Bound on the rate of everything that is sent, IP and UDP headers included.
    pub max_rate: Option<Rate>,
    /// The rate law that bounds everything that is sent; none sends at the rate of the source. It starts with the first
    /// block, and anew for another receiver or another path.
    pub rate: Option<rate::Choice>,
    /// Length of a block; none lets the latency and the source's rate determine it.
    pub block: Option<Span>,
    /// The place of block numbers.
    pub source_id: SourceId,
    /// The breaker of the stream.
    pub breaker: Breaker,
    /// Time without a receiver, since the start, after which the session ends; none waits forever.
    pub answer_timeout: Option<Span>,
}

impl Config {
    /// Opaque datagrams for the receiver at `to`, with the default latency and breaker, no bound on the rate, and no
    /// time limit for an answer.
    pub fn new(to: SocketAddr, repair: Law) -> Config {
        Config {
            to,
            listens: false,
            fec_to: None,
            media: Media::Opaque,
            repair,
            latency: DEFAULT_LATENCY.into(),
            max_rate: None,
            rate: None,
            block: None,
            source_id: SourceId::Explicit,
            breaker: Breaker::RepairFirst,
            answer_timeout: None,
        }
    }
}

/// An event of a sender.
#[derive(Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
pub enum Event {
    /// The receiver answered, with the latency that both ends keep.
    Connected {
        /// The receiver.
        to: SocketAddr,
        /// Time from input to output.
        latency: Span,
        /// The round trip that the latency follows from, if both ends leave it to the path.
        round_trip: Option<Span>,
    },
    /// The path has become longer, and so has the latency that both ends leave to it.
    LatencyRaised {
        /// The latency before.
        from: Span,
        /// The latency from now on.
        to: Span,
        /// The windowed minimum of the round trip.
        round_trip: Span,
    },
    /// The receiver has proved a new address.
    Moved {
        /// The receiver's new address.
        to: SocketAddr,
    },
    /// The round trip is so long that repair comes too late; with a latency of `needed` or more it would not.
    TooShort {
        /// The windowed minimum of the round trip.
        round_trip: Span,
        /// The least latency at which repair is useful.
        needed: Span,
    },
    /// The latency keeps blocks so short that their repair has a high overhead and recovers little. At most once per
    /// session.
    FewPackets {
        /// Source packets of a block.
        packets: f64,
        /// The latency at which a block has enough packets.
        needed: Span,
    },
    /// Repair comes in time again: the round trip is shorter, or the latency longer.
    InTime,
    /// Media came faster than the maximum rate or the rate law lets it leave, and datagrams that would have been too
    /// late were dropped. At most once a second, and once there are ten.
    OverRate {
        /// The rate at which packets may leave: the maximum rate, or a lower one of the rate law.
        greatest: Rate,
        /// Media datagrams dropped since the last such event.
        unsent: u64,
    },
    /// The receiver has another sender's stream, and hellos continue; once until it accepts this one.
    Busy,
    /// No feedback has arrived for so long that media has stopped; hellos continue, unless receivers call.
    Silent,
    /// The receiver said goodbye, so that media has stopped; hellos continue, unless receivers call.
    Left,
    /// Loss stays too high: the source should reduce its rate to this one.
    LowerRate(Rate),
    /// The brake is off again.
    RateRestored,
    /// The session is over.
    Ended(Ending),
}
