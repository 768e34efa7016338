//! The packet threshold of loss detection (RFC 9002 §6.1.1): the number of later packets that must have been delivered
//! before an undelivered one is declared lost.
//!
//! The time threshold (§6.1.2) is the session's, and both must be met:
//!
//! | session | packet threshold | time threshold |
//! |---|---|---|
//! | live | 3 | a quarter of the round trip, from the report that met the packet threshold |
//! | lossless | 1 | the longest round trip of late ([`crate::loss_timer`]), from the packet's departure |

/// kPacketThreshold (RFC 9002 §6.1.1), as in RFC 5348 §5.1.
pub(in crate::session) const PACKET_THRESHOLD: usize = 3;

/// The `N` newest packets that were delivered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::session) struct PacketThreshold<const N: usize> {
    /// Their numbers plus one, ascending; zero stands for none.
    newest: [u64; N],
}

impl<const N: usize> Default for PacketThreshold<N> {
    fn default() -> Self {
        PacketThreshold { newest: [0; N] }
    }
}

impl<const N: usize> PacketThreshold<N> {
    /// Records the first delivery of packet `number`.
    pub(in crate::session) fn deliver(&mut self, number: u64) {
        if number + 1 > self.newest[0] {
            self.newest[0] = number + 1;
            self.newest.sort_unstable();
        }
    }

    /// The number before which every packet was overtaken by at least `N` delivered ones.
    pub(in crate::session) fn overtaken(&self) -> u64 {
        self.newest[0].saturating_sub(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 9002 §6.1.1: a packet is lost if it was sent kPacketThreshold packets before an acknowledged one. In order,
    /// packet 0 is overtaken by 1, 2 and 3.
    #[test]
    fn packet_is_overtaken_by_three_delivered_ones_in_any_order() {
        for order in [[1, 2, 3], [3, 2, 1], [2, 3, 1]] {
            let mut threshold = PacketThreshold::<PACKET_THRESHOLD>::default();
            order[..2].iter().for_each(|number| threshold.deliver(*number));
            assert_eq!(threshold.overtaken(), 0);
            threshold.deliver(order[2]);
            assert_eq!(threshold.overtaken(), 1, "0 and no other");
            threshold.deliver(0);
            assert_eq!(threshold.overtaken(), 1, "an older one overtakes nothing");
        }
    }

    #[test]
    fn threshold_of_one_is_the_newest_delivered_packet() {
        let mut threshold = PacketThreshold::<1>::default();
        assert_eq!(threshold.overtaken(), 0);
        for (number, overtaken) in [(0, 0), (7, 7), (3, 7)] {
            threshold.deliver(number);
            assert_eq!(threshold.overtaken(), overtaken);
        }
    }
}
