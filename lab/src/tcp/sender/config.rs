//! The parameters and the counters of a sender.

use thalweg_core::probe::{Probe, Visitor};
use thalweg_core::time::Time;
use thalweg_core::units::Bytes;

use crate::tcp::rtt::Timeouts;

/// The repair of losses without waiting for the timer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Recovery {
    /// One segment a round trip (RFC 6582), for receivers without SACK.
    NewReno,
    /// The segments that SACK reports missing (RFC 6675).
    #[default]
    Sack,
    /// The same, released by proportional rate reduction (RFC 9937).
    SackPrr,
}

impl Recovery {
    /// True if it reads SACK blocks, which the receiver must then send.
    pub fn has_sack(self) -> bool {
        self != Recovery::NewReno
    }
}

/// Departures of implementations from the RFCs, which windows of a few segments show.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Dialect {
    /// The RFCs, and Linux's Reno as in the kernel.
    #[default]
    Rfc,
    /// Linux: CUBIC never grows by more than alpha_cubic where Reno leads.
    Linux,
    /// ns-3.37, as in its `TcpSocketBase` and `TcpPrrRecovery`; `docs/controls.md` lists the differences.
    Ns3,
}

/// The configuration of a sender without its law; the law determines the initial window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SenderConfig {
    /// The flow that its segments belong to.
    pub flow: u32,
    /// The time at which it starts to send.
    pub start: Time,
    /// The number of segments that it sends; if none, it never ends.
    pub segments: Option<u64>,
    /// The payload of a segment.
    pub mss: Bytes,
    /// The loss recovery algorithm.
    pub recovery: Recovery,
    /// The reading of the RFCs.
    pub dialect: Dialect,
    /// Segments that the receiver buffers, counted from the first that is missing; at least one.
    pub receive_window: u32,
    /// The bounds of the retransmission timeout.
    pub timeouts: Timeouts,
}

/// The payload that fills 1500 bytes.
pub const MSS: Bytes = Bytes(1460);

impl SenderConfig {
    /// An endless sender from time zero, with SACK, 1500 bytes per segment, and a receive window that never limits it.
    pub fn new(flow: u32) -> SenderConfig {
        SenderConfig {
            flow,
            start: Time::ZERO,
            segments: None,
            mss: MSS,
            recovery: Recovery::Sack,
            dialect: Dialect::Rfc,
            receive_window: 1 << 20,
            timeouts: Timeouts::default(),
        }
    }
}

/// The counters of a sender.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SenderCounters {
    /// Segments sent, retransmissions included.
    pub sent: u64,
    /// Retransmissions.
    pub retransmitted: u64,
    /// Expiries of the retransmission timer.
    pub timeouts: u64,
    /// Fast recoveries.
    pub recoveries: u64,
    /// The time at which the last segment of a finite transfer was acknowledged.
    pub completed: Option<Time>,
}

impl Probe for SenderCounters {
    fn probe(&self, visit: &mut Visitor<'_>) {
        visit("sent", self.sent as f64);
        visit("retransmitted", self.retransmitted as f64);
        visit("timeouts", self.timeouts as f64);
        visit("recoveries", self.recoveries as f64);
    }
}
