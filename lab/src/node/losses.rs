//! What a node has lost, and whose it was.

use super::Drops;
use crate::packet::Packet;

/// Counts lost packets, all together and flow by flow; cross traffic has no flows.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Losses {
    total: Drops,
    /// By flow number, as far as any flow has lost a packet.
    flows: Vec<u64>,
}

impl Losses {
    /// One more.
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

    /// All of them.
    pub(crate) fn total(&self) -> Drops {
        self.total
    }

    /// Those of one flow.
    pub(crate) fn of(&self, flow: u32) -> u64 {
        self.flows.get(flow as usize).copied().unwrap_or(0)
    }
}
