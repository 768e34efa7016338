//! Boxes: size, kind, and boxes or numbers inside.

use std::io::{Read, Seek, SeekFrom};

use thalweg_core::time::Span;

use crate::rate::Wrong;

/// A film of a day in fragments of a second has 170 000.
const MAX_BOXES: u32 = 500_000;
/// The longest box that is read whole: an index of 65535 entries is under 800 KB.
const MAX_BODY: u64 = 1 << 20;

/// The longest table of samples: 4 million, or 18 hours of pictures.
const MAX_TABLE: u64 = 16 << 20;

/// Kinds that a film may begin with.
const FIRST: [&[u8; 4]; 10] =
    [b"ftyp", b"styp", b"moov", b"mdat", b"free", b"skip", b"wide", b"pdin", b"sidx", b"moof"];

/// A film, and how many of its boxes may still be looked at.
pub(super) struct Boxes<'a, F> {
    film: &'a mut F,
    len: u64,
    left: u32,
}

/// Where a box is: its body ends at `end`.
#[derive(Clone, Copy)]
pub(super) struct Head {
    pub(super) kind: [u8; 4],
    body: u64,
    pub(super) end: u64,
}

/// What is done with a box.
type Visit<'v, F> = dyn FnMut(&mut Boxes<'_, F>, Head) -> Result<(), Wrong> + 'v;

/// The bytes of a box that are not read yet.
pub(super) struct Body {
    bytes: Vec<u8>,
    at: usize,
    kind: [u8; 4],
}

impl<'a, F: Read + Seek> Boxes<'a, F> {
    pub(super) fn new(film: &'a mut F) -> Result<Boxes<'a, F>, Wrong> {
        let len = film.seek(SeekFrom::End(0)).map_err(Wrong::unreadable)?;
        Ok(Boxes { film, len, left: MAX_BOXES })
    }

    /// The length of the film in bytes.
    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// The box at `at`, which must end by `end`; none at `end` itself.
    pub(super) fn head(&mut self, at: u64, end: u64) -> Result<Option<Head>, Wrong> {
        if at == end {
            return Ok(None);
        }
        self.left = self.left.checked_sub(1).ok_or_else(|| Wrong::new(format!("it has over {MAX_BOXES} boxes")))?;
        let cut = || Wrong::new(format!("it is cut off at byte {at}, in the head of a box"));
        if end - at < 8 {
            return Err(cut());
        }
        let first = self.read(at, 8)?;
        let (size, kind) =
            (u32::from_be_bytes([first[0], first[1], first[2], first[3]]), [4, 5, 6, 7].map(|n| first[n]));
        if at == 0 && !FIRST.contains(&&kind) {
            return Err(Wrong::new("it is no MP4"));
        }
        let (size, head) = match size {
            0 => (end - at, 8),
            1 if end - at < 16 => return Err(cut()),
            1 => (u64::from_be_bytes(self.read(at + 8, 8)?.try_into().expect("eight bytes")), 16),
            size => (size.into(), 8),
        };
        let name = kind.escape_ascii();
        match at.checked_add(size) {
            _ if size < head => Err(Wrong::new(format!("box {name} at byte {at} is shorter than its own head"))),
            Some(ends) if ends <= end => Ok(Some(Head { kind, body: at + head, end: ends })),
            _ => Err(Wrong::new(format!("box {name} at byte {at} goes on behind the end"))),
        }
    }

    /// Does something with each box inside another.
    pub(super) fn each(
        &mut self,
        outer: Head,
        mut visit: impl FnMut(&mut Boxes<'_, F>, Head) -> Result<(), Wrong>,
    ) -> Result<(), Wrong> {
        let mut at = outer.body;
        while let Some(head) = self.head(at, outer.end)? {
            let mut inner = Boxes { film: &mut *self.film, len: self.len, left: self.left };
            visit(&mut inner, head)?;
            self.left = inner.left;
            at = head.end;
        }
        Ok(())
    }

    /// Does something with each box inside those that a path of kinds leads to.
    pub(super) fn below(&mut self, outer: Head, path: &[&[u8; 4]], visit: &mut Visit<'_, F>) -> Result<(), Wrong> {
        let Some((first, rest)) = path.split_first() else { return self.each(outer, visit) };
        self.each(outer, |boxes, head| if head.kind == **first { boxes.below(head, rest, visit) } else { Ok(()) })
    }

    /// The bytes of a box.
    pub(super) fn body(&mut self, head: Head) -> Result<Body, Wrong> {
        self.within(head, MAX_BODY)
    }

    /// The bytes of a box that may be long.
    pub(super) fn table(&mut self, head: Head) -> Result<Body, Wrong> {
        self.within(head, MAX_TABLE)
    }

    fn within(&mut self, head: Head, most: u64) -> Result<Body, Wrong> {
        let Head { kind, body, end } = head;
        if end - body > most {
            return Err(Wrong::new(format!("box {} has {} bytes", kind.escape_ascii(), end - body)));
        }
        Ok(Body { bytes: self.read(body, (end - body) as usize)?, at: 0, kind })
    }

    fn read(&mut self, at: u64, len: usize) -> Result<Vec<u8>, Wrong> {
        let mut bytes = vec![0; len];
        self.film.seek(SeekFrom::Start(at)).map_err(Wrong::unreadable)?;
        self.film.read_exact(&mut bytes).map_err(Wrong::unreadable)?;
        Ok(bytes)
    }
}

impl Body {
    /// The next `width` bytes, at most 8, as a number.
    pub(super) fn number(&mut self, width: usize) -> Result<u64, Wrong> {
        let bytes = self.bytes.get(self.at..self.at + width);
        let bytes = bytes.ok_or_else(|| Wrong::new(format!("box {} is cut off", self.kind.escape_ascii())))?;
        self.at += width;
        Ok(bytes.iter().fold(0, |number, &byte| number << 8 | u64::from(byte)))
    }

    /// Passes over bytes; whether they were there is found out by who reads on.
    pub(super) fn skip(&mut self, bytes: usize) {
        self.at += bytes;
    }

    /// The version of a full box; its flags are passed over.
    pub(super) fn version(&mut self) -> Result<u64, Wrong> {
        Ok(self.number(4)? >> 24)
    }

    /// Duration, unless it is unknown, and ticks a second, of `mvhd` and `mdhd`.
    pub(super) fn times(mut self) -> Result<(Option<u64>, u64), Wrong> {
        let width = if self.version()? == 1 { 8 } else { 4 };
        self.number(width)?;
        self.number(width)?;
        let timescale = self.number(4)?;
        let duration = self.number(width)?;
        let unknown = if width == 8 { u64::MAX } else { u32::MAX.into() };
        Ok((Some(duration).filter(|&ticks| ticks != 0 && ticks != unknown), timescale))
    }
}

/// `count` ticks, of which a second has `timescale`.
pub(super) fn ticks(count: u64, timescale: u64) -> Result<Span, Wrong> {
    let nanos = (u128::from(count) * 1_000_000_000).checked_div(timescale.into());
    let nanos = nanos.and_then(|nanos| u64::try_from(nanos).ok());
    nanos.map(Span::from_nanos).ok_or_else(|| Wrong::new("its length is zero or without end"))
}
