//! The samples of a track by the tables in its `stbl`.

use std::io::{Read, Seek};

use super::{Sample, Samples};
use crate::mp4::boxes::{Body, Boxes, Head};
use crate::mp4::tables::{Chunks, Runs, Sizes};
use crate::rate::FormatError;

/// The tables of a track.
#[derive(Default)]
struct Tables {
    durations: Option<Runs>,
    compositions: Option<Runs>,
    sync: Option<Body>,
    sizes: Option<Sizes>,
    runs: Option<Body>,
    offsets: Option<(Body, usize)>,
}

impl Samples {
    /// Adds the samples of `moov`; a fragmented video may have none.
    pub(super) fn tables(&mut self, boxes: &mut Boxes<'_, impl Read + Seek>, trak: Head) -> Result<(), FormatError> {
        let mut tables = Tables::default();
        boxes.below(trak, &[b"mdia", b"minf", b"stbl"], &mut |boxes, head| {
            match &head.kind {
                b"stts" => tables.durations = Some(Runs::new(boxes.table(head)?)?),
                b"ctts" => tables.compositions = Some(Runs::new(boxes.table(head)?)?),
                b"stss" => tables.sync = Some(boxes.table(head)?),
                b"stsz" => tables.sizes = Some(Sizes::new(boxes.table(head)?)?),
                b"stz2" => tables.sizes = Some(Sizes::compact(boxes.table(head)?)?),
                b"stsc" => tables.runs = Some(boxes.table(head)?),
                b"stco" => tables.offsets = Some((boxes.table(head)?, 4)),
                b"co64" => tables.offsets = Some((boxes.table(head)?, 8)),
                _ => {}
            }
            Ok(())
        })?;
        let Tables { durations, mut compositions, sync, sizes, runs, offsets } = tables;
        let (Some(mut durations), Some(mut sizes), Some(runs), Some((offsets, width))) =
            (durations, sizes, runs, offsets)
        else {
            return Err(FormatError::new("a track without one of the tables stts, stsz, stsc and stco"));
        };
        let mut sync = sync.map(Sync::new).transpose()?;
        let mut chunks = Chunks::new(offsets, width, runs)?;
        let mut number = 0;
        while sizes.left() > 0 {
            let Some((mut offset, count)) = chunks.next()? else {
                return Err(FormatError::new(format!("its chunks have fewer samples than stsz: {number}")));
            };
            for _ in 0..count.min(sizes.left()) {
                number += 1;
                let (Some(size), Some(duration)) = (sizes.next()?, durations.next()?) else {
                    return Err(FormatError::new(format!("stts has fewer samples than stsz: {number}")));
                };
                // Offsets of version 0 are unsigned, but files with signed ones in it are common, and none of 2^31.
                let composition = match &mut compositions {
                    Some(offsets) => offsets.next()?.map_or(0, |offset| i64::from(offset as u32 as i32)),
                    None => 0,
                };
                let sync = sync.as_mut().map_or(Ok(true), |sync| sync.is(number))?;
                self.push(offset, Sample { duration, size, composition, sync })?;
                // Checked against the length of the file.
                offset += size;
            }
        }
        Ok(())
    }
}

/// The numbers of sync samples, ascending (`stss`).
struct Sync {
    body: Body,
    left: u64,
    next: Option<u64>,
}

impl Sync {
    fn new(mut body: Body) -> Result<Sync, FormatError> {
        body.version()?;
        let left = body.number(4)?;
        let mut sync = Sync { body, left, next: None };
        sync.advance()?;
        Ok(sync)
    }

    /// True if a sample is in the table; its numbers must be asked for in ascending order.
    fn is(&mut self, number: u64) -> Result<bool, FormatError> {
        while self.next.is_some_and(|next| next < number) {
            self.advance()?;
        }
        Ok(self.next == Some(number))
    }

    fn advance(&mut self) -> Result<(), FormatError> {
        self.next = None;
        if self.left > 0 {
            self.left -= 1;
            self.next = Some(self.body.number(4)?);
        }
        Ok(())
    }
}
