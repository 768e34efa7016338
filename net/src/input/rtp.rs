//! RTP/MP2T (RFC 2250) as an input.

use thalweg_core::wire::rtp::{self, Packet, SequenceUnwrapper};
use thalweg_mpegts::is_whole_packets;

/// The distance within which an earlier packet counts as late or duplicated; beyond it, the source has restarted.
const LATE: u64 = 128;

/// Removes the RTP header.
///
/// Packets pass in order of arrival, at once. Duplicates, and packets that others have overtaken, are left out:
/// reordering would mean waiting at the input of a stream that has a latency to keep.
#[derive(Debug, Default)]
pub(super) struct Unwrap {
    source: Option<u32>,
    sequence: SequenceUnwrapper,
}

impl Unwrap {
    /// The payload of a packet; none if it is late or RTCP; an error is the reason that it cannot be carried.
    pub(super) fn payload<'a>(&mut self, datagram: &'a [u8]) -> Result<Option<&'a [u8]>, String> {
        if rtp::is_rtcp(datagram) {
            return Ok(None);
        }
        let packet = Packet::parse(datagram).map_err(|error| format!("skipped a datagram that is not RTP: {error}"))?;
        if packet.header.payload_type != rtp::MP2T {
            let payload_type = packet.header.payload_type;
            return Err(format!("skipped RTP of payload type {payload_type}; MPEG-TS is {}", rtp::MP2T));
        }
        if !is_whole_packets(packet.payload) {
            let len = packet.payload.len();
            return Err(format!(
                "skipped RTP: its {len} bytes are not MPEG-TS packets (188 bytes that begin with 0x47)"
            ));
        }
        Ok(self.is_new(&packet).then_some(packet.payload))
    }

    fn is_new(&mut self, packet: &Packet<'_>) -> bool {
        if self.source.replace(packet.header.ssrc) != Some(packet.header.ssrc) {
            self.sequence = SequenceUnwrapper::default();
        }
        let highest = self.sequence.highest();
        let sequence = self.sequence.peek(packet.header.sequence.into());
        match highest {
            Some(highest) if sequence <= highest && highest - sequence < LATE => return false,
            Some(highest) if sequence <= highest => self.sequence = SequenceUnwrapper::default(),
            _ => {}
        }
        self.sequence.unwrap(packet.header.sequence.into());
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use thalweg_core::wire::rtp::Header;

    fn packet(ssrc: u32, sequence: u16) -> Vec<u8> {
        let mut bytes = vec![0; rtp::HEADER_LEN];
        Header { payload_type: rtp::MP2T, sequence, ssrc, ..Header::default() }.emit(&[], &mut bytes);
        bytes.extend_from_slice(&[0x47, 0x1f, 0xff, 0x10]);
        bytes.extend_from_slice(&sequence.to_be_bytes());
        bytes.resize(rtp::HEADER_LEN + 188, 0xff);
        bytes
    }

    fn passed(packets: &[(u32, u16)]) -> Vec<u16> {
        let mut unwrap = Unwrap::default();
        let pass = |&(ssrc, sequence): &(u32, u16)| {
            let payload = unwrap.payload(&packet(ssrc, sequence)).expect("RTP").map(<[u8]>::to_vec)?;
            Some(u16::from_be_bytes([payload[4], payload[5]]))
        };
        packets.iter().filter_map(pass).collect()
    }

    #[test]
    fn duplicate_and_late_packets_are_dropped_across_wrapping() {
        assert_eq!(passed(&[(1, 65534), (1, 65535), (1, 65535), (1, 1), (1, 0), (1, 2)]), [65534, 65535, 1, 2]);
    }

    #[test]
    fn restarted_source_is_followed() {
        assert_eq!(passed(&[(1, 5000), (1, 100), (1, 101)]), [5000, 100, 101]);
        assert_eq!(passed(&[(1, 5000), (2, 4999)]), [5000, 4999]);
    }

    #[test]
    fn datagrams_other_than_mpeg_ts_in_rtp_are_refused_with_a_reason() {
        let mut unwrap = Unwrap::default();
        assert!(unwrap.payload(b"GET / HTTP/1.1\r\n").expect_err("no RTP").contains("not RTP"));
        let mut opus = packet(1, 1);
        opus[1] = 111;
        assert!(unwrap.payload(&opus).expect_err("not MP2T").contains("111"));
        opus[1] = 200;
        assert_eq!(unwrap.payload(&opus), Ok(None), "RTCP");
    }

    #[test]
    fn only_whole_packets_pass_and_refused_ones_use_no_sequence_number() {
        let mut unwrap = Unwrap::default();
        let header = &packet(1, 9)[..rtp::HEADER_LEN];
        for payload in [&b"hello world"[..], &[0; 100], &[], &[0; 188], &packet(1, 9)[rtp::HEADER_LEN + 1..]] {
            let refused = unwrap.payload(&[header, payload].concat()).expect_err("no packets");
            assert!(refused.contains(&format!(" {} bytes are not MPEG-TS", payload.len())), "{refused}");
        }
        let two = [&packet(1, 9)[..], &packet(1, 9)[rtp::HEADER_LEN..]].concat();
        assert_eq!(unwrap.payload(&two).map(|payload| payload.map(<[u8]>::len)), Ok(Some(376)));
    }

    proptest! {
        #[test]
        fn any_datagram_yields_part_of_itself_or_is_refused(
            datagrams in prop::collection::vec((any::<u16>(), 1u32..3, prop::collection::vec(any::<u8>(), 0..40)), 0..40),
            whole in any::<bool>(),
        ) {
            let mut unwrap = Unwrap::default();
            for (sequence, ssrc, bytes) in datagrams {
                let datagram = if whole { [packet(ssrc, sequence), bytes].concat() } else { bytes };
                if let Ok(Some(payload)) = unwrap.payload(&datagram) {
                    prop_assert!(datagram.windows(payload.len().max(1)).any(|part| part.starts_with(payload)));
                }
            }
        }
    }
}
