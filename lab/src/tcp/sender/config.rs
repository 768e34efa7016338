//! What a sender is told, and what it counts.

use thalweg_core::probe::{Probe, Visitor};
use thalweg_core::time::Time;
use thalweg_core::units::Bytes;

use crate::tcp::rtt::Timeouts;

/// How a sender repairs what is lost without waiting for its timer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Recovery {
    /// One segment a round trip (RFC 6582), for receivers without SACK.
    NewReno,
    /// What SACK reports missing (RFC 6675).
    #[default]
    Sack,
    /// The same, let out by proportional rate reduction (RFC 9937).
    SackPrr,
}

impl Recovery {
    /// Whether it reads SACK blocks, which the receiver must send then.
    pub fn has_sack(self) -> bool {
        self != Recovery::NewReno
    }
}

/// Where implementations part from the RFCs, and windows of a few segments show it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Dialect {
    /// The RFCs, and Linux's Reno as the kernel has it.
    #[default]
    Rfc,
    /// Linux: CUBIC never grows by more than alpha_cubic where Reno leads.
    Linux,
    /// ns-3.37, as its `TcpSocketBase` and `TcpPrrRecovery` have it; `docs/controls.md` lists what is different.
    Ns3,
}

/// How a sender works, its law aside; the law brings the initial window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SenderConfig {
    /// The flow that its segments belong to.
    pub flow: u32,
    /// When it starts to send.
    pub start: Time,
    /// How much it sends; none never ends.
    pub segments: Option<u64>,
    /// The payload of a segment.
    pub mss: Bytes,
    /// How it repairs losses.
    pub recovery: Recovery,
    /// How it reads the RFCs.
    pub dialect: Dialect,
    /// Segments that the receiver takes before the first that is missing; at least one.
    pub receive_window: u32,
    /// What bounds its retransmission timeout.
    pub timeouts: Timeouts,
}

/// The payload that fills 1500 bytes.
pub const MSS: Bytes = Bytes(1460);

impl SenderConfig {
    /// Endless from time zero, with SACK, 1500 bytes a segment, and a receiver that never holds it back.
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

/// What was sent, and what went wrong.
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
    /// When the last segment of a finite transfer was acknowledged.
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
