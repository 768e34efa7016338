//! Time stamps in the header of a PES packet (ISO/IEC 13818-1 §2.4.3.6, §2.4.3.7).
//!
//! | bytes | field |
//! |---|---|
//! | 0-2 | start code prefix 00 00 01 |
//! | 3 | stream id |
//! | 4-5 | length |
//! | 7 | bit 7: PTS, bit 6: DTS, other flags |
//! | 8 | header bytes that follow |
//! | 9-13 | PTS: 4 bits, 3 bits of it, 1, 15 bits of it, 1, 15 bits of it, 1 |
//! | 14-18 | DTS, likewise |

use core::ops::Range;

use thalweg_core::wire::Error;

use crate::packet::Packet;
use crate::stamp::{Ticks, Timestamp};

/// The time stamps in the PES header at the start of a packet's payload.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Header {
    /// The kind of stream: 0xc0 to 0xdf is audio, 0xe0 to 0xef video (Table 2-22).
    pub stream_id: u8,
    /// The presentation time.
    pub pts: Timestamp,
    /// The decoding time, if it differs.
    pub dts: Option<Timestamp>,
}

impl Header {
    /// Parses the header at the start of `packet`'s payload, if there is one with time stamps.
    ///
    /// A header whose time stamps continue in the next packet is not recognized; muxers do not write such headers.
    pub fn parse(packet: &Packet) -> Option<Header> {
        if !packet.starts_unit() || packet.is_scrambled() || packet.is_damaged() {
            return None;
        }
        let payload = packet.payload();
        let [0, 0, 1, stream_id, _, _, marks, flags, len] = *payload.first_chunk()? else { return None };
        if !has_optional_header(stream_id) || marks & 0xc0 != 0x80 {
            return None;
        }
        match flags >> 6 {
            0b10 if len >= 5 => Some(Header { stream_id, pts: read(payload, PTS, 0b0010)?, dts: None }),
            0b11 if len >= 10 => {
                let dts = read(payload, DTS, 0b0001)?;
                Some(Header { stream_id, pts: read(payload, PTS, 0b0011)?, dts: Some(dts) })
            }
            _ => None,
        }
    }

    /// Appends a PES header for `len` bytes of payload, which begin an access unit (data_alignment_indicator).
    ///
    /// # Errors
    /// [`Error::Length`] if the length does not fit into its 16 bits, as only that of video may (§2.4.3.7).
    pub(crate) fn emit(&self, len: usize, buf: &mut Vec<u8>) -> Result<(), Error> {
        let (flags, stamps_len) = if self.dts.is_some() { (0xc0, 10) } else { (0x80, 5) };
        let length = match u16::try_from(3 + stamps_len + len) {
            Ok(length) => length,
            Err(_) if self.stream_id >= VIDEO => 0,
            Err(_) => return Err(Error::Length),
        };
        let [high, low] = length.to_be_bytes();
        let start = buf.len();
        buf.extend([0, 0, 1, self.stream_id, high, low, 0x84, flags, stamps_len as u8]);
        buf.resize(start + PTS.start + stamps_len, 0);
        let header = &mut buf[start..];
        header[PTS.start] = flags >> 2;
        write(&mut header[PTS], self.pts);
        if let Some(dts) = self.dts {
            header[DTS.start] = 0x10;
            write(&mut header[DTS], dts);
        }
        Ok(())
    }

    /// True for the audio or video of a program, whose stamps determine its duration.
    pub fn is_audio_or_video(&self) -> bool {
        (AUDIO..=0xef).contains(&self.stream_id)
    }

    /// True for video.
    pub fn is_video(&self) -> bool {
        (VIDEO..=0xef).contains(&self.stream_id)
    }

    /// The decoding time: the DTS, or the PTS if there is none (§2.4.3.7).
    pub fn decoding_time(&self) -> Timestamp {
        self.dts.unwrap_or(self.pts)
    }
}

/// Shifts the time stamps of the PES header in `packet`, if there is one, by `ticks`.
pub fn shift(packet: &mut Packet, ticks: Ticks) {
    let Some(header) = Header::parse(packet) else { return };
    let payload = packet.payload_mut();
    write(&mut payload[PTS], header.pts + ticks);
    if let Some(dts) = header.dts {
        write(&mut payload[DTS], dts + ticks);
    }
}

/// The first stream id of audio and of video (Table 2-22).
pub(crate) const AUDIO: u8 = 0xc0;
pub(crate) const VIDEO: u8 = 0xe0;

const PTS: Range<usize> = 9..14;
const DTS: Range<usize> = 14..19;

/// Table 2-21: padding, program stream maps and directories, ECM, EMM, private stream 2, DSM-CC and H.222.1 type E have
/// no such header.
fn has_optional_header(stream_id: u8) -> bool {
    !matches!(stream_id, 0xbc | 0xbe | 0xbf | 0xf0..=0xf2 | 0xf8 | 0xff)
}

fn read(payload: &[u8], at: Range<usize>, prefix: u8) -> Option<Timestamp> {
    let [a, b, c, d, e] = *payload.get(at)?.first_chunk()?;
    if a >> 4 != prefix || a & c & e & 1 == 0 {
        return None;
    }
    let high = u64::from(a >> 1 & 0x07) << 30;
    let middle = u64::from(u16::from_be_bytes([b, c]) >> 1) << 15;
    let low = u64::from(u16::from_be_bytes([d, e]) >> 1);
    Some(Timestamp::new(high | middle | low))
}

fn write(field: &mut [u8], stamp: Timestamp) {
    let value = stamp.value();
    field[0] = field[0] & 0xf0 | (value >> 29) as u8 & 0x0e | 1;
    field[1..3].copy_from_slice(&((value >> 14) as u16 | 1).to_be_bytes());
    field[3..5].copy_from_slice(&((value << 1) as u16 | 1).to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PACKET;
    use proptest::prelude::*;

    fn packet(pes: &[u8]) -> Packet {
        let mut bytes = [0xff; PACKET];
        bytes[..4].copy_from_slice(&[0x47, 0x41, 0x00, 0x10]);
        bytes[4..4 + pes.len()].copy_from_slice(pes);
        Packet::parse(&bytes).unwrap()
    }

    #[test]
    fn timestamps_are_parsed_as_ffmpeg_writes_them() {
        // ffmpeg -f lavfi -i testsrc=d=1:r=25 -c:v mpeg2video -bf 2 x.ts; ffprobe -show_packets x.ts: 129600, 126000.
        let header = [0, 0, 1, 0xe0, 0, 0, 0x80, 0xc0, 0x0a, 0x31, 0, 0x07, 0xf4, 0x81, 0x11, 0, 0x07, 0xd8, 0x61];
        let header = Header::parse(&packet(&header)).unwrap();
        assert_eq!((header.pts.value(), header.dts.map(Timestamp::value)), (129_600, Some(126_000)));
        assert_eq!(header.decoding_time().value(), 126_000);
        assert!(header.is_audio_or_video());
    }

    #[test]
    fn packets_without_timestamps_are_unchanged() {
        for pes in [
            &[0, 0, 1, 0xbe, 0, 0, 0x80, 0x80, 5, 0x21, 0, 1, 0, 1][..],
            &[0, 0, 1, 0xe0, 0, 0, 0x80, 0x00, 0],
            &[0, 0, 1, 0xe0, 0, 0, 0x80, 0x80, 4, 0x21, 0, 1, 0, 1],
            &[0, 0, 1, 0xe0, 0, 0, 0x80, 0x80, 5, 0x21, 0, 0, 0, 1],
            &[0, 0, 0xb0, 0x0d],
        ] {
            let before = packet(pes);
            let mut after = before.clone();
            shift(&mut after, Ticks::from_secs(1));
            assert_eq!((Header::parse(&before), after), (None, before));
        }
    }

    proptest! {
        #[test]
        fn shifted_timestamps_move_exactly_modulo_33_bits(
            pts in 0..1u64 << 33, dts in 0..1u64 << 33, cycles in 0..1u64 << 33,
        ) {
            let mut packet = packet(&[0, 0, 1, 0xe0, 0, 0, 0x80, 0xc0, 10, 0x31, 0, 1, 0, 1, 0x11, 0, 1, 0, 1]);
            shift(&mut packet, Ticks::from_90k(pts));
            prop_assert_eq!(Header::parse(&packet).unwrap().pts.value(), pts);
            shift(&mut packet, Ticks::from_90k(dts));
            let before = Header::parse(&packet).unwrap();
            shift(&mut packet, Ticks::from_90k(cycles));
            let after = Header::parse(&packet).unwrap();
            prop_assert_eq!(after.pts.value(), (before.pts.value() + cycles) % (1 << 33));
            prop_assert_eq!(after.dts.unwrap().value(), (before.dts.unwrap().value() + cycles) % (1 << 33));
        }

        #[test]
        fn any_bytes_are_read_and_shifted_without_panic(
            mut bytes in prop::collection::vec(any::<u8>(), PACKET), cycles in any::<u64>(),
        ) {
            bytes[0] = 0x47;
            let mut packet = Packet::parse(&bytes).unwrap();
            let before = Header::parse(&packet);
            shift(&mut packet, Ticks(cycles));
            prop_assert_eq!(Header::parse(&packet).is_some(), before.is_some());
        }
    }
}
