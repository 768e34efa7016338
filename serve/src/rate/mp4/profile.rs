//! The bit rate profile of a video, and the rate that its playback needs.
//!
//! The mean is too slow for a video whose first minute is dense. The rate here is the bandwidth of DASH (ISO/IEC
//! 23009-1 §5.3.5.2): the lowest rate at which a player that at first has the data of some playback time never runs
//! dry, wherever it begins.

use std::io::{Read, Seek};

use thalweg_core::time::Span;
use thalweg_core::units::{Bytes, Rate};

use crate::mp4::boxes::{Boxes, Head};
use crate::mp4::tables::{Runs, Sizes};
use crate::pace::AHEAD;
use crate::rate::FormatError;

/// Limit on the seconds of a profile: somewhat more than a day.
const LONGEST: usize = 100_000;
/// A second in nanoseconds.
const SECOND: u64 = 1_000_000_000;

/// Bytes of each second, of all tracks together; none if a track could not be read.
pub(super) struct BitRateProfile(Option<Vec<u64>>);

impl Default for BitRateProfile {
    fn default() -> BitRateProfile {
        BitRateProfile(Some(Vec::new()))
    }
}

impl BitRateProfile {
    /// Adds a `trak`. If it cannot be read, there is no profile: a part of the samples does not show where the others
    /// lie.
    pub(super) fn track(&mut self, boxes: &mut Boxes<'_, impl Read + Seek>, trak: Head) {
        if self.tables(boxes, trak).is_err() {
            self.0 = None;
        }
    }

    /// Adds nothing if all samples have one size: they lie evenly.
    fn tables(&mut self, boxes: &mut Boxes<'_, impl Read + Seek>, trak: Head) -> Result<(), FormatError> {
        let (mut timescale, mut times, mut sizes) = (0, None, None);
        boxes.below(trak, &[b"mdia"], &mut |boxes, head| {
            if &head.kind == b"mdhd" {
                timescale = boxes.body(head)?.times()?.1;
            }
            Ok(())
        })?;
        boxes.below(trak, &[b"mdia", b"minf", b"stbl"], &mut |boxes, head| {
            match &head.kind {
                b"stts" => times = Some(boxes.table(head)?),
                b"stsz" => sizes = Some(boxes.table(head)?),
                _ => {}
            }
            Ok(())
        })?;
        match (timescale, times, sizes) {
            (1.., Some(times), Some(sizes)) => self.samples(timescale, Runs::new(times)?, Sizes::new(sizes)?),
            _ => Ok(()),
        }
    }

    fn samples(&mut self, timescale: u64, mut times: Runs, mut sizes: Sizes) -> Result<(), FormatError> {
        if sizes.equal().is_some() {
            return Ok(());
        }
        let mut at = 0_u64;
        while sizes.left() > 0
            && let Some(ticks) = times.next()?
            && let Some(size) = sizes.next()?
        {
            self.add(at / timescale, size)?;
            at = at.saturating_add(ticks);
        }
        Ok(())
    }

    fn add(&mut self, second: u64, bytes: u64) -> Result<(), FormatError> {
        let second = usize::try_from(second).ok().filter(|second| *second < LONGEST);
        let second = second.ok_or_else(|| FormatError::new("longer than a day"))?;
        let Some(seconds) = &mut self.0 else { return Ok(()) };
        if seconds.len() <= second {
            seconds.resize(second + 1, 0);
        }
        seconds[second] += bytes;
        Ok(())
    }

    /// The lowest rate at which a video of these bytes and this length never runs dry after an initial [`AHEAD`] of it.
    /// Bytes that no sample accounts for lie evenly over all of it. Zero if nothing is known, or samples have more
    /// bytes than the video.
    pub(super) fn rate(&self, video: Bytes, length: Span) -> Rate {
        let seconds = self.0.as_deref().unwrap_or_default();
        let known: u64 = seconds.iter().sum();
        let (Some(rest), Some(most)) = (video.0.checked_sub(known), seconds.iter().max()) else {
            return Rate::from_bps(0);
        };
        let even = rest / (seconds.len() as u64).max(length.as_nanos().div_ceil(SECOND));
        let (mut slow, mut fast) = (0, most + even);
        while fast - slow > 1 {
            let rate = slow + (fast - slow) / 2;
            if runs_dry(seconds, even, rate) { slow = rate } else { fast = rate }
        }
        Rate::of(Bytes(fast), Span::from_secs(1))
    }
}

/// True if a player that is [`AHEAD`] and gets `rate` bytes a second lacks bytes of these seconds, with `even` more in
/// each.
fn runs_dry(seconds: &[u64], even: u64, rate: u64) -> bool {
    let ahead = rate.saturating_mul(AHEAD.as_nanos() / SECOND);
    let mut behind = 0_u64;
    seconds.iter().any(|bytes| {
        behind = (behind + bytes + even).saturating_sub(rate);
        behind > ahead
    })
}
