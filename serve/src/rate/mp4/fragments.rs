//! Fragments (`moof`): the end of the last one of each track.

use std::io::{Read, Seek};

use thalweg_core::time::Span;

use super::boxes::{Body, Boxes, Head, ticks};
use crate::rate::FormatError;

/// Limit on tracks: more than any video has.
const MAX_TRACKS: usize = 64;
/// Flags of `tfhd` and `trun`, each of which says that a field is present.
const BASE_OFFSET: u64 = 0x1;
const DESCRIPTION: u64 = 0x2;
const DEFAULT_DURATION: u64 = 0x8;
const DATA_OFFSET: u64 = 0x1;
const FIRST_FLAGS: u64 = 0x4;
const DURATION: u64 = 0x100;

/// The tracks of a fragmented video.
#[derive(Default)]
pub(super) struct Fragments(Vec<Track>);

#[derive(Default)]
struct Track {
    id: u64,
    timescale: u64,
    /// The duration of a sample without one of its own.
    duration: u64,
    start: Option<u64>,
    end: u64,
}

impl Fragments {
    /// The length of the longest track.
    pub(super) fn length(&self) -> Option<Span> {
        let length = |track: &Track| ticks(track.end.checked_sub(track.start?)?, track.timescale).ok();
        self.0.iter().filter_map(length).max().filter(|&length| length > Span::ZERO)
    }

    /// Adds a `trak`.
    pub(super) fn track(&mut self, boxes: &mut Boxes<'_, impl Read + Seek>, trak: Head) -> Result<(), FormatError> {
        let (mut id, mut timescale) = (0, 0);
        boxes.each(trak, |boxes, head| {
            match &head.kind {
                b"tkhd" => {
                    let mut body = boxes.body(head)?;
                    let width = if body.version()? == 1 { 8 } else { 4 };
                    body.number(width)?;
                    body.number(width)?;
                    id = body.number(4)?;
                }
                b"mdia" => boxes.each(head, |boxes, head| {
                    if &head.kind == b"mdhd" {
                        timescale = boxes.body(head)?.times()?.1;
                    }
                    Ok(())
                })?,
                _ => {}
            }
            Ok(())
        })?;
        self.find(id)?.timescale = timescale;
        Ok(())
    }

    /// Adds the defaults of a `trex`.
    pub(super) fn defaults(&mut self, mut trex: Body) -> Result<(), FormatError> {
        trex.version()?;
        let id = trex.number(4)?;
        trex.number(4)?;
        self.find(id)?.duration = trex.number(4)?;
        Ok(())
    }

    /// Adds a `moof`.
    pub(super) fn add(&mut self, boxes: &mut Boxes<'_, impl Read + Seek>, moof: Head) -> Result<(), FormatError> {
        boxes.each(moof, |boxes, head| if &head.kind == b"traf" { self.run(boxes, head) } else { Ok(()) })
    }

    fn run(&mut self, boxes: &mut Boxes<'_, impl Read + Seek>, traf: Head) -> Result<(), FormatError> {
        let (mut id, mut default, mut start, mut length) = (0, None, None, 0_u64);
        boxes.each(traf, |boxes, head| {
            match &head.kind {
                b"tfhd" => {
                    let mut body = boxes.body(head)?;
                    let flags = body.number(4)?;
                    id = body.number(4)?;
                    for (flag, width) in [(BASE_OFFSET, 8), (DESCRIPTION, 4)] {
                        body.skip(if flags & flag == 0 { 0 } else { width });
                    }
                    default = if flags & DEFAULT_DURATION == 0 { None } else { Some(body.number(4)?) };
                }
                b"tfdt" => {
                    let mut body = boxes.body(head)?;
                    let width = if body.version()? == 1 { 8 } else { 4 };
                    start = Some(body.number(width)?);
                }
                b"trun" => {
                    let known = default.map_or_else(|| Ok(self.find(id)?.duration), Ok)?;
                    length = length.saturating_add(samples(boxes.body(head)?, known)?);
                }
                _ => {}
            }
            Ok(())
        })?;
        let track = self.find(id)?;
        let start = start.unwrap_or(track.end);
        track.start.get_or_insert(start);
        track.end = start.saturating_add(length);
        Ok(())
    }

    fn find(&mut self, id: u64) -> Result<&mut Track, FormatError> {
        let at = match self.0.iter().position(|track| track.id == id) {
            Some(at) => at,
            None if self.0.len() == MAX_TRACKS => {
                return Err(FormatError::new(format!("more than {MAX_TRACKS} tracks")));
            }
            None => {
                self.0.push(Track { id, ..Track::default() });
                self.0.len() - 1
            }
        };
        Ok(&mut self.0[at])
    }
}

/// The duration of all samples of a `trun` together.
fn samples(mut trun: Body, default: u64) -> Result<u64, FormatError> {
    let flags = trun.number(4)?;
    let count = trun.number(4)?;
    for flag in [DATA_OFFSET, FIRST_FLAGS] {
        trun.skip(if flags & flag == 0 { 0 } else { 4 });
    }
    if flags & DURATION == 0 {
        return Ok(count.saturating_mul(default));
    }
    let others = 4 * (flags >> 9 & 7).count_ones() as usize;
    let mut length = 0;
    for _ in 0..count {
        length += trun.number(4)?;
        trun.skip(others);
    }
    Ok(length)
}
