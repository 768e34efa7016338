//! MPEG-1 and MPEG-2 video over RTP (RFC 2250 §3): whole slices, as many as fit, or fragments of one.
//!
//! The MPEG Video-specific header (§3.4) precedes the bytes of the elementary stream:
//!
//! | bits | field |
//! |---|---|
//! | 0-4 | must be zero |
//! | 5 | T: an MPEG-2 specific header extension follows (§3.4.1); skipped if received, not sent |
//! | 6-15 | temporal reference of the picture |
//! | 16-17 | AN and N, for recovery of lost picture headers; not used |
//! | 18 | S: a sequence header is in the packet |
//! | 19 | B: the packet begins with a slice, or with headers and a slice |
//! | 20 | E: the packet ends with the end of a slice |
//! | 21-23 | picture type: I (1), P (2), B (3), D (4) |
//! | 24-31 | the vectors of MPEG-1: full pel backward (1 bit), backward f code (3), full pel forward (1), forward f code (3) |
//!
//! The marker bit is set in the last packet of a picture (§3.1).

use super::assembly::{Assembly, Frame, Packet};
use super::{Payload, Prefix, check_max, start_code};
use crate::wire::Error;

/// The static payload type of MPV (RFC 3551 §6).
pub const PAYLOAD_TYPE: u8 = 32;

const PICTURE: u8 = 0x00;
const SEQUENCE_HEADER: u8 = 0xb3;
const GROUP: u8 = 0xb8;
/// The length of the header and of its MPEG-2 extension.
const HEADER_LEN: usize = 4;

/// The MPEG Video-specific header.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Header {
    /// The temporal reference: the picture's place in its group, in display order.
    pub temporal_reference: u16,
    /// True if the packet has a sequence header.
    pub has_sequence_header: bool,
    /// True if the packet begins with a slice, or with headers and a slice.
    pub begins_slice: bool,
    /// True if the packet ends with the end of a slice.
    pub ends_slice: bool,
    /// The picture type: 1 for I, 2 for P, 3 for B, 4 for D.
    pub picture_type: u8,
    /// The last byte: the parameters of motion vectors, as in the picture header of MPEG-1.
    pub vectors: u8,
}

impl Header {
    /// Splits a payload into the header and the bytes of the elementary stream.
    ///
    /// # Errors
    /// The payload is shorter than its header.
    pub fn split(payload: &[u8]) -> Result<(Header, &[u8]), Error> {
        let (&[b0, b1, b2, b3], rest) = payload.split_first_chunk().ok_or(Error::Truncated)?;
        let header = Header {
            temporal_reference: u16::from_be_bytes([b0 & 3, b1]),
            has_sequence_header: b2 & 0x20 != 0,
            begins_slice: b2 & 0x10 != 0,
            ends_slice: b2 & 0x08 != 0,
            picture_type: b2 & 7,
            vectors: b3,
        };
        let rest = if b0 & 4 == 0 { rest } else { without_extension(rest)? };
        Ok((header, rest))
    }

    /// The bytes of the header.
    pub fn emit(self) -> [u8; HEADER_LEN] {
        let [t0, t1] = (self.temporal_reference & 0x3ff).to_be_bytes();
        let flags = [(self.has_sequence_header, 0x20), (self.begins_slice, 0x10), (self.ends_slice, 0x08)];
        let flags = flags.into_iter().map(|(is_set, bit)| u8::from(is_set) * bit).sum::<u8>();
        [t0, t1, flags | self.picture_type & 7, self.vectors]
    }

    /// The fields that a picture header gives (ISO/IEC 11172-2 §2.4.2.5), whose start code is at the start of `bytes`.
    /// Bytes that are missing count as zero.
    fn of_picture(bytes: &[u8]) -> Header {
        let [b0, b1, b3, b4] = [4, 5, 7, 8].map(|at| bytes.get(at).copied().unwrap_or(0));
        let picture_type = b1 >> 3 & 7;
        let forward = (b3 & 7) << 1 | b4 >> 7;
        let backward = b4 >> 3 & 0x0f;
        let vectors = match picture_type {
            2 => forward,
            3 => backward << 4 | forward,
            _ => 0,
        };
        let temporal_reference = u16::from(b0) << 2 | u16::from(b1 >> 6);
        Header { temporal_reference, picture_type, vectors, ..Header::default() }
    }
}

/// The payload without the MPEG-2 specific header extension: four bytes whose bit 1 (E) stands for further words, counted
/// in their first byte, and whose last bit (D) for the composite display extension of four bytes before those.
fn without_extension(bytes: &[u8]) -> Result<&[u8], Error> {
    let (extension, mut rest) = bytes.split_first_chunk::<4>().ok_or(Error::Truncated)?;
    if extension[3] & 1 != 0 {
        rest = rest.get(4..).ok_or(Error::Truncated)?;
    }
    if extension[0] & 0x40 != 0 {
        let words = usize::from(*rest.first().ok_or(Error::Truncated)?);
        rest = rest.get(4 * words..).filter(|_| words > 0).ok_or(Error::Length)?;
    }
    Ok(rest)
}

/// A run of bytes that packets keep together where they can: a slice, with all headers before it.
#[derive(Clone, Copy, Debug)]
struct Unit {
    end: usize,
    /// The start of the slice; none if the headers end without one.
    slice: Option<usize>,
    /// The start of the last picture header.
    picture: Option<usize>,
    has_sequence_header: bool,
    /// True if headers precede the slice, which may stand at the beginning of a packet only (§3.1).
    has_headers: bool,
}

impl Unit {
    /// The unit that begins at `start`.
    fn at(frame: &[u8], start: usize) -> Unit {
        let mut unit =
            Unit { end: frame.len(), slice: None, picture: None, has_sequence_header: false, has_headers: false };
        let mut from = start;
        while let Some(code) = start_code::find(frame, from) {
            from = code + start_code::PREFIX.len();
            let kind = frame.get(from).copied();
            let begins = matches!(kind, Some(PICTURE..=0xaf | SEQUENCE_HEADER | GROUP));
            if begins && unit.slice.is_some() {
                unit.end = code;
                break;
            }
            match kind {
                Some(0x01..=0xaf) => unit.slice = Some(code),
                Some(PICTURE) => unit.picture = Some(code),
                Some(SEQUENCE_HEADER) => unit.has_sequence_header = true,
                _ => {}
            }
        }
        unit.has_headers = unit.slice != Some(start);
        unit
    }
}

/// The packets of one picture.
#[derive(Clone, Debug)]
pub struct Packetizer<'a> {
    frame: &'a [u8],
    at: usize,
    /// The end of the slice that is being fragmented.
    slice_end: Option<usize>,
    /// The fields of the current picture.
    picture: Header,
    max: usize,
}

impl<'a> Packetizer<'a> {
    /// The packets of a picture with the headers before it, of at most `max` bytes of payload each.
    ///
    /// # Errors
    /// The frame does not begin with a start code, or `max` is below [`MIN_PAYLOAD`](super::MIN_PAYLOAD).
    pub fn new(frame: &'a [u8], max: usize) -> Result<Packetizer<'a>, Error> {
        check_max(max)?;
        match start_code::find(frame, 0) {
            // zero_byte may precede a start code.
            Some(code) if frame[..code].iter().all(|&byte| byte == 0) => {}
            _ => return Err(Error::Malformed),
        }
        Ok(Packetizer { frame, at: 0, slice_end: None, picture: Header::default(), max: max - HEADER_LEN })
    }

    fn payload(&mut self, end: usize, header: Header) -> Payload {
        let range = core::mem::replace(&mut self.at, end)..end;
        Payload { prefix: Prefix::new(header.emit()), range, marker: end == self.frame.len() }
    }

    /// The next fragment of a slice that ends at `slice_end`.
    fn fragment(&mut self, slice_end: usize) -> Payload {
        let end = slice_end.min(self.at + self.max);
        self.slice_end = (end < slice_end).then_some(slice_end);
        self.payload(end, Header { ends_slice: end == slice_end, ..self.picture })
    }
}

impl Iterator for Packetizer<'_> {
    type Item = Payload;

    fn next(&mut self) -> Option<Payload> {
        if self.at == self.frame.len() {
            return None;
        }
        if let Some(end) = self.slice_end {
            return Some(self.fragment(end));
        }
        let unit = Unit::at(self.frame, self.at);
        if let Some(picture) = unit.picture {
            self.picture = Header::of_picture(&self.frame[picture..]);
        }
        let limit = self.at + self.max;
        let mut end = unit.end.min(limit);
        let header = Header {
            has_sequence_header: unit.has_sequence_header,
            begins_slice: unit.slice.is_some_and(|slice| slice < end),
            ends_slice: unit.slice.is_some() && unit.end <= limit,
            ..self.picture
        };
        self.slice_end = (end < unit.end).then_some(unit.end);
        while end < self.frame.len() && self.slice_end.is_none() {
            let next = Unit::at(self.frame, end);
            if next.end > limit || next.has_headers {
                break;
            }
            end = next.end;
        }
        Some(self.payload(end, header))
    }
}

/// Pictures from packets.
#[derive(Clone, Debug)]
pub struct Depacketizer {
    assembly: Assembly,
}

impl Depacketizer {
    /// A depacketizer that keeps at most `limit` bytes of a picture.
    pub fn new(limit: usize) -> Depacketizer {
        Depacketizer { assembly: Assembly::new(limit) }
    }

    /// Takes the next packet, and passes each picture that ends with it to `deliver`.
    ///
    /// # Errors
    /// The payload is shorter than its headers, or its picture longer than the limit. The picture counts as damaged.
    pub fn push(&mut self, packet: Packet<'_>, deliver: &mut dyn FnMut(Frame)) -> Result<(), Error> {
        let split = Header::split(packet.payload);
        let starts = matches!(split, Ok((_, [0, 0, 1, PICTURE | SEQUENCE_HEADER | GROUP, ..])));
        self.assembly.open(&packet, starts, deliver);
        let taken = split.and_then(|(_, bytes)| self.assembly.append(bytes));
        if taken.is_err() {
            self.assembly.damage();
        }
        if packet.marker {
            self.assembly.deliver(deliver);
        }
        taken
    }

    /// Passes a picture without an end, which counts as damaged, to `deliver`.
    pub fn finish(&mut self, deliver: &mut dyn FnMut(Frame)) {
        self.assembly.damage();
        self.assembly.deliver(deliver);
    }
}
