//! How much may be under way? Answers to that question, one a file.
//!
//! A law here is the arithmetic of a congestion window and nothing else. Round-trip times, what is in flight, what is lost
//! and what is sent next are the endpoint's, so that laws stay thin and the mechanism lives once.

pub mod clamp;
pub mod copa;
pub mod cubic;
mod flavour;
pub mod linux_reno;
pub mod newreno;
pub mod playback;
mod start;
pub mod tcp_stream;
#[cfg(test)]
mod toy;
pub mod vegas;

pub use flavour::{Flavour, Window};
pub use playback::Playback;
pub use start::Start;

use super::{ParameterError, parameter};
use crate::probe::Probe;
use crate::time::{Span, Time};

/// What one acknowledgement told the endpoint, in segments.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Acked {
    /// When it came.
    pub now: Time,
    /// Segments that it acknowledged for the first time, cumulatively or selectively.
    pub newly: u32,
    /// Segments in flight before it came (FlightSize of RFC 5681).
    pub flight: u32,
    /// A round-trip sample, where Karn's rule allows one.
    pub rtt: Option<Span>,
    /// The smoothed round trip (RFC 6298), once there was a sample.
    pub srtt: Option<Span>,
    /// Whether it is the first acknowledgement of a segment that was sent after the last round ended.
    pub round_end: bool,
    /// Whether the window held the endpoint back; a window that did not must not grow (RFC 7661, RFC 9438 §5.8).
    pub window_limited: bool,
}

/// A law that says how many segments may be under way.
///
/// The endpoint calls `on_ack` for each acknowledgement outside loss recovery and `on_repair_ack` for every other,
/// `on_loss` once when recovery begins, `on_recovered` once when it ends, and `on_timeout` when the retransmission timer
/// expires.
pub trait CongestionWindow: Probe {
    /// Takes an acknowledgement into account.
    fn on_ack(&mut self, acked: &Acked);

    /// Takes an acknowledgement into account that came while losses are repaired or are likely, and told of `lost` segments
    /// that nobody knew were lost. Laws for which loss is congestion stand still then; `round_end` is never set.
    fn on_repair_ack(&mut self, _acked: &Acked, _lost: u32) {}

    /// A loss was detected with `flight` segments in flight (RFC 5681 §3.2): sets the slow-start threshold and the window
    /// that recovery works towards.
    fn on_loss(&mut self, now: Time, flight: u32);

    /// Recovery is over: everything that was in flight when it began is acknowledged.
    fn on_recovered(&mut self, now: Time);

    /// The retransmission timer expired with `flight` segments in flight (RFC 5681 §3.1, Eq. (4)). `again` says that the
    /// same segment has timed out before, which must not lower the threshold a second time.
    fn on_timeout(&mut self, now: Time, flight: u32, again: bool);

    /// The congestion window in segments, at least one, with the fraction that it has grown by.
    fn cwnd(&self) -> f64;

    /// The slow-start threshold in segments, infinite until the first loss.
    fn ssthresh(&self) -> f64;

    /// The least time from one segment to the next; none for a law that lets acknowledgements alone space them.
    fn gap(&self) -> Option<Span> {
        None
    }

    /// Segments that may leave at once where the gap allowed as many before and they were not there (RFC 9002 §7.7).
    fn burst(&self) -> u32 {
        1
    }
}

/// Segments that slow start adds for an acknowledgement of `newly` segments (RFC 5681 §3.1, Eq. (2)): what it acknowledged,
/// and at most one, which is L = 1 of RFC 3465 §2.2.
fn slow_start(newly: u32) -> f64 {
    f64::from(newly.min(1))
}

/// Segments that congestion avoidance adds for an acknowledgement of `newly` segments: a share of one that sums to one a
/// round trip, however the receiver groups its acknowledgements (RFC 5681 §3.1, RFC 3465 §2.1).
fn avoidance(newly: u32, cwnd: f64) -> f64 {
    (f64::from(newly) / cwnd).min(1.0)
}

/// The threshold that `flight` segments leave behind: `part` of them, at least two (RFC 5681 §3.1, Eq. (4)).
fn reduced(flight: f64, part: f64) -> f64 {
    (flight * part).max(2.0)
}
