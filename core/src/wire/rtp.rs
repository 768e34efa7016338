//! RTP packets (RFC 3550 §5.1) with one-byte header extensions (RFC 8285 §4.2).
//!
//! | offset | field |
//! |---|---|
//! | 0 | version 2 (2 bits), padding P, extension X, CSRC count CC (4 bits) |
//! | 1 | marker M, payload type PT (7 bits) |
//! | 2 | sequence number (16 bits) |
//! | 4 | timestamp (32 bits) |
//! | 8 | SSRC (32 bits) |
//! | 12 | CC times a CSRC (32 bits each) |
//! | 12 + 4 CC | if X: profile (16 bits), length in words (16 bits), that many words |
//! | ... | payload; if P, its last byte counts the padding bytes, itself included |

use super::Error;
use super::sequence::Unwrapper;
use crate::time::Time;

/// The length of a header without CSRC and extension.
pub const HEADER_LEN: usize = 12;
/// The payload type of MPEG transport streams (RFC 3551 §6, RFC 2250 §2).
pub const MP2T: u8 = 33;
/// Ticks per second of the timestamps of payload type 33 (RFC 2250 §2).
pub const CLOCK_RATE: u32 = 90_000;

/// The profile of one-byte header extensions (RFC 8285 §4.2).
const ONE_BYTE: u16 = 0xbede;

/// Extends RTP sequence numbers to 64 bits.
pub type SequenceUnwrapper = Unwrapper<16>;

/// True if a datagram on a shared port is RTCP instead of RTP (RFC 5761 §4).
pub fn is_rtcp(bytes: &[u8]) -> bool {
    matches!(bytes.get(1), Some(192..=223))
}

/// `at` in ticks of 90 kHz, modulo 2^32.
pub fn timestamp(at: Time) -> u32 {
    (u128::from(at.as_nanos()) * u128::from(CLOCK_RATE) / 1_000_000_000) as u32
}

/// The fixed header of an RTP packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Header {
    /// The marker bit, whose meaning depends on the payload type; for MP2T a timestamp discontinuity (RFC 2250 §2).
    pub marker: bool,
    /// The payload type, 0 to 127; not 64 to 95 beside RTCP (RFC 5761 §4).
    pub payload_type: u8,
    /// The sequence number, one more for every packet.
    pub sequence: u16,
    /// The timestamp in ticks of the payload type's clock.
    pub timestamp: u32,
    /// The SSRC of the stream.
    pub ssrc: u32,
}

/// A received packet, borrowed from the datagram.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Packet<'a> {
    /// The fixed header.
    pub header: Header,
    /// The header extension, if any.
    pub extension: Option<Extension<'a>>,
    /// The payload, without padding.
    pub payload: &'a [u8],
    csrc: &'a [[u8; 4]],
}

/// A whole header extension.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Extension<'a> {
    /// The profile; 0xBEDE holds one-byte elements.
    pub profile: u16,
    /// The content, in whole words.
    pub data: &'a [u8],
}

/// One element of a one-byte header extension.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Element<'a> {
    /// The id, 1 to 14, as mapped by the session description.
    pub id: u8,
    /// The data, 1 to 16 bytes.
    pub data: &'a [u8],
}

impl Header {
    /// The length of a header with `elements` as its extension.
    pub fn len(elements: &[Element<'_>]) -> usize {
        match elements.iter().map(|element| 1 + element.data.len()).sum::<usize>() {
            0 => HEADER_LEN,
            data => HEADER_LEN + 4 + data.next_multiple_of(4),
        }
    }

    /// Writes the header with `elements` as its extension; returns its length, after which the payload belongs.
    ///
    /// # Panics
    /// `buf` is shorter than [`Header::len`], or an element is invalid in this format.
    pub fn emit(&self, elements: &[Element<'_>], buf: &mut [u8]) -> usize {
        let len = Header::len(elements);
        let (fixed, extension) = buf[..len].split_at_mut(HEADER_LEN);
        fixed[0] = 0x80 | if extension.is_empty() { 0 } else { 0x10 };
        fixed[1] = u8::from(self.marker) << 7 | self.payload_type & 0x7f;
        fixed[2..4].copy_from_slice(&self.sequence.to_be_bytes());
        fixed[4..8].copy_from_slice(&self.timestamp.to_be_bytes());
        fixed[8..12].copy_from_slice(&self.ssrc.to_be_bytes());
        if !extension.is_empty() {
            emit_elements(elements, extension);
        }
        len
    }
}

fn emit_elements(elements: &[Element<'_>], extension: &mut [u8]) {
    let (head, data) = extension.split_at_mut(4);
    head[..2].copy_from_slice(&ONE_BYTE.to_be_bytes());
    head[2..].copy_from_slice(&((data.len() / 4) as u16).to_be_bytes());
    data.fill(0);
    let mut at = 0;
    for Element { id, data: value } in elements {
        assert!((1..=14).contains(id) && (1..=16).contains(&value.len()), "no one-byte element");
        data[at] = id << 4 | (value.len() - 1) as u8;
        data[at + 1..][..value.len()].copy_from_slice(value);
        at += 1 + value.len();
    }
}

impl<'a> Packet<'a> {
    /// Parses a datagram.
    ///
    /// # Errors
    /// It is shorter than its header says, of another version, or its padding is longer than its payload.
    pub fn parse(bytes: &'a [u8]) -> Result<Packet<'a>, Error> {
        let (fixed, rest) = bytes.split_first_chunk::<HEADER_LEN>().ok_or(Error::Truncated)?;
        let [flags, kind, s0, s1, t0, t1, t2, t3, c0, c1, c2, c3] = *fixed;
        if flags >> 6 != 2 {
            return Err(Error::Unknown);
        }
        let header = Header {
            marker: kind & 0x80 != 0,
            payload_type: kind & 0x7f,
            sequence: u16::from_be_bytes([s0, s1]),
            timestamp: u32::from_be_bytes([t0, t1, t2, t3]),
            ssrc: u32::from_be_bytes([c0, c1, c2, c3]),
        };
        let (csrc, rest) = rest.split_at_checked(4 * usize::from(flags & 0x0f)).ok_or(Error::Truncated)?;
        let (extension, rest) = match flags & 0x10 {
            0 => (None, rest),
            _ => Extension::split(rest).map(|(extension, rest)| (Some(extension), rest))?,
        };
        let payload = match flags & 0x20 {
            0 => rest,
            _ => without_padding(rest)?,
        };
        Ok(Packet { header, extension, payload, csrc: csrc.as_chunks().0 })
    }

    /// The sources that a mixer has combined.
    pub fn csrc(&self) -> impl Iterator<Item = u32> + 'a {
        self.csrc.iter().copied().map(u32::from_be_bytes)
    }

    /// The data of the one-byte extension element `id`.
    pub fn element(&self, id: u8) -> Option<&'a [u8]> {
        self.extension?.elements().find(|element| element.id == id).map(|element| element.data)
    }
}

fn without_padding(bytes: &[u8]) -> Result<&[u8], Error> {
    match bytes.last() {
        None => Err(Error::Truncated),
        Some(0) => Err(Error::Malformed),
        Some(&count) => bytes.len().checked_sub(count.into()).map(|len| &bytes[..len]).ok_or(Error::Length),
    }
}

impl<'a> Extension<'a> {
    fn split(bytes: &'a [u8]) -> Result<(Extension<'a>, &'a [u8]), Error> {
        let ([p0, p1, l0, l1], rest) = bytes.split_first_chunk().ok_or(Error::Truncated)?;
        let words = u16::from_be_bytes([*l0, *l1]);
        let (data, rest) = rest.split_at_checked(4 * usize::from(words)).ok_or(Error::Length)?;
        Ok((Extension { profile: u16::from_be_bytes([*p0, *p1]), data }, rest))
    }

    /// The elements of a one-byte extension; none for any other profile. Elements after one that is invalid in the
    /// format are not read.
    pub fn elements(self) -> impl Iterator<Item = Element<'a>> {
        let mut rest = if self.profile == ONE_BYTE { self.data } else { &[] };
        core::iter::from_fn(move || {
            while let [0, after @ ..] = rest {
                rest = after;
            }
            let (&head, after) = rest.split_first()?;
            let (data, after) = after.split_at_checked(usize::from(head & 0x0f) + 1)?;
            rest = after;
            Some(Element { id: head >> 4, data }).filter(|element| (1..=14).contains(&element.id))
        })
        .fuse()
    }
}

#[cfg(test)]
mod tests;
