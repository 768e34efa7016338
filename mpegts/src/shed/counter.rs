//! Continuity counters without the packets that were dropped (ISO/IEC 13818-1 §2.4.3.3).

use crate::packet::Packet;

/// The counter of one PID.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Counter {
    /// Packets dropped, modulo 16.
    dropped: u8,
    /// The counter of the last packet with a payload.
    last: Option<u8>,
}

impl Counter {
    /// Takes note of the next packet. Returns true if it repeats the one before.
    pub(super) fn observe(&mut self, packet: &Packet) -> bool {
        if !packet.has_payload() {
            return false;
        }
        self.last.replace(packet.counter()) == Some(packet.counter()) && !packet.has_discontinuity()
    }

    /// Takes note that the payload of a packet is dropped.
    pub(super) fn drop_one(&mut self) {
        self.dropped = (self.dropped + 1) % 16;
    }

    /// Sets the counter of a packet that remains.
    pub(super) fn set(&self, packet: &mut Packet) {
        packet.set_counter(packet.counter().wrapping_sub(self.dropped));
    }
}
