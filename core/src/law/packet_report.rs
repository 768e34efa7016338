//! The outcome of one packet: the record of feedback from which the inputs of every law follow, whatever the feedback
//! was on the wire.

use crate::time::{Span, Time};
use crate::units::Bytes;

/// A packet that feedback has settled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PacketReport {
    /// Its number among all packets in sending order, from 0 on.
    pub number: u64,
    /// Its size, headers included.
    pub size: Bytes,
    /// The time at which it was sent.
    pub sent: Time,
    /// The time at which its acknowledgement would have arrived if the receiver had not delayed it; none if the packet
    /// was declared lost.
    pub acknowledged: Option<Time>,
}

impl PacketReport {
    /// The packet's round trip without the receiver's delay; none if it was declared lost.
    pub fn rtt(&self) -> Option<Span> {
        self.acknowledged.map(|acknowledged| acknowledged.since(self.sent))
    }
}
