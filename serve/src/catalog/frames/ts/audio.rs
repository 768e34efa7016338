//! The frames of audio in an elementary stream: AAC with ADTS headers (ISO/IEC 13818-7 §6.2), and MPEG-1/2 audio
//! (ISO/IEC 11172-3 §2.4.1.3, ISO/IEC 13818-3 §2.4.2.3).

use thalweg_core::video::Kind;

use super::psi::Audio;
use super::stream::{Position, Stream};
use crate::catalog::frames::{aac, packets};
use crate::rate::FormatError;

/// The longest header: that of ADTS without its checksum has seven bytes.
const HEADER: usize = 7;

/// Frames while they are found.
pub(super) struct Frames {
    format: Audio,
    /// The position from which frames are still to be looked for.
    at: Position,
    /// The last time stamp, and the samples since.
    time: Option<(i64, u64)>,
    /// The header of the first frame.
    pub(super) first: Option<Header>,
}

/// The header of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Header {
    /// Bytes of it that are not sent.
    header: u64,
    /// Bytes of the frame with its header.
    len: u64,
    samples: u64,
    /// The sampling rate in hertz.
    pub(super) rate: u32,
    /// The AudioSpecificConfig of AAC.
    pub(super) config: Option<[u8; 2]>,
}

impl Frames {
    pub(super) fn new(format: Audio) -> Frames {
        Frames { format, at: 0, time: None, first: None }
    }

    /// Looks for frames in the bytes that have arrived.
    pub(super) fn scan(&mut self, stream: &mut Stream) -> Result<(), FormatError> {
        loop {
            let bytes = stream.from(self.at);
            let Some(start) = bytes.first_chunk::<HEADER>() else { break };
            let header = match self.format {
                Audio::Adts => adts(start)?,
                Audio::Mpeg => mpeg(start),
            };
            let Some(header) = header else {
                self.at += 1;
                continue;
            };
            if header.len > bytes.len() as u64 {
                break;
            }
            self.add(stream, header)?;
            self.at += header.len;
        }
        stream.drop_until(self.at);
        Ok(())
    }

    fn add(&mut self, stream: &mut Stream, header: Header) -> Result<(), FormatError> {
        let first = *self.first.get_or_insert(header);
        if (first.rate, first.config) != (header.rate, header.config) {
            return Err(FormatError::new(format!(
                "the audio of PID {:#x} changes its sampling rate or channels midway",
                stream.pid
            )));
        }
        if let Some((display, _)) = stream.stamp(self.at).and_then(|stamp| stamp.times) {
            self.time = Some((display, 0));
        }
        let Some((time, samples)) = &mut self.time else { return Ok(()) };
        let at = *time + (*samples * 90_000 / u64::from(header.rate)) as i64;
        *samples += header.samples;
        let place = (self.at + header.header, self.at + header.len);
        let size = (header.len - header.header) as u32;
        let packets = if header.config.is_some() { packets::aac(size) } else { packets::mpeg_audio(size) };
        stream.add(place, (at, at), Kind::I, packets)
    }
}

/// The header of an ADTS frame; none if these bytes are not one.
fn adts(bytes: &[u8; HEADER]) -> Result<Option<Header>, FormatError> {
    let [0xff, second, third, fourth, fifth, sixth, seventh] = *bytes else { return Ok(None) };
    let (index, channels) = (third >> 2 & 15, third << 2 & 4 | fourth >> 6);
    let config = [((third >> 6) + 1) << 3 | index >> 1, index << 7 | channels << 3];
    let Ok(aac::Parameters { rate, .. }) = aac::parameters(&config) else { return Ok(None) };
    let header = if second & 1 == 1 { 7 } else { 9 };
    let len = u64::from(fourth & 3) << 11 | u64::from(fifth) << 3 | u64::from(sixth >> 5);
    if second & 0xf6 != 0xf0 || len <= header {
        return Ok(None);
    }
    if seventh & 3 != 0 {
        return Err(FormatError::new("AAC with several blocks of data in a frame is not supported by --rtsp"));
    }
    Ok(Some(Header { header, len, samples: 1024, rate, config: Some(config) }))
}

/// Bit rates in kb/s by version (MPEG-1, MPEG-2), layer and index.
const BIT_RATES: [[[u16; 15]; 3]; 2] = [
    [
        [0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],
        [0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
        [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
    ],
    [
        [0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256],
        [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
        [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
    ],
];

/// The header of a frame of MPEG audio; none if these bytes are not one. A free bit rate is not recognized.
fn mpeg(bytes: &[u8; HEADER]) -> Option<Header> {
    let [0xff, second, third, ..] = *bytes else { return None };
    // Versions: 3 is MPEG-1, 2 is MPEG-2, 0 its extension to a quarter of the rates.
    let (version, layer) = (second >> 3 & 3, 4 - (second >> 1 & 3));
    if second & 0xe0 != 0xe0 || version == 1 || layer == 4 {
        return None;
    }
    let rate = [44_100, 48_000, 32_000].get(usize::from(third >> 2 & 3))? >> (3 - version).min(2);
    let is_second = usize::from(version != 3);
    let bits = BIT_RATES[is_second][usize::from(layer) - 1].get(usize::from(third >> 4))?;
    let (bits, padding) = (u64::from(*bits) * 1000, u64::from(third >> 1 & 1));
    let samples = match (layer, version) {
        (1, _) => 384,
        (3, 0 | 2) => 576,
        _ => 1152,
    };
    let len = match layer {
        1 => (12 * bits / rate + padding) * 4,
        _ => samples / 8 * bits / rate + padding,
    };
    if bits == 0 { None } else { Some(Header { header: 0, len, samples, rate: rate as u32, config: None }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_mpeg_audio_are_those_of_its_standard() {
        // Layer III, 128 kb/s at 44.1 kHz: 417 bytes, 418 with padding (ISO/IEC 11172-3 §2.4.3.1: 144 x 128000 / 44100).
        let of = |bytes: [u8; 3]| {
            let header = mpeg(&[bytes[0], bytes[1], bytes[2], 0, 0, 0, 0])?;
            Some((header.len, header.samples, header.rate))
        };
        assert_eq!(of([0xff, 0xfb, 0x90]), Some((417, 1152, 44_100)));
        assert_eq!(of([0xff, 0xfb, 0x92]), Some((418, 1152, 44_100)));
        // Layer II, 192 kb/s at 48 kHz: 144 x 192000 / 48000. Layer I, 32 kb/s at 32 kHz: 12 slots of four bytes.
        assert_eq!(of([0xff, 0xfd, 0xa4]), Some((576, 1152, 48_000)));
        assert_eq!(of([0xff, 0xff, 0x18]), Some((48, 384, 32_000)));
        // MPEG-2, layer III, 8 kb/s at 22.05 kHz: 72 x 8000 / 22050.
        assert_eq!(of([0xff, 0xf3, 0x10]), Some((26, 576, 22_050)));
        for bytes in
            [[0xff, 0xfb, 0xf0], [0xff, 0xfb, 0x00], [0xff, 0xfb, 0x9c], [0xff, 0xeb, 0x90], [0xff, 0xf9, 0x90]]
        {
            assert_eq!(of(bytes), None, "{bytes:x?}");
        }
    }

    #[test]
    fn adts_headers_give_length_and_configuration() {
        // ffmpeg: AAC LC, 48 kHz, stereo, a frame of 7 + 256 bytes: 263 = 0b00 00100000 111.
        let header = adts(&[0xff, 0xf1, 0x4c, 0x80, 0x20, 0xff, 0xfc]).expect("valid").expect("a header");
        assert_eq!((header.len, header.header, header.rate, header.config), (263, 7, 48_000, Some([0x11, 0x90])));
        assert_eq!(adts(&[0xff, 0xe1, 0x4c, 0x80, 0x20, 0xff, 0xfc]), Ok(None));
        assert!(adts(&[0xff, 0xf1, 0x4c, 0x80, 0x20, 0xff, 0xfd]).is_err());
    }
}
