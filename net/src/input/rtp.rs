//! RTP/MP2T (RFC 2250) as an input.

use thalweg_core::wire::mpegts::is_whole_packets;
use thalweg_core::wire::rtp::{self, Packet, SequenceUnwrapper};

/// How far back a packet counts as late or sent twice; further back the source has begun anew.
const LATE: u64 = 128;

/// Takes the RTP header off.
///
/// Packets pass in the order in which they come, at once: a duplicate, or a packet that others have overtaken, is
/// left out, because putting it back in its place would mean to wait at the input of a stream that has a latency to
/// keep.
#[derive(Debug, Default)]
pub(super) struct Unwrap {
    source: Option<u32>,
    sequence: SequenceUnwrapper,
}

impl Unwrap {
    /// What the packet carries; nothing if it is late or RTCP; the reason if it cannot be carried.
    pub(super) fn payload<'a>(&mut self, datagram: &'a [u8]) -> Result<Option<&'a [u8]>, String> {
        if rtp::is_rtcp(datagram) {
            return Ok(None);
        }
        let packet = Packet::parse(datagram).map_err(|error| format!("left out a datagram that is no RTP: {error}"))?;
        if packet.header.payload_type != rtp::MP2T {
            let payload_type = packet.header.payload_type;
            return Err(format!("left out RTP of payload type {payload_type}; MPEG-TS is {}", rtp::MP2T));
        }
        if !is_whole_packets(packet.payload) {
            let len = packet.payload.len();
            return Err(format!("left out RTP of {len} bytes that are not packets of MPEG-TS (188 bytes, 0x47 first)"));
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
    fn duplicates_and_overtaken_packets_stay_out_and_wrapping_does_not_hurt() {
        assert_eq!(passed(&[(1, 65534), (1, 65535), (1, 65535), (1, 1), (1, 0), (1, 2)]), [65534, 65535, 1, 2]);
    }

    #[test]
    fn a_source_that_begins_anew_is_followed() {
        assert_eq!(passed(&[(1, 5000), (1, 100), (1, 101)]), [5000, 100, 101]);
        assert_eq!(passed(&[(1, 5000), (2, 4999)]), [5000, 4999]);
    }

    #[test]
    fn what_is_no_mpeg_ts_in_rtp_is_refused_with_its_reason() {
        let mut unwrap = Unwrap::default();
        assert!(unwrap.payload(b"GET / HTTP/1.1\r\n").expect_err("no RTP").contains("no RTP"));
        let mut opus = packet(1, 1);
        opus[1] = 111;
        assert!(unwrap.payload(&opus).expect_err("not MP2T").contains("111"));
        opus[1] = 200;
        assert_eq!(unwrap.payload(&opus), Ok(None), "RTCP");
    }

    #[test]
    fn only_whole_packets_pass_and_what_is_refused_takes_no_number() {
        let mut unwrap = Unwrap::default();
        let header = &packet(1, 9)[..rtp::HEADER_LEN];
        for payload in [&b"hello world"[..], &[0; 100], &[], &[0; 188], &packet(1, 9)[rtp::HEADER_LEN + 1..]] {
            let refused = unwrap.payload(&[header, payload].concat()).expect_err("no packets");
            assert!(refused.contains(&format!("{} bytes that are not packets", payload.len())), "{refused}");
        }
        let two = [&packet(1, 9)[..], &packet(1, 9)[rtp::HEADER_LEN..]].concat();
        assert_eq!(unwrap.payload(&two).map(|payload| payload.map(<[u8]>::len)), Ok(Some(376)));
    }

    proptest! {
        #[test]
        fn any_datagrams_pass_in_part_or_are_refused(
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
