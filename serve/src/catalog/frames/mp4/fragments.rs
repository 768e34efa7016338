//! The samples of fragments (`moof`).

use std::io::{Read, Seek};

use super::super::far;
use super::{Movie, Sample, Samples};
use crate::mp4::boxes::{Boxes, Head};
use crate::mp4::fragment::{self, Defaults, Run};
use crate::rate::FormatError;

/// The flag of a sample at which no decoder can start (ISO/IEC 14496-12 §8.8.3.1).
const NON_SYNC: u64 = 0x1_0000;

impl Movie {
    /// Adds a `moof`, which begins at `start`.
    pub(super) fn fragment(
        &mut self,
        boxes: &mut Boxes<'_, impl Read + Seek>,
        start: u64,
        moof: Head,
    ) -> Result<(), FormatError> {
        // The end of the data of the track before, at which that of the next begins unless it says otherwise.
        let mut end = start;
        boxes.each(moof, |boxes, head| {
            if &head.kind == b"traf" {
                end = self.track_fragment(boxes, head, start, end)?;
            }
            Ok(())
        })
    }

    fn track_fragment(
        &mut self,
        boxes: &mut Boxes<'_, impl Read + Seek>,
        traf: Head,
        moof: u64,
        end: u64,
    ) -> Result<u64, FormatError> {
        let (mut header, mut time, mut at, mut base) = (None, None, end, end);
        boxes.each(traf, |boxes, head| {
            match &head.kind {
                b"tfhd" => {
                    let read = fragment::Header::parse(boxes.body(head)?)?;
                    base = read.base.unwrap_or(if read.base_is_moof { moof } else { end });
                    (header, at) = (Some(read), base);
                }
                b"tfdt" => time = Some(fragment::decode_time(boxes.body(head)?)?),
                b"trun" => {
                    let run = Run::parse(boxes.body(head)?)?;
                    let header = header.ok_or_else(|| FormatError::new("a fragment without its header (tfhd)"))?;
                    if let Some(offset) = run.offset {
                        at = base.checked_add_signed(offset).ok_or_else(far)?;
                    }
                    at = match self.track(header.id) {
                        Some(track) => track.run(run, header, time.take(), at)?,
                        None => at.saturating_add(run.bytes(header.defaults(Defaults::default()))?),
                    };
                }
                _ => {}
            }
            Ok(())
        })?;
        Ok(at)
    }

    fn track(&mut self, id: u64) -> Option<&mut Samples> {
        [Some(&mut self.video), self.audio.as_mut()].into_iter().flatten().find(|track| track.header.id == id)
    }
}

impl Samples {
    /// Adds the samples of a run, which begin at `at` at the decode time `time`, or at that after the last sample; their
    /// end in the file.
    fn run(
        &mut self,
        mut run: Run,
        header: fragment::Header,
        time: Option<u64>,
        mut at: u64,
    ) -> Result<u64, FormatError> {
        if let Some(time) = time {
            self.next = i64::try_from(time).map_err(|_| far())?;
        }
        let defaults = header.defaults(self.defaults);
        while let Some(sample) = run.next(defaults)? {
            let fragment::Sample { duration, size, flags, composition } = sample;
            self.push(at, Sample { duration, size, composition, sync: flags & NON_SYNC == 0 })?;
            // Checked against the length of the file.
            at += size;
        }
        Ok(at)
    }
}
