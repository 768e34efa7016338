//! Boxes: size, type, and boxes or numbers inside.

use std::io::{ErrorKind, Read, Seek, SeekFrom};

use thalweg_core::time::Span;

use crate::rate::FormatError;

/// Limit on boxes; a video of a day in fragments of a second has 170 000.
const MAX_BOXES: u32 = 500_000;
/// Limit in bytes on a box that is read whole: an index of 65535 entries is under 800 KB.
const MAX_BODY: u64 = 1 << 20;

/// Limit in bytes on a table of samples: 4 million, or 18 hours of pictures.
const MAX_TABLE: u64 = 16 << 20;

/// Types of boxes that a file may begin with.
const FIRST: [&[u8; 4]; 10] =
    [b"ftyp", b"styp", b"moov", b"mdat", b"free", b"skip", b"wide", b"pdin", b"sidx", b"moof"];

/// True if an MP4 may begin with a box of this type.
pub(crate) fn is_first(kind: &[u8]) -> bool {
    FIRST.iter().any(|first| *first == kind)
}

/// A video, and the number of its boxes that may still be read.
pub(crate) struct Boxes<'a, F> {
    video: &'a mut F,
    len: u64,
    left: u32,
}

/// The position of a box, whose body ends at `end`.
#[derive(Clone, Copy)]
pub(crate) struct Head {
    pub(crate) kind: [u8; 4],
    /// The position of the first byte after the header.
    pub(crate) body: u64,
    pub(crate) end: u64,
}

impl Head {
    /// The same box, whose inner boxes begin after `bytes` more bytes of header.
    pub(crate) fn after(self, bytes: u64) -> Result<Head, FormatError> {
        match self.body.checked_add(bytes) {
            Some(body) if body <= self.end => Ok(Head { body, ..self }),
            _ => Err(FormatError::new(format!("box {} is truncated", self.kind.escape_ascii()))),
        }
    }
}

/// A function that is applied to a box.
type Visit<'v, F> = dyn FnMut(&mut Boxes<'_, F>, Head) -> Result<(), FormatError> + 'v;

/// The unread bytes of a box.
pub(crate) struct Body {
    bytes: Vec<u8>,
    at: usize,
    kind: [u8; 4],
}

impl<'a, F: Read + Seek> Boxes<'a, F> {
    pub(crate) fn new(video: &'a mut F) -> Result<Boxes<'a, F>, FormatError> {
        let len = video.seek(SeekFrom::End(0)).map_err(FormatError::unreadable)?;
        Ok(Boxes { video, len, left: MAX_BOXES })
    }

    /// The length of the video in bytes.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// The head of the box at `at`, which must end by `end`; none at `end` itself.
    pub(crate) fn head(&mut self, at: u64, end: u64) -> Result<Option<Head>, FormatError> {
        if at == end {
            return Ok(None);
        }
        self.left = self.left.checked_sub(1).ok_or_else(|| FormatError::new(format!("more than {MAX_BOXES} boxes")))?;
        // Box by box the end of the file is reached exactly, unless the rest of the file is missing.
        let is_whole_file = end == self.len;
        let cut = |detail: String| match is_whole_file {
            true => FormatError::new(format!("the file is incomplete; copy it again ({detail})")),
            false => FormatError::new(detail),
        };
        let in_header = || cut(format!("truncated at byte {at}, in the header of a box"));
        if end - at < 8 {
            return Err(in_header());
        }
        let first = self.read(at, 8)?;
        let (size, kind) =
            (u32::from_be_bytes([first[0], first[1], first[2], first[3]]), [4, 5, 6, 7].map(|n| first[n]));
        if at == 0 && !is_first(&kind) {
            return Err(FormatError::new("not an MP4 file"));
        }
        let (size, head) = match size {
            0 => (end - at, 8),
            1 if end - at < 16 => return Err(in_header()),
            1 => (u64::from_be_bytes(self.read(at + 8, 8)?.try_into().expect("eight bytes")), 16),
            size => (size.into(), 8),
        };
        let name = kind.escape_ascii();
        match at.checked_add(size) {
            _ if size < head => Err(FormatError::new(format!("box {name} at byte {at} is shorter than its header"))),
            Some(ends) if ends <= end => Ok(Some(Head { kind, body: at + head, end: ends })),
            _ => Err(cut(format!("box {name} at byte {at} extends beyond the end"))),
        }
    }

    /// Applies `visit` to each box inside another.
    pub(crate) fn each(
        &mut self,
        outer: Head,
        mut visit: impl FnMut(&mut Boxes<'_, F>, Head) -> Result<(), FormatError>,
    ) -> Result<(), FormatError> {
        let mut at = outer.body;
        while let Some(head) = self.head(at, outer.end)? {
            let mut inner = Boxes { video: &mut *self.video, len: self.len, left: self.left };
            visit(&mut inner, head)?;
            self.left = inner.left;
            at = head.end;
        }
        Ok(())
    }

    /// Applies `visit` to each box inside those that a path of types leads to.
    pub(crate) fn below(
        &mut self,
        outer: Head,
        path: &[&[u8; 4]],
        visit: &mut Visit<'_, F>,
    ) -> Result<(), FormatError> {
        let Some((first, rest)) = path.split_first() else { return self.each(outer, visit) };
        self.each(outer, |boxes, head| if head.kind == **first { boxes.below(head, rest, visit) } else { Ok(()) })
    }

    /// The bytes of a box.
    pub(crate) fn body(&mut self, head: Head) -> Result<Body, FormatError> {
        self.within(head, MAX_BODY)
    }

    /// The bytes of a box that may be long.
    pub(crate) fn table(&mut self, head: Head) -> Result<Body, FormatError> {
        self.within(head, MAX_TABLE)
    }

    fn within(&mut self, head: Head, most: u64) -> Result<Body, FormatError> {
        let Head { kind, body, end } = head;
        if end - body > most {
            return Err(FormatError::new(format!("box {} is too long: {} bytes", kind.escape_ascii(), end - body)));
        }
        Ok(Body { bytes: self.read(body, (end - body) as usize)?, at: 0, kind })
    }

    fn read(&mut self, at: u64, len: usize) -> Result<Vec<u8>, FormatError> {
        let mut bytes = vec![0; len];
        self.fill(at, &mut bytes)?;
        Ok(bytes)
    }

    /// Reads the bytes at `at`.
    pub(crate) fn fill(&mut self, at: u64, bytes: &mut [u8]) -> Result<(), FormatError> {
        self.video.seek(SeekFrom::Start(at)).map_err(FormatError::unreadable)?;
        self.video.read_exact(bytes).map_err(|error| match error.kind() {
            ErrorKind::UnexpectedEof => FormatError::new(format!("truncated near byte {at} while it was read")),
            _ => FormatError::unreadable(error),
        })
    }
}

impl Body {
    /// The next `width` bytes, at most 8, as a number.
    pub(crate) fn number(&mut self, width: usize) -> Result<u64, FormatError> {
        let bytes = self.bytes.get(self.at..self.at + width);
        let bytes = bytes.ok_or_else(|| FormatError::new(format!("box {} is truncated", self.kind.escape_ascii())))?;
        self.at += width;
        Ok(bytes.iter().fold(0, |number, &byte| number << 8 | u64::from(byte)))
    }

    /// Skips bytes; the next read detects if they are missing.
    pub(crate) fn skip(&mut self, bytes: usize) {
        self.at += bytes;
    }

    /// The next `len` bytes.
    pub(crate) fn bytes(&mut self, len: usize) -> Result<&[u8], FormatError> {
        let end = self.at.checked_add(len).filter(|&end| end <= self.bytes.len());
        let end = end.ok_or_else(|| FormatError::new(format!("box {} is truncated", self.kind.escape_ascii())))?;
        let start = std::mem::replace(&mut self.at, end);
        Ok(&self.bytes[start..end])
    }

    /// The version of a full box; its flags are skipped.
    pub(crate) fn version(&mut self) -> Result<u64, FormatError> {
        Ok(self.number(4)? >> 24)
    }

    /// The duration, unless it is unknown, and the ticks per second, of `mvhd` and `mdhd`.
    pub(crate) fn times(mut self) -> Result<(Option<u64>, u64), FormatError> {
        let width = if self.version()? == 1 { 8 } else { 4 };
        self.number(width)?;
        self.number(width)?;
        let timescale = self.number(4)?;
        let duration = self.number(width)?;
        let unknown = if width == 8 { u64::MAX } else { u32::MAX.into() };
        Ok((Some(duration).filter(|&ticks| ticks != 0 && ticks != unknown), timescale))
    }
}

/// Converts `count` ticks, of which a second has `timescale`.
pub(crate) fn ticks(count: u64, timescale: u64) -> Result<Span, FormatError> {
    let nanos = (u128::from(count) * 1_000_000_000).checked_div(timescale.into());
    let nanos = nanos.and_then(|nanos| u64::try_from(nanos).ok());
    nanos.map(Span::from_nanos).ok_or_else(|| FormatError::new("its duration is zero or infinite"))
}
