//! The header of a track.

use std::io::{Read, Seek};

use super::boxes::{Boxes, Head};
use crate::rate::FormatError;

/// The number of a track, and the number of ticks in a second of its times.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Header {
    pub(crate) id: u64,
    pub(crate) timescale: u64,
}

impl Header {
    /// Reads `tkhd` and `mdhd` of a `trak`; zero where they are missing.
    pub(crate) fn parse(boxes: &mut Boxes<'_, impl Read + Seek>, trak: Head) -> Result<Header, FormatError> {
        let mut header = Header::default();
        boxes.each(trak, |boxes, head| {
            match &head.kind {
                b"tkhd" => {
                    let mut body = boxes.body(head)?;
                    let width = if body.version()? == 1 { 8 } else { 4 };
                    body.number(width)?;
                    body.number(width)?;
                    header.id = body.number(4)?;
                }
                b"mdia" => boxes.each(head, |boxes, head| {
                    if &head.kind == b"mdhd" {
                        header.timescale = boxes.body(head)?.times()?.1;
                    }
                    Ok(())
                })?,
                _ => {}
            }
            Ok(())
        })?;
        Ok(header)
    }
}
