//! The elementary stream in the packets of a PID: their payload without headers of PES packets (ISO/IEC 13818-1
//! §2.4.3.6), and without packets that are sent twice (§2.4.3.3).

use thalweg_mpegts::PACKET;
use thalweg_mpegts::packet::Packet;

/// The state of a PID between its packets.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(in crate::catalog::frames) struct Elementary {
    counter: Option<u8>,
    /// Bytes of a header that continues in the next packet.
    header_left: usize,
}

impl Elementary {
    /// The bytes of the elementary stream in the next packet of its PID, and the number of bytes of the payload before
    /// them that are no header that begins in this packet.
    pub(in crate::catalog::frames) fn take<'a>(&mut self, packet: &'a Packet) -> (&'a [u8], u8) {
        let payload = packet.payload();
        if packet.is_damaged() || !packet.has_payload() || self.counter == Some(packet.counter()) {
            return (&[], 0);
        }
        self.counter = Some(packet.counter());
        let before = std::mem::take(&mut self.header_left);
        let header = if packet.starts_unit() { header(payload) } else { before };
        self.header_left = header.saturating_sub(payload.len());
        let header = header.min(payload.len());
        (&payload[header..], if packet.starts_unit() { 0 } else { header as u8 })
    }
}

/// The length of the header at the start of a PES packet of audio or video; that of a malformed one is that of the
/// payload.
fn header(payload: &[u8]) -> usize {
    match payload.first_chunk() {
        Some([0, 0, 1, _, _, _, marks, _, len]) if marks & 0xc0 == 0x80 => 9 + usize::from(*len),
        _ => PACKET.min(payload.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A packet of PID 0x100 whose payload is `bytes` and 0xff.
    fn packet(start: bool, counter: u8, bytes: &[u8]) -> Packet {
        let mut packet = vec![0xff; PACKET];
        packet[..4].copy_from_slice(&[0x47, if start { 0x41 } else { 0x01 }, 0x00, 0x10 | counter]);
        packet[4..4 + bytes.len()].copy_from_slice(bytes);
        Packet::parse(&packet).expect("a packet")
    }

    #[test]
    fn headers_are_left_out_also_where_they_continue_in_the_next_packet() {
        let mut stream = Elementary::default();
        let short = packet(true, 0, &[0, 0, 1, 0xe0, 0, 0, 0x80, 0x80, 5, 0x21, 0, 1, 0, 1, 7, 8]);
        assert_eq!(stream.take(&short).0[..2], [7, 8]);
        // The same counter: a packet that is sent twice.
        assert_eq!(stream.take(&short).0.len(), 0);
        let long = packet(true, 1, &[0, 0, 1, 0xe0, 0, 0, 0x80, 0x00, 255]);
        assert_eq!(stream.take(&long).0.len(), 0);
        // 264 bytes of header, of which 184 were in the first packet.
        let next = packet(false, 2, &[0; 90]);
        let (bytes, skipped) = stream.take(&next);
        assert_eq!((bytes.len(), skipped), (184 - 80, 80));
        assert_eq!(stream.take(&packet(false, 3, &[])).0.len(), 184);
        // No header of a PES packet.
        assert_eq!(stream.take(&packet(true, 4, &[1, 2, 3])).0.len(), 0);
    }
}
