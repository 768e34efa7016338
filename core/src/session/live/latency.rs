//! The time from input to output, as a user chooses it.

use core::fmt;
use core::ops::RangeInclusive;

use crate::time::Span;
use crate::wire::hello::Wanted;

/// Latencies that a user may choose. Ours: below, no block of repair leaves in time on the shortest path; above, the memory of
/// a receiver (docs/metrics.md) ends the wait at most rates.
pub const LATENCIES: RangeInclusive<Span> = Span::from_millis(5)..=Span::from_secs(10);

/// The least time for repair on a short path. Ours: four blocks of 10 ms, for late timers, reordering and short bursts of
/// losses.
const LEAST_REPAIR: Span = Span::from_millis(40);

/// The latency that one end is configured with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Latency {
    /// A number, which is kept whatever the path.
    Fixed(Span),
    /// That which the path needs, or a number of the other end.
    Auto,
}

impl Latency {
    /// The latency that a path with this round trip needs: RTT / 2 + max(40 ms, 1.25 RTT), at most the longest of
    /// [`LATENCIES`].
    ///
    /// Media takes RTT / 2. A lost packet is known to be lost once a later one arrives, its NACK and the packet that is sent
    /// again take another round trip, and a quarter of one is the reordering threshold of both ends. So a packet can be lost
    /// once and still be in time by a retransmission, which costs no byte without loss. Ours.
    pub fn of(round_trip: Span) -> Span {
        (round_trip / 2 + LEAST_REPAIR.max(round_trip * 5 / 4)).min(*LATENCIES.end())
    }
}

impl From<Span> for Latency {
    fn from(span: Span) -> Latency {
        Latency::Fixed(span)
    }
}

impl From<Latency> for Wanted {
    /// The latency that an end wants which has no proposal.
    fn from(latency: Latency) -> Wanted {
        match latency {
            Latency::Fixed(span) => Wanted { span, is_auto: false },
            Latency::Auto => Wanted { span: Span::ZERO, is_auto: true },
        }
    }
}

impl fmt::Display for Latency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Latency::Fixed(span) => span.fmt(f),
            Latency::Auto => f.write_str("auto"),
        }
    }
}
