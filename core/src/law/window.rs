//! Congestion windows: the answers to "how many packets may be in flight?", one law per file.
//!
//! A law here is only the arithmetic of a congestion window. Round-trip estimation, loss detection, the packets in
//! flight and the choice of the next packet belong to the endpoint, so that laws stay small and the mechanism exists
//! once.

mod choice;
pub mod clamp;
pub mod copa;
pub mod cubic;
pub mod linux_reno;
pub mod newreno;
#[cfg(test)]
mod path;
pub mod playback;
mod start;
pub mod tcp_stream;
#[cfg(feature = "toy")]
pub mod toy;
pub mod vegas;

pub use choice::{Choice, Config, Law};
pub use playback::Playback;
pub use start::Start;

use super::{ParameterError, parameter};
use crate::probe::Probe;
use crate::time::{Span, Time};

/// The changes that one acknowledgement brings, in segments.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Acked {
    /// The time at which it arrived.
    pub now: Time,
    /// Segments that it acknowledged for the first time, cumulatively or selectively.
    pub newly: u32,
    /// Segments in flight before it arrived (FlightSize of RFC 5681).
    pub flight: u32,
    /// A round-trip sample, where Karn's rule allows one.
    pub rtt: Option<Span>,
    /// The smoothed round trip (RFC 6298), after the first sample.
    pub srtt: Option<Span>,
    /// True if it is the first acknowledgement of a segment that was sent after the last round ended.
    pub round_end: bool,
    /// True if the window held the endpoint back; a window that did not must not grow (RFC 7661, RFC 9438 §5.8).
    pub window_limited: bool,
}

/// A law that determines the number of segments in flight.
///
/// The endpoint calls `on_ack` for each acknowledgement outside loss recovery and `on_repair_ack` for every other,
/// `on_loss` once when recovery begins, `on_recovered` once when it ends, and `on_timeout` when the retransmission
/// timer expires.
pub trait CongestionWindow: Probe {
    /// Takes an acknowledgement into account.
    fn on_ack(&mut self, acked: &Acked);

    /// Takes an acknowledgement into account that arrived during or shortly before loss recovery, with `lost` segments
    /// newly declared lost. Laws for which loss is congestion do not change then; `round_end` is never set.
    fn on_repair_ack(&mut self, _acked: &Acked, _lost: u32) {}

    /// Handles a loss detected with `flight` segments in flight (RFC 5681 §3.2): sets the slow-start threshold and the
    /// window that recovery works towards.
    fn on_loss(&mut self, now: Time, flight: u32);

    /// Handles the end of recovery: all segments that were in flight at its start are acknowledged.
    fn on_recovered(&mut self, now: Time);

    /// Handles an expiry of the retransmission timer with `flight` segments in flight (RFC 5681 §3.1, Eq. (4)). `again`
    /// is true if the same segment has timed out before, which must not lower the threshold a second time.
    fn on_timeout(&mut self, now: Time, flight: u32, again: bool);

    /// The congestion window in segments, at least one, with its fraction.
    fn cwnd(&self) -> f64;

    /// The slow-start threshold in segments, infinite until the first loss.
    fn ssthresh(&self) -> f64;

    /// The minimum time from one segment to the next; none for a law that relies on acknowledgements for spacing.
    fn gap(&self) -> Option<Span> {
        None
    }

    /// Segments that may be sent at once if the sender had none to send when the gap allowed them (RFC 9002 §7.7).
    fn burst(&self) -> u32 {
        1
    }
}

/// Segments that slow start adds for an acknowledgement of `newly` segments (RFC 5681 §3.1, Eq. (2)): the number it
/// acknowledged, at most one, which is L = 1 of RFC 3465 §2.2.
fn slow_start(newly: u32) -> f64 {
    f64::from(newly.min(1))
}

/// Segments that congestion avoidance adds for an acknowledgement of `newly` segments: shares that add up to one
/// segment per round trip, however the receiver groups its acknowledgements (RFC 5681 §3.1, RFC 3465 §2.1).
fn avoidance(newly: u32, cwnd: f64) -> f64 {
    (f64::from(newly) / cwnd).min(1.0)
}

/// The threshold after a loss with `flight` segments in flight: `part` of them, at least two (RFC 5681 §3.1, Eq. (4)).
fn reduced(flight: f64, part: f64) -> f64 {
    (flight * part).max(2.0)
}
