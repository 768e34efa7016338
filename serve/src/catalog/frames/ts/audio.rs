//! The frames of audio in an elementary stream: AAC with ADTS headers (ISO/IEC 13818-7 §6.2), and MPEG-1/2 audio
//! (ISO/IEC 11172-3 §2.4.1.3, ISO/IEC 13818-3 §2.4.2.3).

use thalweg_core::video::Kind;
use thalweg_core::wire::payload::{aac::SAMPLES, mpeg_audio::FrameHeader};
use thalweg_mpegts::aac;

use super::psi::Audio;
use super::stream::{Position, Stream};
use crate::catalog::frames::packets;
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
    let Ok(parameters) = aac::Config::parse(&config) else { return Ok(None) };
    let header = if second & 1 == 1 { aac::ADTS_HEADER as u64 } else { 9 };
    let len = u64::from(fourth & 3) << 11 | u64::from(fifth) << 3 | u64::from(sixth >> 5);
    if second & 0xf6 != 0xf0 || len <= header {
        return Ok(None);
    }
    if seventh & 3 != 0 {
        return Err(FormatError::new("AAC with several blocks of data in a frame is not supported over RTSP"));
    }
    Ok(Some(Header { header, len, samples: SAMPLES.into(), rate: parameters.rate(), config: Some(config) }))
}

/// The header of a frame of MPEG audio; none if these bytes are not one.
fn mpeg(bytes: &[u8; HEADER]) -> Option<Header> {
    let FrameHeader { len, samples, sampling_rate } = FrameHeader::parse(bytes).ok()?;
    // A frame has at least its own header, so the search for the next one advances.
    (len > HEADER).then_some(Header {
        header: 0,
        len: len as u64,
        samples: samples.into(),
        rate: sampling_rate,
        config: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adts_headers_give_length_and_configuration() {
        // ffmpeg: AAC LC, 48 kHz, stereo, a frame of 7 + 256 bytes: 263 = 0b00 00100000 111.
        let header = adts(&[0xff, 0xf1, 0x4c, 0x80, 0x20, 0xff, 0xfc]).expect("valid").expect("a header");
        assert_eq!((header.len, header.header, header.rate, header.config), (263, 7, 48_000, Some([0x11, 0x90])));
        assert_eq!(adts(&[0xff, 0xe1, 0x4c, 0x80, 0x20, 0xff, 0xfc]), Ok(None));
        assert!(adts(&[0xff, 0xf1, 0x4c, 0x80, 0x20, 0xff, 0xfd]).is_err());
    }
}
