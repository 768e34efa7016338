//! Shedding of packets that cannot leave in time.

use super::Block;
use crate::time::{Span, Time};
use crate::units::Bytes;
use crate::wire::fecframe::Adui;

/// Offset of the sequence number in an RTP packet (RFC 3550 §5.1).
pub(in crate::session::live::sender) const SEQUENCE: usize = 2;

impl Block {
    /// Drops packets that would wait for longer than `longest_wait` if packets left one by one from `start` on, each for as
    /// long as `takes` says of its bytes. Returns the number of packets dropped.
    ///
    /// A dropped packet takes no time, so that more is left for the packet after it: the older packets leave as late as
    /// they may, and the gaps between them are small and spread evenly. The remaining packets are renumbered, because a
    /// packet that was never sent must not look lost to the receiver.
    pub(in crate::session::live::sender) fn shed(
        &mut self,
        start: Time,
        longest_wait: Span,
        takes: impl Fn(Bytes) -> Span,
    ) -> usize {
        let all = self.sources();
        let (mut free_at, mut kept, mut from, mut end) = (start, 0, 0, 0);
        for at in 0..all {
            let adui = core::mem::replace(&mut from, self.ends[at])..self.ends[at];
            if free_at.since(self.produced[at]) > longest_wait {
                continue;
            }
            let len = adui.len();
            free_at += takes(Bytes((len - Adui::OVERHEAD) as u64));
            self.aduis.copy_within(adui, end);
            let number = ((self.first + kept as u64) as u16).to_be_bytes();
            self.aduis[end + Adui::OVERHEAD + SEQUENCE..][..number.len()].copy_from_slice(&number);
            end += len;
            (self.ends[kept], self.produced[kept]) = (end, self.produced[at]);
            kept += 1;
        }
        self.aduis.truncate(end);
        self.ends.truncate(kept);
        self.produced.truncate(kept);
        all - kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::live::sender::block::{Encoders, Symbol};
    use crate::wire::rtp;

    /// Ten packets, one a millisecond, each of which takes `micros` to send and may wait for 12 ms, sent from 10 ms on.
    /// Returns the packets that leave.
    fn shed(micros: u64) -> Vec<u8> {
        let at = |millis: usize| Time::ZERO + Span::from_millis(millis as u64);
        let mut block = Block::default();
        block.reopen(Time::ZERO, 70_000);
        for packet in 0..10 {
            let header = rtp::Header { sequence: (70_000 + packet) as u16, ..rtp::Header::default() };
            block.push(at(packet), header, &[packet as u8; 5]);
        }
        let dropped = block.shed(at(10), Span::from_millis(12), |bytes| {
            assert_eq!(bytes, Bytes(rtp::HEADER_LEN as u64 + 5));
            Span::from_micros(micros)
        });
        block.close(0, 0, &mut Encoders::default());
        let mut left = Vec::new();
        while block.next().is_some() {
            let Some(Symbol::Source { sequence, produced, packet, .. }) = block.pop() else { panic!("no repair") };
            assert_eq!(sequence, 70_000 + left.len() as u64, "no number is left out");
            assert_eq!(packet[2..4], (sequence as u16).to_be_bytes());
            let payload = packet[rtp::HEADER_LEN..].to_vec();
            assert_eq!((produced, payload.len()), (at(payload[0].into()), 5));
            left.push(payload[0]);
        }
        assert_eq!(left.len() + dropped, 10);
        left
    }

    #[test]
    fn packets_that_leave_in_time_are_kept() {
        assert_eq!(shed(1000), (0..10).collect::<Vec<u8>>());
    }

    #[test]
    fn every_second_packet_is_dropped_when_half_the_block_fits() {
        // Packet n may leave until 12 + n ms. Packets 0, 1 and 2 leave at 10, 12 and 14 ms; 16 ms is too late for 3,
        // not for 4.
        assert_eq!(shed(2000), [0, 1, 2, 4, 6, 8]);
    }

    #[test]
    fn no_packet_leaves_after_one_that_takes_too_long() {
        assert_eq!(shed(1_000_000), [0]);
    }
}
