//! The place of a packet in its video: a header extension element.

use super::{GROUP, PLACE, saturated};
use crate::time::Span;
use crate::video::{Class, Kind};
use crate::wire::Error;
use crate::wire::rtp::Element;

/// The place of a packet in its video.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// The frame, in decoding order.
    pub frame: u32,
    /// The packet, from 0.
    pub packet: u16,
    /// The packets of the frame; above `packet`.
    pub packets: u16,
    /// The class of the frame.
    pub class: Class,
    /// The decode time of the frame, from the start of the video.
    pub decode: Span,
    /// The display time less the decode time of the frame, up to 6.5 s.
    pub lead: Span,
}

impl Place {
    /// The length of the element.
    pub const LEN: usize = 15;
    /// The unit of times.
    const TICK: Span = Span::from_micros(100);

    /// Parses the data of the element.
    ///
    /// # Errors
    /// It has another length, or a packet that its frame does not have.
    pub fn parse(data: &[u8]) -> Result<Place, Error> {
        let &[f0, f1, f2, f3, p0, p1, n0, n1, class, l0, l1, d0, d1, d2, d3] = data else { return Err(Error::Length) };
        let (packet, packets) = (u16::from_be_bytes([p0, p1]), u16::from_be_bytes([n0, n1]));
        let class = class_of(class).filter(|_| packet < packets).ok_or(Error::Malformed)?;
        let decode = Place::TICK * u64::from(u32::from_be_bytes([d0, d1, d2, d3]));
        let lead = Place::TICK * u64::from(u16::from_be_bytes([l0, l1]));
        Ok(Place { frame: u32::from_be_bytes([f0, f1, f2, f3]), packet, packets, class, decode, lead })
    }

    /// The data of the element.
    pub fn emit(&self) -> [u8; Place::LEN] {
        let ticks = |span: Span| saturated(span.as_micros() / Place::TICK.as_micros());
        let [f0, f1, f2, f3] = self.frame.to_be_bytes();
        let ([p0, p1], [n0, n1]) = (self.packet.to_be_bytes(), self.packets.to_be_bytes());
        let [l0, l1] = (ticks(self.lead).min(u16::MAX.into()) as u16).to_be_bytes();
        let [d0, d1, d2, d3] = ticks(self.decode).to_be_bytes();
        [f0, f1, f2, f3, p0, p1, n0, n1, code(self.class), l0, l1, d0, d1, d2, d3]
    }
}

/// The code of a class.
pub(super) fn code(class: Class) -> u8 {
    match class {
        Class::Picture(Kind::B) => 0,
        Class::Picture(Kind::P) => 1,
        Class::Picture(Kind::I) => 2,
        Class::Audio => 3,
    }
}

/// The class with a code.
pub(super) fn class_of(code: u8) -> Option<Class> {
    [Class::Picture(Kind::B), Class::Picture(Kind::P), Class::Picture(Kind::I), Class::Audio]
        .get(code as usize)
        .copied()
}

/// The elements of a packet of the group `number`.
pub fn elements<'a>(group: &'a [u8; 2], place: &'a [u8; Place::LEN]) -> [Element<'a>; 2] {
    [Element { id: GROUP, data: group }, Element { id: PLACE, data: place }]
}
