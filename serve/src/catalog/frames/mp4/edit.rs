//! The edit list of a track (`elst`): the time at which its media begins, and its first sample displayed.

use std::io::{Read, Seek};

use super::super::Frame;
use super::super::far;
use crate::mp4::boxes::{Boxes, Head};
use crate::rate::FormatError;

/// The edits of a track: a delay, then its media from one time on.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Edits {
    /// The delay in ticks of the movie.
    delay: u64,
    /// The display time in ticks of the track at which the presentation begins.
    start: Option<u64>,
    /// The duration of the presentation in ticks of the movie; zero is all of the track.
    length: u64,
}

impl Edits {
    /// The same edits up to the end of the track. In a video with fragments, the duration may be that of the samples in
    /// `moov`.
    pub(super) fn without_end(self) -> Edits {
        Edits { length: 0, ..self }
    }

    pub(super) fn read(boxes: &mut Boxes<'_, impl Read + Seek>, trak: Head) -> Result<Edits, FormatError> {
        let mut edits = Edits::default();
        boxes.below(trak, &[b"edts"], &mut |boxes, head| {
            if &head.kind != b"elst" {
                return Ok(());
            }
            let mut body = boxes.body(head)?;
            let width = if body.version()? == 1 { 8 } else { 4 };
            let none = if width == 8 { u64::MAX } else { u32::MAX.into() };
            let count = body.number(4)?;
            for _ in 0..count {
                let (duration, start, rate) = (body.number(width)?, body.number(width)?, body.number(4)?);
                match (edits.start, start == none) {
                    (None, true) => edits.delay = edits.delay.saturating_add(duration),
                    (None, false) if rate == 1 << 16 => (edits.start, edits.length) = (Some(start), duration),
                    (None, false) => return Err(FormatError::new("its edit list changes the speed of a track")),
                    (Some(_), _) => {
                        return Err(FormatError::new(format!(
                            "its edit list has {count} parts; only one is supported"
                        )));
                    }
                }
            }
            Ok(())
        })?;
        Ok(edits)
    }

    /// Shifts the times of frames, so that the presentation begins at zero, and drops the last ones if they are displayed
    /// after its end. Frames before its start remain: those after them need them.
    pub(super) fn apply(&self, frames: &mut Vec<Frame>, timescale: u32, movie: u64) -> Result<(), FormatError> {
        let ticks = |count: u64| match (count, movie) {
            (0, _) => Ok(0),
            (_, 0) => Err(far()),
            _ => {
                let ticks = (u128::from(count) * u128::from(timescale) + u128::from(movie / 2)) / u128::from(movie);
                i64::try_from(ticks).map_err(|_| far())
            }
        };
        let (delay, length) = (ticks(self.delay)?, ticks(self.length)?);
        let start = i64::try_from(self.start.unwrap_or_default()).map_err(|_| far())?;
        for frame in &mut *frames {
            frame.decode = frame.decode.checked_sub(start).and_then(|at| at.checked_add(delay)).ok_or_else(far)?;
            frame.decode.checked_add(frame.display_delay.into()).ok_or_else(far)?;
        }
        let end = if length == 0 { i64::MAX } else { delay.saturating_add(length) };
        while frames.last().is_some_and(|frame| frame.display() >= end) {
            frames.pop();
        }
        Ok(())
    }
}
