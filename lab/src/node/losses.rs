//! Lost packets of a node, by flow.

use super::Drops;
use crate::packet::Packet;

/// Counts lost packets, in total and per flow; cross traffic has no flows.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Losses {
    total: Drops,
    /// Losses by flow number, up to the highest flow that has lost a packet.
    flows: Vec<u64>,
}

impl Losses {
    /// Counts one more lost packet.
    pub(crate) fn count(&mut self, packet: &Packet) {
        self.total.count(packet);
        if packet.is_cross() {
            return;
        }
        let flow = packet.flow as usize;
        if self.flows.len() <= flow {
            self.flows.resize(flow + 1, 0);
        }
        self.flows[flow] += 1;
    }

    /// The losses of all flows.
    pub(crate) fn total(&self) -> Drops {
        self.total
    }

    /// The losses of one flow.
    pub(crate) fn of(&self, flow: u32) -> u64 {
        self.flows.get(flow as usize).copied().unwrap_or(0)
    }
}
