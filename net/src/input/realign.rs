//! MPEG-TS in datagrams of any size as an input.

use thalweg_core::time::{Span, Time};
use thalweg_core::units::Bytes;
use thalweg_mpegts::PACKET;
use thalweg_mpegts::align::{Aligner, SYNC_RUN};
use thalweg_mpegts::packet::SYNC;

/// Longest wait of packets for others to fill their datagram: as long as the shortest block.
const HOLD: Span = Span::from_millis(10);

/// The offset of the first packet in a datagram that is cut from an MPEG-TS stream, perhaps within packets; none if it
/// contains anything else, or too few packets to decide.
pub(super) fn first_packet(datagram: &[u8]) -> Option<usize> {
    let is_start = |at: &usize| {
        let mut starts = datagram[*at..].iter().step_by(PACKET);
        starts.len() >= SYNC_RUN && starts.all(|byte| *byte == SYNC)
    };
    (0..PACKET.min(datagram.len())).find(is_start)
}

/// Puts seven packets into a datagram, or fewer rather than wait for longer than [`HOLD`].
#[derive(Debug, Default)]
pub(super) struct Realign {
    aligner: Aligner,
    /// The time at which waiting packets are sent without others.
    due: Option<Time>,
}

impl Realign {
    /// Takes a datagram, and passes full ones to `take`.
    pub(super) fn push(&mut self, now: Time, datagram: &[u8], take: &mut impl FnMut(&[u8])) {
        self.aligner.push(datagram);
        self.drain(take);
        if self.aligner.is_waiting() {
            self.due.get_or_insert(now + HOLD);
        }
    }

    /// Passes packets that have waited for long enough to `take`.
    pub(super) fn release(&mut self, now: Time, take: &mut impl FnMut(&[u8])) {
        if self.due.is_some_and(|due| due <= now) {
            self.aligner.flush();
            self.drain(take);
        }
    }

    /// Passes all remaining data to `take`: the input has ended.
    pub(super) fn finish(&mut self, take: &mut impl FnMut(&[u8])) {
        self.aligner.finish();
        self.drain(take);
    }

    /// The time at which waiting packets are to be sent.
    pub(super) fn due(&self) -> Option<Time> {
        self.due
    }

    /// Bytes that belong to no packet.
    pub(super) fn skipped(&self) -> Bytes {
        self.aligner.skipped()
    }

    fn drain(&mut self, take: &mut impl FnMut(&[u8])) {
        while let Some(datagram) = self.aligner.poll() {
            self.due = None;
            take(datagram);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn packets(count: usize) -> Vec<u8> {
        let mut packet = [0xff; 188];
        packet[..4].copy_from_slice(&[0x47, 0x1f, 0xff, 0x10]);
        packet.repeat(count)
    }

    #[test]
    fn packets_leave_seven_per_datagram() {
        let (mut realign, mut taken) = (Realign::default(), Vec::new());
        for odd in packets(21).chunks(5 * 188) {
            realign.push(Time::ZERO, odd, &mut |datagram| taken.push(datagram.len()));
        }
        assert_eq!(taken, [7 * 188; 3]);
    }

    #[test]
    fn incomplete_datagram_is_sent_after_ten_milliseconds() {
        let (mut realign, mut taken) = (Realign::default(), Vec::new());
        let at = |millis| Time::ZERO + Span::from_millis(millis);
        realign.push(at(0), &packets(8), &mut |datagram| taken.push(datagram.len()));
        realign.push(at(6), &packets(2), &mut |datagram| taken.push(datagram.len()));
        assert_eq!(realign.due(), Some(at(10)));
        for now in [at(9), at(10), at(11)] {
            realign.release(now, &mut |datagram| taken.push(datagram.len()));
        }
        assert_eq!((taken, realign.due()), (vec![7 * 188, 3 * 188], None));
    }

    #[test]
    fn mpeg_ts_is_detected_by_five_sync_bytes() {
        let stream = packets(9);
        for cut in 0..188 {
            let expected = (188 - cut) % 188;
            assert_eq!(first_packet(&stream[cut..cut + 1472]), Some(expected));
            // Four packets are too few to decide.
            assert_eq!(first_packet(&stream[cut..cut + expected + 3 * 188 + 1]), None);
        }
        let mut broken = stream[..1472].to_vec();
        broken[3 * 188] = 0;
        assert_eq!((first_packet(&broken), first_packet(&[]), first_packet(&[0; 1472])), (None, None, None));
    }

    proptest! {
        /// Whole packets with rubbish between them, in any pieces: only packets leave, and no more bytes than arrived.
        #[test]
        fn any_bytes_leave_as_whole_packets_or_are_dropped(
            parts in prop::collection::vec(prop_oneof![
                (0usize..20).prop_map(packets),
                prop::collection::vec(any::<u8>(), 0..400),
            ], 0..20),
        ) {
            let (mut realign, mut taken) = (Realign::default(), Vec::new());
            let mut take = |datagram: &[u8]| taken.push(datagram.to_vec());
            for (nth, part) in parts.iter().enumerate() {
                let now = Time::ZERO + Span::from_millis(3) * nth as u64;
                realign.push(now, part, &mut take);
                realign.release(now, &mut take);
            }
            realign.finish(&mut take);
            let came: usize = parts.iter().map(Vec::len).sum();
            prop_assert!(taken.iter().map(Vec::len).sum::<usize>() <= came);
            for datagram in taken {
                prop_assert!(datagram.len().is_multiple_of(188) && datagram.len() <= 7 * 188, "{}", datagram.len());
                prop_assert!(datagram.chunks(188).all(|packet| packet[0] == 0x47));
            }
        }
    }
}
