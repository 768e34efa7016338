//! WebM and MKV, which are Matroska (RFC 9559) in EBML (RFC 8794): the length of a video, from its Info, which with the
//! size of the file gives its rate.
//!
//! A file is an EBML header and a Segment (RFC 9559 §4.5), each an element of an ID, a size and as many bytes (RFC 8794
//! §5, §6). Only the heads of elements are read, up to the first Cluster, and two numbers of Info (RFC 9559 §5.1.2).

use std::io::{Read, Seek, SeekFrom};

use thalweg_core::time::Span;
use thalweg_core::units::{Bytes, Rate};

use super::{FormatError, mean};

/// Limit on elements; before the pictures a video has ten or so, and Info as many inside.
const MAX_ELEMENTS: u32 = 1000;
/// An ID has at most 4 bytes, a size 8 (RFC 8794 §11.2.4, §11.2.5).
const MAX_HEAD: u64 = 12;

/// RFC 8794 §11.2.1.
const EBML: u64 = 0x1a45_dfa3;
/// RFC 9559 §5.1.
const SEGMENT: u64 = 0x1853_8067;
/// RFC 9559 §5.1.2.
const INFO: u64 = 0x1549_a966;
/// RFC 9559 §5.1.2.9: nanoseconds per tick.
const TIMESTAMP_SCALE: u64 = 0x2a_d7b1;
/// RFC 9559 §5.1.2.10: in ticks.
const DURATION: u64 = 0x4489;
/// RFC 9559 §5.1.3.
const CLUSTER: u64 = 0x1f43_b675;

const DEFAULT_SCALE: u64 = 1_000_000;

/// The mean rate of a video: its bytes over its length.
///
/// # Errors
/// The file is not Matroska, is truncated, contradicts itself, or does not state its length.
pub fn rate(video: &mut (impl Read + Seek)) -> Result<Rate, FormatError> {
    let len = video.seek(SeekFrom::End(0)).map_err(FormatError::unreadable)?;
    let mut elements = Elements { video, left: MAX_ELEMENTS };
    mean(Bytes(len), length(&mut elements, len)?)
}

/// The length that Info states, which is in the Segment before its first Cluster.
fn length(elements: &mut Elements<'_, impl Read + Seek>, len: u64) -> Result<Span, FormatError> {
    let (mut at, mut end) = (0, len);
    while let Some(head) = elements.head(at, end)? {
        match head.id {
            INFO => return elements.info(&head),
            CLUSTER => break,
            SEGMENT => (at, end) = (head.body, head.end),
            _ => at = head.end,
        }
    }
    Err(FormatError::new("it does not state its duration"))
}

/// A video, and the number of its elements that may still be read.
struct Elements<'a, F> {
    video: &'a mut F,
    left: u32,
}

/// The position of an element, whose body ends at `end`.
struct Head {
    id: u64,
    body: u64,
    end: u64,
}

impl<F: Read + Seek> Elements<'_, F> {
    /// The head of the element at `at`, which must end by `end`; none at `end` itself.
    fn head(&mut self, at: u64, end: u64) -> Result<Option<Head>, FormatError> {
        if at == end {
            return Ok(None);
        }
        let over = || FormatError::new(format!("more than {MAX_ELEMENTS} elements before the first Cluster"));
        self.left = self.left.checked_sub(1).ok_or_else(over)?;
        let bytes = self.read(at, (end - at).min(MAX_HEAD))?;
        let Some((id, rest)) = vint(&bytes, 4).filter(|(id, _)| at > 0 || *id == EBML) else {
            let broken = || format!("truncated or damaged at byte {at}");
            return Err(FormatError::new(if at == 0 { "not a WebM or MKV file".to_owned() } else { broken() }));
        };
        let name = format!("element 0x{id:X} at byte {at}");
        let Some((size, rest)) = vint(rest, 8) else {
            return Err(FormatError::new(format!("{name} has a truncated or damaged header")));
        };
        let body = at + (bytes.len() - rest.len()) as u64;
        // The marker before the value is removed; ones alone after it are an unknown size (RFC 8794 §6.2).
        let unknown = (2 << size.ilog2()) - 1;
        match size - (1 << size.ilog2()) {
            _ if size == unknown && [SEGMENT, CLUSTER].contains(&id) => Ok(Some(Head { id, body, end })),
            _ if size == unknown => Err(FormatError::new(format!("{name} does not state its length"))),
            size if size <= end - body => Ok(Some(Head { id, body, end: body + size })),
            _ => Err(FormatError::new(format!("truncated: {name} extends beyond the end"))),
        }
    }

    /// Duration times TimestampScale, wherever in Info each of them is.
    fn info(&mut self, info: &Head) -> Result<Span, FormatError> {
        let (mut scale, mut ticks, mut at) = (DEFAULT_SCALE, None, info.body);
        while let Some(head) = self.head(at, info.end)? {
            let width = head.end - head.body;
            match (head.id, width) {
                // An empty element has its default (RFC 8794 §6.1); Duration has none.
                (TIMESTAMP_SCALE | DURATION, 0) => {}
                (TIMESTAMP_SCALE, 1..=8) => scale = number(&self.read(head.body, width)?),
                (DURATION, 4) => ticks = Some(f32::from_bits(number(&self.read(head.body, 4)?) as u32).into()),
                (DURATION, 8) => ticks = Some(f64::from_bits(number(&self.read(head.body, 8)?))),
                (TIMESTAMP_SCALE | DURATION, _) => {
                    return Err(FormatError::new(format!("element 0x{:X} at byte {at} is not a number", head.id)));
                }
                _ => {}
            }
            at = head.end;
        }
        match ticks.map(|ticks| ticks * scale as f64) {
            None => Err(FormatError::new("it does not state its duration")),
            Some(nanos) if nanos >= 1.0 && nanos < u64::MAX as f64 => Ok(Span::from_nanos(nanos as u64)),
            Some(_) => Err(FormatError::new("its duration is zero or infinite")),
        }
    }

    fn read(&mut self, at: u64, len: u64) -> Result<Vec<u8>, FormatError> {
        let mut bytes = vec![0; len as usize];
        self.video.seek(SeekFrom::Start(at)).map_err(FormatError::unreadable)?;
        self.video.read_exact(&mut bytes).map_err(FormatError::unreadable)?;
        Ok(bytes)
    }
}

/// Parses a variable-size number, including its marker, and returns the rest after it (RFC 8794 §4).
fn vint(bytes: &[u8], max: usize) -> Option<(u64, &[u8])> {
    let width = bytes.first()?.leading_zeros() as usize + 1;
    let (own, rest) = bytes.split_at_checked(width).filter(|_| width <= max)?;
    Some((number(own), rest))
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

#[cfg(test)]
mod tests;
