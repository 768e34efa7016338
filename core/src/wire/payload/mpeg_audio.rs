//! MPEG audio over RTP (RFC 2250 §3), layers I to III: whole frames, or fragments of one.
//!
//! | offset | field |
//! |---|---|
//! | 0 | must be zero (16 bits) |
//! | 2 | Frag_offset (16 bits): the place of the payload in its frame; 0 if it begins with a frame |
//! | 4 | frames, or a fragment of one |
//!
//! A frame has no length, so a depacketizer computes it from the header of the frame (ISO/IEC 11172-3 §2.4.2.3,
//! 13818-3 §2.4.2.3):
//!
//! | bits | field |
//! |---|---|
//! | 0-10 | sync word, all ones |
//! | 11-12 | version: 3 is MPEG-1, 2 is MPEG-2, 0 is MPEG-2.5 |
//! | 13-14 | layer: 3 is I, 2 is II, 1 is III |
//! | 15 | no CRC |
//! | 16-19 | index of the bit rate; 0 is free format |
//! | 20-21 | index of the sampling rate |
//! | 22 | padding: one slot more |

use super::assembly::{Assembly, Frame, Packet};
use super::{Payload, Prefix, check_max};
use crate::wire::{Error, rtp};

/// The static payload type of MPA (RFC 3551 §6).
pub const PAYLOAD_TYPE: u8 = 14;
/// The length of the header of a payload.
const HEADER_LEN: usize = 4;

/// Bit rates in kb/s by their index: MPEG-1 layers I, II and III; MPEG-2 layer I; MPEG-2 layers II and III.
const KBPS: [[u16; 14]; 5] = [
    [32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],
    [32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
    [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
    [32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256],
    [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
];

/// The properties of a frame, by its header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FrameHeader {
    /// The length of the frame in bytes, header included.
    pub len: usize,
    /// Samples per channel.
    pub samples: u32,
    /// Samples per second.
    pub sampling_rate: u32,
}

impl FrameHeader {
    /// Parses the first four bytes of a frame.
    ///
    /// # Errors
    /// There are fewer bytes, they are no header, or the frame has a free format, which states no length.
    pub fn parse(bytes: &[u8]) -> Result<FrameHeader, Error> {
        let (&[b0, b1, b2, _], _) = bytes.split_first_chunk().ok_or(Error::Truncated)?;
        if b0 != 0xff || b1 & 0xe0 != 0xe0 {
            return Err(Error::Malformed);
        }
        let (version, layer) = (b1 >> 3 & 3, b1 >> 1 & 3);
        let is_mpeg_1 = version == 3;
        let table = match (is_mpeg_1, layer) {
            (_, 0) => return Err(Error::Malformed),
            (true, layer) => usize::from(3 - layer),
            (false, 3) => 3,
            (false, _) => 4,
        };
        let halvings = match version {
            3 => 0,
            2 => 1,
            0 => 2,
            _ => return Err(Error::Malformed),
        };
        let kbps = usize::from(b2 >> 4).checked_sub(1).and_then(|index| KBPS[table].get(index));
        let kbps = u32::from(*kbps.ok_or(Error::Malformed)?);
        let rates = [44_100u32, 48_000, 32_000];
        let sampling_rate = rates.get(usize::from(b2 >> 2 & 3)).ok_or(Error::Malformed)? >> halvings;
        let (samples, slot) = match (layer, is_mpeg_1) {
            (3, _) => (384, 4),
            (1, false) => (576, 1),
            _ => (1152, 1),
        };
        let slots = samples / 8 / slot * kbps * 1000 / sampling_rate + u32::from(b2 >> 1 & 1);
        Ok(FrameHeader { len: (slots * slot) as usize, samples, sampling_rate })
    }

    /// The duration of the frame in ticks of 90 kHz.
    fn ticks(&self) -> u32 {
        self.samples * rtp::CLOCK_RATE / self.sampling_rate
    }
}

/// The number of packets of a frame of `len` bytes, with at most `max` bytes of payload each. `max` is at least
/// [`MIN_PAYLOAD`](super::MIN_PAYLOAD).
pub fn packets(len: usize, max: usize) -> usize {
    len.div_ceil(max - HEADER_LEN)
}

/// The packets of one frame.
#[derive(Clone, Debug)]
pub struct Packetizer {
    at: usize,
    len: usize,
    max: usize,
}

impl Packetizer {
    /// The packets of a frame of `len` bytes, of at most `max` bytes of payload each.
    ///
    /// # Errors
    /// The frame is longer than Frag_offset can tell, or `max` is below [`MIN_PAYLOAD`](super::MIN_PAYLOAD).
    pub fn new(len: usize, max: usize) -> Result<Packetizer, Error> {
        check_max(max)?;
        if len > 0x1_0000 { Err(Error::Length) } else { Ok(Packetizer { at: 0, len, max: max - HEADER_LEN }) }
    }
}

impl Iterator for Packetizer {
    type Item = Payload;

    fn next(&mut self) -> Option<Payload> {
        if self.at == self.len {
            return None;
        }
        let start = self.at;
        self.at = self.len.min(start + self.max);
        let [o0, o1] = (start as u16).to_be_bytes();
        // Of audio, the marker is the beginning of a talkspurt (RFC 3551 §4.1); a video has no silence suppression.
        Some(Payload { prefix: Prefix::new([0, 0, o0, o1]), range: start..self.at, marker: false })
    }
}

/// Audio frames from packets.
#[derive(Clone, Debug)]
pub struct Depacketizer {
    assembly: Assembly,
    /// The length of the frame whose fragments arrive.
    len: usize,
}

impl Depacketizer {
    /// A depacketizer that keeps at most `limit` bytes of a frame.
    pub fn new(limit: usize) -> Depacketizer {
        Depacketizer { assembly: Assembly::new(limit), len: 0 }
    }

    /// Takes the next packet, and passes each frame that ends with it to `deliver`.
    ///
    /// # Errors
    /// The payload is malformed, a frame in it has a free format, or it is longer than the limit. A fragmented frame
    /// counts as damaged.
    pub fn push(&mut self, packet: Packet<'_>, deliver: &mut dyn FnMut(Frame)) -> Result<(), Error> {
        let taken = self.take(packet, deliver);
        if taken.is_err() {
            self.assembly.damage();
            self.finish(deliver);
        }
        taken
    }

    /// Passes a frame without an end to `deliver`.
    pub fn finish(&mut self, deliver: &mut dyn FnMut(Frame)) {
        self.assembly.finish(self.len, deliver);
    }

    fn take(&mut self, mut packet: Packet<'_>, deliver: &mut dyn FnMut(Frame)) -> Result<(), Error> {
        let (&[_, _, o0, o1], mut bytes) = packet.payload.split_first_chunk().ok_or(Error::Truncated)?;
        let offset = usize::from(u16::from_be_bytes([o0, o1]));
        if offset > 0 {
            return self.fragment(packet, offset, bytes, deliver);
        }
        self.finish(deliver);
        while !bytes.is_empty() {
            let header = FrameHeader::parse(bytes)?;
            let Some((frame, rest)) = bytes.split_at_checked(header.len) else {
                self.len = header.len;
                return self.fragment(packet, 0, bytes, deliver);
            };
            deliver(Frame { timestamp: packet.timestamp, data: frame.to_vec(), is_whole: true });
            packet.timestamp = packet.timestamp.wrapping_add(header.ticks());
            bytes = rest;
        }
        Ok(())
    }

    fn fragment(
        &mut self,
        packet: Packet<'_>,
        offset: usize,
        bytes: &[u8],
        deliver: &mut dyn FnMut(Frame),
    ) -> Result<(), Error> {
        self.assembly.open(&packet, offset == 0, deliver);
        if offset != self.assembly.len() || offset + bytes.len() > self.len {
            return Err(Error::Length);
        }
        self.assembly.append(bytes)?;
        if self.assembly.len() == self.len {
            self.finish(deliver);
        }
        Ok(())
    }
}
