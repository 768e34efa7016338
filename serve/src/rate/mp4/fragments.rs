//! Fragments (`moof`): the end of the last one of each track.

use std::io::{Read, Seek};

use thalweg_core::time::Span;

use crate::mp4::boxes::{Body, Boxes, Head, ticks};
use crate::mp4::fragment::{self, Defaults, Run};
use crate::mp4::track::Header;
use crate::rate::FormatError;

/// Limit on tracks: more than any video has.
const MAX_TRACKS: usize = 64;
/// The tracks of a fragmented video.
#[derive(Default)]
pub(super) struct Fragments(Vec<Track>);

#[derive(Default)]
struct Track {
    id: u64,
    timescale: u64,
    defaults: Defaults,
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
        let header = Header::parse(boxes, trak)?;
        self.find(header.id)?.timescale = header.timescale;
        Ok(())
    }

    /// Adds the defaults of a `trex`.
    pub(super) fn defaults(&mut self, trex: Body) -> Result<(), FormatError> {
        let (id, defaults) = Defaults::parse(trex)?;
        self.find(id)?.defaults = defaults;
        Ok(())
    }

    /// Adds a `moof`.
    pub(super) fn add(&mut self, boxes: &mut Boxes<'_, impl Read + Seek>, moof: Head) -> Result<(), FormatError> {
        boxes.each(moof, |boxes, head| if &head.kind == b"traf" { self.run(boxes, head) } else { Ok(()) })
    }

    fn run(&mut self, boxes: &mut Boxes<'_, impl Read + Seek>, traf: Head) -> Result<(), FormatError> {
        let (mut header, mut start, mut length) = (fragment::Header::default(), None, 0_u64);
        boxes.each(traf, |boxes, head| {
            match &head.kind {
                b"tfhd" => header = fragment::Header::parse(boxes.body(head)?)?,
                b"tfdt" => start = Some(fragment::decode_time(boxes.body(head)?)?),
                b"trun" => {
                    let defaults = header.defaults(self.find(header.id)?.defaults);
                    length = length.saturating_add(Run::parse(boxes.body(head)?)?.duration(defaults)?);
                }
                _ => {}
            }
            Ok(())
        })?;
        let track = self.find(header.id)?;
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
