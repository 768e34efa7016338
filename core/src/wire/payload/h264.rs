//! H.264 over RTP (RFC 6184) in packetization-mode 1: single NAL units, and fragments of large ones.
//!
//! The first byte of each payload is that of a NAL unit (§1.3, §5.3):
//!
//! | bits | field |
//! |---|---|
//! | 0 | forbidden zero bit F |
//! | 1-2 | importance NRI; 0 is a NAL unit that no other refers to |
//! | 3-7 | type |
//!
//! | type | payload |
//! |---|---|
//! | 1-23 | one NAL unit (§5.6) |
//! | 24 | STAP-A: NAL units of one time, each after its length (16 bits) (§5.7.1); received, not sent |
//! | 28 | FU-A: a fragment (§5.8). The second byte is start S, end E, reserved R, and the type of the NAL unit (5 bits) |
//!
//! The marker bit is set in the last packet of an access unit (§5.1).

use core::ops::{Range, RangeInclusive};

use super::assembly::{Assembly, Frame, Packet};
use super::{Payload, Prefix, check_max, start_code};
use crate::wire::Error;

const STAP_A: u8 = 24;
const FU_A: u8 = 28;
/// The type of a NAL unit that is the first of its access unit.
pub const ACCESS_UNIT_DELIMITER: u8 = 9;
/// The types of NAL units; the others are formats of payloads.
const NAL_TYPES: RangeInclusive<u8> = 1..=23;
/// The start code that a depacketizer writes before each NAL unit (ITU-T H.264 Annex B).
const START_CODE: [u8; 4] = [0, 0, 0, 1];

/// The form in which the NAL units of an access unit are stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Framing {
    /// Each after a start code (ITU-T H.264 Annex B), as in transport streams.
    AnnexB,
    /// Each after its length, as in MP4 (ISO/IEC 14496-15 §5.2.3).
    LengthPrefixed {
        /// Bytes of a length, 1 to 4: `lengthSizeMinusOne` + 1.
        size: u8,
    },
}

/// The NAL units of an access unit, as ranges of its bytes. Empty ones are left out. An error is the last item.
#[derive(Clone, Debug)]
pub struct NalUnits<'a> {
    frame: &'a [u8],
    framing: Framing,
    at: usize,
}

impl<'a> NalUnits<'a> {
    /// The NAL units of `frame`.
    pub fn new(frame: &'a [u8], framing: Framing) -> NalUnits<'a> {
        NalUnits { frame, framing, at: 0 }
    }

    fn after_start_code(&mut self) -> Result<Range<usize>, Error> {
        let code = start_code::find(self.frame, self.at);
        let before = &self.frame[self.at..code.unwrap_or(self.frame.len())];
        if before.iter().any(|&byte| byte != 0) {
            return Err(Error::Malformed);
        }
        let start = code.map_or(self.frame.len(), |code| code + start_code::PREFIX.len());
        self.at = start_code::find(self.frame, start).unwrap_or(self.frame.len());
        // No NAL unit ends with a zero: these belong to the next start code, or are trailing_zero_8bits.
        let zeros = self.frame[start..self.at].iter().rev().take_while(|&&byte| byte == 0).count();
        Ok(start..self.at - zeros)
    }

    fn after_length(&mut self, size: usize) -> Result<Range<usize>, Error> {
        if !(1..=4).contains(&size) {
            return Err(Error::Malformed);
        }
        let length = self.frame.get(self.at..self.at + size).ok_or(Error::Truncated)?;
        let length = length.iter().fold(0usize, |length, &byte| length << 8 | usize::from(byte));
        let start = self.at + size;
        let end = start.checked_add(length).filter(|&end| end <= self.frame.len()).ok_or(Error::Length)?;
        self.at = end;
        Ok(start..end)
    }
}

impl Iterator for NalUnits<'_> {
    type Item = Result<Range<usize>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.at < self.frame.len() {
            let unit = match self.framing {
                Framing::AnnexB => self.after_start_code(),
                Framing::LengthPrefixed { size } => self.after_length(size.into()),
            };
            let unit = unit.and_then(|unit| match self.frame[unit.clone()].first() {
                Some(header) if !is_nal_unit(*header) => Err(Error::Malformed),
                _ => Ok(unit),
            });
            match unit {
                Ok(unit) if unit.is_empty() => {}
                Ok(unit) => return Some(Ok(unit)),
                Err(error) => {
                    self.at = self.frame.len();
                    return Some(Err(error));
                }
            }
        }
        None
    }
}

/// True if a NAL unit with this header can be the payload of a packet.
fn is_nal_unit(header: u8) -> bool {
    header & 0x80 == 0 && NAL_TYPES.contains(&(header & 0x1f))
}

/// The number of packets of a NAL unit of `len` bytes, with at most `max` bytes of payload each. `max` is at least
/// [`MIN_PAYLOAD`](super::MIN_PAYLOAD).
pub fn packets(len: usize, max: usize) -> usize {
    if len <= max { len.min(1) } else { (len - 1).div_ceil(max - 2) }
}

/// The packets of one access unit.
#[derive(Clone, Debug)]
pub struct Packetizer<'a> {
    frame: &'a [u8],
    units: NalUnits<'a>,
    /// The rest of the current NAL unit.
    rest: Range<usize>,
    /// The header of the current NAL unit, if it is being fragmented.
    header: Option<u8>,
    next: Option<Range<usize>>,
    max: usize,
}

impl<'a> Packetizer<'a> {
    /// The packets of the access unit `frame`, of at most `max` bytes of payload each.
    ///
    /// # Errors
    /// A NAL unit is malformed, or `max` is below [`MIN_PAYLOAD`](super::MIN_PAYLOAD).
    pub fn new(frame: &'a [u8], framing: Framing, max: usize) -> Result<Packetizer<'a>, Error> {
        check_max(max)?;
        let mut units = NalUnits::new(frame, framing);
        units.clone().try_for_each(|unit| unit.map(drop))?;
        let next = units.next().and_then(Result::ok);
        Ok(Packetizer { frame, units, rest: 0..0, header: None, next, max })
    }

    fn fragment(&mut self) -> Payload {
        let is_first = self.header.is_none();
        let header = *self.header.get_or_insert(self.frame[self.rest.start]);
        if is_first {
            self.rest.start += 1;
        }
        let end = self.rest.end.min(self.rest.start + self.max - 2);
        let (range, is_last) = (self.rest.start..end, end == self.rest.end);
        self.rest.start = end;
        let flags = u8::from(is_first) << 7 | u8::from(is_last) << 6;
        let prefix = Prefix::new([header & 0xe0 | FU_A, flags | header & 0x1f]);
        Payload { prefix, range, marker: is_last && self.next.is_none() }
    }
}

impl Iterator for Packetizer<'_> {
    type Item = Payload;

    fn next(&mut self) -> Option<Payload> {
        if self.rest.is_empty() {
            self.rest = self.next.take()?;
            self.next = self.units.next().and_then(Result::ok);
            self.header = None;
            if self.rest.len() <= self.max {
                let range = core::mem::replace(&mut self.rest, 0..0);
                return Some(Payload { prefix: Prefix::default(), range, marker: self.next.is_none() });
            }
        }
        Some(self.fragment())
    }
}

/// Access units from packets, with a start code before each NAL unit.
#[derive(Clone, Debug)]
pub struct Depacketizer {
    assembly: Assembly,
    /// The header of the NAL unit whose fragments arrive.
    fragmented: Option<u8>,
}

impl Depacketizer {
    /// A depacketizer that keeps at most `limit` bytes of an access unit.
    pub fn new(limit: usize) -> Depacketizer {
        Depacketizer { assembly: Assembly::new(limit), fragmented: None }
    }

    /// Takes the next packet, and passes each access unit that ends with it to `deliver`.
    ///
    /// # Errors
    /// The payload is malformed or of a type that packetization-mode 1 does not have, or its access unit is longer than
    /// the limit. The access unit counts as damaged.
    pub fn push(&mut self, packet: Packet<'_>, deliver: &mut dyn FnMut(Frame)) -> Result<(), Error> {
        let starts = packet.payload.first().is_some_and(|header| header & 0x1f == ACCESS_UNIT_DELIMITER);
        self.assembly.open(&packet, starts, deliver);
        let taken = self.take(packet.payload);
        if taken.is_err() {
            self.assembly.damage();
            self.fragmented = None;
        }
        if packet.marker {
            if self.fragmented.take().is_some() {
                self.assembly.damage();
            }
            self.assembly.deliver(deliver);
        }
        taken
    }

    /// Passes an access unit without an end, which counts as damaged, to `deliver`.
    pub fn finish(&mut self, deliver: &mut dyn FnMut(Frame)) {
        self.fragmented = None;
        self.assembly.damage();
        self.assembly.deliver(deliver);
    }

    fn take(&mut self, payload: &[u8]) -> Result<(), Error> {
        let (&header, rest) = payload.split_first().ok_or(Error::Truncated)?;
        let kind = header & 0x1f;
        if kind == FU_A {
            return self.fragment(header, rest);
        }
        if self.fragmented.take().is_some() {
            self.assembly.damage();
        }
        match kind {
            STAP_A => self.aggregate(rest),
            _ => self.unit(payload),
        }
    }

    fn unit(&mut self, unit: &[u8]) -> Result<(), Error> {
        let header = *unit.first().ok_or(Error::Truncated)?;
        if !is_nal_unit(header) {
            return Err(Error::Unknown);
        }
        self.assembly.append(&START_CODE)?;
        self.assembly.append(unit)
    }

    fn aggregate(&mut self, mut rest: &[u8]) -> Result<(), Error> {
        while let Some((&length, after)) = rest.split_first_chunk() {
            let (unit, after) = after.split_at_checked(u16::from_be_bytes(length).into()).ok_or(Error::Length)?;
            self.unit(unit)?;
            rest = after;
        }
        if rest.is_empty() { Ok(()) } else { Err(Error::Truncated) }
    }

    fn fragment(&mut self, indicator: u8, rest: &[u8]) -> Result<(), Error> {
        let (&flags, fragment) = rest.split_first().ok_or(Error::Truncated)?;
        let header = indicator & 0xe0 | flags & 0x1f;
        let (is_first, is_last) = (flags & 0x80 != 0, flags & 0x40 != 0);
        // §5.8: a NAL unit in one fragment must not be sent as one.
        if !is_nal_unit(header) || is_first && is_last {
            return Err(Error::Malformed);
        }
        match (self.fragmented, is_first) {
            // Its beginning is lost, and with it the access unit damaged already.
            (None, false) => return if self.assembly.is_whole() { Err(Error::Malformed) } else { Ok(()) },
            (Some(before), false) if before != header => return Err(Error::Malformed),
            (Some(_), false) => {}
            (before, true) => {
                if before.is_some() {
                    self.assembly.damage();
                }
                self.assembly.append(&START_CODE)?;
                self.assembly.append(&[header])?;
            }
        }
        self.fragmented = (!is_last).then_some(header);
        self.assembly.append(fragment)
    }
}
