//! WebM and MKV, which are Matroska (RFC 9559) in EBML (RFC 8794): how long a film is, from its Info; with the length of
//! the file that is its rate.
//!
//! A file is an EBML header and a Segment (RFC 9559 §4.5), each an element of an ID, a size and as many bytes (RFC 8794
//! §5, §6). Only the heads of elements are read, up to the first Cluster, and two numbers of Info (RFC 9559 §5.1.2).

use std::io::{Read, Seek, SeekFrom};

use thalweg_core::time::Span;
use thalweg_core::units::{Bytes, Rate};

use super::{Wrong, mean};

/// Before the pictures a film has ten or so, and Info as many inside.
const MAX_ELEMENTS: u32 = 1000;
/// An ID has at most 4 bytes, a size 8 (RFC 8794 §11.2.4, §11.2.5).
const MAX_HEAD: u64 = 12;

/// RFC 8794 §11.2.1.
const EBML: u64 = 0x1a45_dfa3;
/// RFC 9559 §5.1.
const SEGMENT: u64 = 0x1853_8067;
/// RFC 9559 §5.1.2.
const INFO: u64 = 0x1549_a966;
/// RFC 9559 §5.1.2.9: nanoseconds a tick.
const TIMESTAMP_SCALE: u64 = 0x2a_d7b1;
/// RFC 9559 §5.1.2.10: in ticks.
const DURATION: u64 = 0x4489;
/// RFC 9559 §5.1.3.
const CLUSTER: u64 = 0x1f43_b675;

const DEFAULT_SCALE: u64 = 1_000_000;

/// The mean rate of a film: its bytes over its time.
///
/// # Errors
/// It is no Matroska, is cut off, contradicts itself, or does not say how long it is.
pub fn rate(film: &mut (impl Read + Seek)) -> Result<Rate, Wrong> {
    let len = film.seek(SeekFrom::End(0)).map_err(Wrong::unreadable)?;
    let mut elements = Elements { film, left: MAX_ELEMENTS };
    mean(Bytes(len), length(&mut elements, len)?)
}

/// What Info says, which stands in the Segment before its first Cluster.
fn length(elements: &mut Elements<'_, impl Read + Seek>, len: u64) -> Result<Span, Wrong> {
    let (mut at, mut end) = (0, len);
    while let Some(head) = elements.head(at, end)? {
        match head.id {
            INFO => return elements.info(&head),
            CLUSTER => break,
            SEGMENT => (at, end) = (head.body, head.end),
            _ => at = head.end,
        }
    }
    Err(Wrong::new("it does not say how long it is"))
}

/// A film, and how many of its elements may still be looked at.
struct Elements<'a, F> {
    film: &'a mut F,
    left: u32,
}

/// Where an element is: its body ends at `end`.
struct Head {
    id: u64,
    body: u64,
    end: u64,
}

impl<F: Read + Seek> Elements<'_, F> {
    /// The element at `at`, which must end by `end`; none at `end` itself.
    fn head(&mut self, at: u64, end: u64) -> Result<Option<Head>, Wrong> {
        if at == end {
            return Ok(None);
        }
        let over = || Wrong::new(format!("it has over {MAX_ELEMENTS} elements before its first Cluster"));
        self.left = self.left.checked_sub(1).ok_or_else(over)?;
        let bytes = self.read(at, (end - at).min(MAX_HEAD))?;
        let Some((id, rest)) = vint(&bytes, 4).filter(|(id, _)| at > 0 || *id == EBML) else {
            let broken = || format!("it is cut off or broken at byte {at}");
            return Err(Wrong::new(if at == 0 { "it is no WebM and no MKV".to_owned() } else { broken() }));
        };
        let name = format!("element 0x{id:X} at byte {at}");
        let Some((size, rest)) = vint(rest, 8) else {
            return Err(Wrong::new(format!("{name} is cut off or broken in its head")));
        };
        let body = at + (bytes.len() - rest.len()) as u64;
        // The marker before the value goes; ones alone behind it are an unknown size (RFC 8794 §6.2).
        let unknown = (2 << size.ilog2()) - 1;
        match size - (1 << size.ilog2()) {
            _ if size == unknown && [SEGMENT, CLUSTER].contains(&id) => Ok(Some(Head { id, body, end })),
            _ if size == unknown => Err(Wrong::new(format!("{name} does not say where it ends"))),
            size if size <= end - body => Ok(Some(Head { id, body, end: body + size })),
            _ => Err(Wrong::new(format!("it is cut off: {name} goes on behind the end"))),
        }
    }

    /// Duration times TimestampScale, wherever in Info each of them is.
    fn info(&mut self, info: &Head) -> Result<Span, Wrong> {
        let (mut scale, mut ticks, mut at) = (DEFAULT_SCALE, None, info.body);
        while let Some(head) = self.head(at, info.end)? {
            let width = head.end - head.body;
            match (head.id, width) {
                // What is empty has its default (RFC 8794 §6.1), which Duration has none of.
                (TIMESTAMP_SCALE | DURATION, 0) => {}
                (TIMESTAMP_SCALE, 1..=8) => scale = number(&self.read(head.body, width)?),
                (DURATION, 4) => ticks = Some(f32::from_bits(number(&self.read(head.body, 4)?) as u32).into()),
                (DURATION, 8) => ticks = Some(f64::from_bits(number(&self.read(head.body, 8)?))),
                (TIMESTAMP_SCALE | DURATION, _) => {
                    return Err(Wrong::new(format!("element 0x{:X} at byte {at} is no number", head.id)));
                }
                _ => {}
            }
            at = head.end;
        }
        match ticks.map(|ticks| ticks * scale as f64) {
            None => Err(Wrong::new("it does not say how long it is")),
            Some(nanos) if nanos >= 1.0 && nanos < u64::MAX as f64 => Ok(Span::from_nanos(nanos as u64)),
            Some(_) => Err(Wrong::new("its length is zero or without end")),
        }
    }

    fn read(&mut self, at: u64, len: u64) -> Result<Vec<u8>, Wrong> {
        let mut bytes = vec![0; len as usize];
        self.film.seek(SeekFrom::Start(at)).map_err(Wrong::unreadable)?;
        self.film.read_exact(&mut bytes).map_err(Wrong::unreadable)?;
        Ok(bytes)
    }
}

/// A number of variable size, its marker and all, and what is behind it (RFC 8794 §4).
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
