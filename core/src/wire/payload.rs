//! RTP payload formats of stored video and audio: frames to packets and back.
//!
//! | format | RFC | file |
//! |---|---|---|
//! | H.264, packetization-mode 1 | 6184 | [`h264`] |
//! | AAC, mode AAC-hbr | 3640 | [`aac`] |
//! | MPEG-1 and MPEG-2 video (MPV) | 2250 | [`mpeg_video`] |
//! | MPEG audio (MPA) | 2250 | [`mpeg_audio`] |
//!
//! A packetizer is an iterator over [`Payload`]s, each of which is a few bytes of its own and a range of the frame. No
//! packetizer allocates or copies: a server writes both parts into its datagram. A depacketizer takes payloads in the
//! order of their sequence numbers, and delivers [`Frame`]s.

pub mod aac;
mod assembly;
pub mod h264;
pub mod mpeg_audio;
pub mod mpeg_video;
pub mod start_code;
#[cfg(test)]
mod tests;

use core::ops::{Deref, Range};

pub use self::assembly::{Frame, Packet};
use super::Error;

/// The smallest limit on payloads that packetizers accept: the longest prefix, and four bytes of a frame.
pub const MIN_PAYLOAD: usize = 8;

/// The payload format of a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// H.264 video (RFC 6184).
    H264,
    /// AAC in the mode AAC-hbr (RFC 3640 §3.3.6).
    AacHbr,
    /// MPEG-1 or MPEG-2 video (RFC 2250 §3).
    MpegVideo,
    /// MPEG-1 or MPEG-2 audio, layers I to III (RFC 2250 §3).
    MpegAudio,
}

/// A frame with the form in which it is stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stored<'a> {
    /// An access unit of H.264.
    H264(&'a [u8], h264::Framing),
    /// A raw access unit of AAC, without ADTS header.
    Aac(&'a [u8]),
    /// A picture of MPEG-1 or MPEG-2, with the headers before it.
    MpegVideo(&'a [u8]),
    /// A frame of MPEG audio.
    MpegAudio(&'a [u8]),
}

/// The payload of one packet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Payload {
    /// The bytes before those of the frame.
    pub prefix: Prefix,
    /// The bytes of the frame.
    pub range: Range<usize>,
    /// The marker bit of the packet.
    pub marker: bool,
}

/// The first bytes of a payload, which are not in the frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Prefix {
    bytes: [u8; 4],
    len: u8,
}

/// The packets of one frame, of any format.
#[derive(Clone, Debug)]
pub struct Payloads<'a>(Packetizer<'a>);

#[derive(Clone, Debug)]
enum Packetizer<'a> {
    H264(h264::Packetizer<'a>),
    Aac(aac::Packetizer),
    MpegVideo(mpeg_video::Packetizer<'a>),
    MpegAudio(mpeg_audio::Packetizer),
}

/// A depacketizer of any format.
#[derive(Clone, Debug)]
pub enum Depacketizer {
    /// Of H.264.
    H264(h264::Depacketizer),
    /// Of AAC.
    Aac(aac::Depacketizer),
    /// Of MPEG-1 and MPEG-2 video.
    MpegVideo(mpeg_video::Depacketizer),
    /// Of MPEG audio.
    MpegAudio(mpeg_audio::Depacketizer),
}

impl Payload {
    /// The length of the payload.
    pub fn payload_len(&self) -> usize {
        self.prefix.len() + self.range.len()
    }

    /// Writes the payload of a packet of `frame`; returns its length.
    ///
    /// # Panics
    /// `buf` is shorter than [`Payload::payload_len`], or `frame` is not the frame that was packetized.
    pub fn emit(&self, frame: &[u8], buf: &mut [u8]) -> usize {
        let (prefix, rest) = buf.split_at_mut(self.prefix.len());
        prefix.copy_from_slice(&self.prefix);
        rest[..self.range.len()].copy_from_slice(&frame[self.range.clone()]);
        self.payload_len()
    }
}

impl Prefix {
    fn new<const N: usize>(from: [u8; N]) -> Prefix {
        let mut bytes = [0; 4];
        bytes[..N].copy_from_slice(&from);
        Prefix { bytes, len: N as u8 }
    }
}

impl Deref for Prefix {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[..self.len.into()]
    }
}

impl<'a> Stored<'a> {
    /// The packets of the frame, of at most `max` bytes of payload each.
    ///
    /// # Errors
    /// The frame is not what it is said to be, or too long for its format, or `max` is below [`MIN_PAYLOAD`].
    pub fn packetize(self, max: usize) -> Result<Payloads<'a>, Error> {
        Ok(Payloads(match self {
            Stored::H264(frame, framing) => Packetizer::H264(h264::Packetizer::new(frame, framing, max)?),
            Stored::Aac(frame) => Packetizer::Aac(aac::Packetizer::new(frame.len(), max)?),
            Stored::MpegVideo(frame) => Packetizer::MpegVideo(mpeg_video::Packetizer::new(frame, max)?),
            Stored::MpegAudio(frame) => Packetizer::MpegAudio(mpeg_audio::Packetizer::new(frame.len(), max)?),
        }))
    }

    /// The bytes of the frame.
    pub fn bytes(self) -> &'a [u8] {
        match self {
            Stored::H264(frame, _) | Stored::Aac(frame) | Stored::MpegVideo(frame) | Stored::MpegAudio(frame) => frame,
        }
    }
}

impl Iterator for Payloads<'_> {
    type Item = Payload;

    fn next(&mut self) -> Option<Payload> {
        match &mut self.0 {
            Packetizer::H264(packetizer) => packetizer.next(),
            Packetizer::Aac(packetizer) => packetizer.next(),
            Packetizer::MpegVideo(packetizer) => packetizer.next(),
            Packetizer::MpegAudio(packetizer) => packetizer.next(),
        }
    }
}

impl Depacketizer {
    /// A depacketizer that keeps at most `limit` bytes of one frame.
    pub fn new(format: Format, limit: usize) -> Depacketizer {
        match format {
            Format::H264 => Depacketizer::H264(h264::Depacketizer::new(limit)),
            Format::AacHbr => Depacketizer::Aac(aac::Depacketizer::new(limit)),
            Format::MpegVideo => Depacketizer::MpegVideo(mpeg_video::Depacketizer::new(limit)),
            Format::MpegAudio => Depacketizer::MpegAudio(mpeg_audio::Depacketizer::new(limit)),
        }
    }

    /// Takes the next packet, and passes each frame that ends with it to `deliver`.
    ///
    /// # Errors
    /// The payload is malformed, or its frame longer than the limit; the frame counts as damaged.
    pub fn push(&mut self, packet: Packet<'_>, deliver: &mut dyn FnMut(Frame)) -> Result<(), Error> {
        match self {
            Depacketizer::H264(depacketizer) => depacketizer.push(packet, deliver),
            Depacketizer::Aac(depacketizer) => depacketizer.push(packet, deliver),
            Depacketizer::MpegVideo(depacketizer) => depacketizer.push(packet, deliver),
            Depacketizer::MpegAudio(depacketizer) => depacketizer.push(packet, deliver),
        }
    }

    /// Passes the frame without an end, if there is one, to `deliver`: nothing follows.
    pub fn finish(&mut self, deliver: &mut dyn FnMut(Frame)) {
        match self {
            Depacketizer::H264(depacketizer) => depacketizer.finish(deliver),
            Depacketizer::Aac(depacketizer) => depacketizer.finish(deliver),
            Depacketizer::MpegVideo(depacketizer) => depacketizer.finish(deliver),
            Depacketizer::MpegAudio(depacketizer) => depacketizer.finish(deliver),
        }
    }
}

/// Checks the limit on the payloads of a packetizer.
fn check_max(max: usize) -> Result<(), Error> {
    if max < MIN_PAYLOAD { Err(Error::Length) } else { Ok(()) }
}
