//! What of a block cannot leave in time.

use super::Block;
use crate::time::{Span, Time};
use crate::units::Bytes;
use crate::wire::fecframe::Adui;

/// Where an RTP packet has its sequence number (RFC 3550 §5.1).
const SEQUENCE: usize = 2;

impl Block {
    /// Drops what would wait for longer than `patience` if packets left one by one from `start` on, each for as long as
    /// `takes` says of its bytes. Returns how many were dropped.
    ///
    /// What is dropped takes no time, so that the packet after it has more of it: the older ones leave as late as they
    /// may, and the gaps between them are small and spread evenly. The others are numbered anew, because what never left
    /// must look lost to nobody.
    pub(in crate::session::live::sender) fn shed(
        &mut self,
        start: Time,
        patience: Span,
        takes: impl Fn(Bytes) -> Span,
    ) -> usize {
        let all = self.sources();
        let (mut free_at, mut kept, mut from, mut end) = (start, 0, 0, 0);
        for at in 0..all {
            let adui = core::mem::replace(&mut from, self.ends[at])..self.ends[at];
            if free_at.since(self.produced[at]) > patience {
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

    /// Ten packets, one a millisecond, that take `micros` each and may wait for 12 ms, from 10 ms on: which of them leave.
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
    fn what_leaves_in_time_stays() {
        assert_eq!(shed(1000), (0..10).collect::<Vec<u8>>());
    }

    #[test]
    fn where_half_of_it_fits_every_second_packet_leaves_as_soon_as_no_more_can_wait() {
        // Packet n may leave until 12 + n ms. 0, 1 and 2 leave at 10, 12 and 14; 16 is too late for 3, not for 4.
        assert_eq!(shed(2000), [0, 1, 2, 4, 6, 8]);
    }

    #[test]
    fn after_a_packet_that_takes_for_ever_none_leaves() {
        assert_eq!(shed(1_000_000), [0]);
    }
}
