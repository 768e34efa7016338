//! How the bytes of a film lie in its time, and the rate that playing it needs.
//!
//! A mean is too slow for a film whose first minute is dense: it is what DASH calls bandwidth (ISO/IEC 23009-1 §5.3.5.2), the
//! least rate at which a player that has what is played in some time at first never runs dry, wherever it begins.

use std::io::{Read, Seek};

use thalweg_core::time::Span;
use thalweg_core::units::{Bytes, Rate};

use super::boxes::{Body, Boxes, Head};
use crate::pace::AHEAD;
use crate::rate::Wrong;

/// Seconds of a film that are told apart: a day and some.
const LONGEST: usize = 100_000;
/// In nanoseconds.
const SECOND: u64 = 1_000_000_000;

/// Bytes of each second, of all tracks together; none if a track could not be read.
pub(super) struct Course(Option<Vec<u64>>);

impl Default for Course {
    fn default() -> Course {
        Course(Some(Vec::new()))
    }
}

impl Course {
    /// Takes in a `trak`. Half of its samples would say nothing of where the others lie.
    pub(super) fn track(&mut self, boxes: &mut Boxes<'_, impl Read + Seek>, trak: Head) {
        if self.tables(boxes, trak).is_err() {
            self.0 = None;
        }
    }

    /// Where all samples are of one length nothing is taken: they lie evenly.
    fn tables(&mut self, boxes: &mut Boxes<'_, impl Read + Seek>, trak: Head) -> Result<(), Wrong> {
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
            (1.., Some(times), Some(sizes)) => self.samples(timescale, times, sizes),
            _ => Ok(()),
        }
    }

    fn samples(&mut self, timescale: u64, mut times: Body, mut sizes: Body) -> Result<(), Wrong> {
        sizes.version()?;
        if sizes.number(4)? != 0 {
            return Ok(());
        }
        let (mut left, mut at) = (sizes.number(4)?, 0_u64);
        times.version()?;
        for _ in 0..times.number(4)? {
            let (count, ticks) = (times.number(4)?, times.number(4)?);
            for _ in 0..count.min(left) {
                self.add(at / timescale, sizes.number(4)?)?;
                at = at.saturating_add(ticks);
            }
            left -= count.min(left);
        }
        Ok(())
    }

    fn add(&mut self, second: u64, bytes: u64) -> Result<(), Wrong> {
        let second = usize::try_from(second).ok().filter(|second| *second < LONGEST);
        let second = second.ok_or_else(|| Wrong::new("it is longer than a day"))?;
        let Some(seconds) = &mut self.0 else { return Ok(()) };
        if seconds.len() <= second {
            seconds.resize(second + 1, 0);
        }
        seconds[second] += bytes;
        Ok(())
    }

    /// The least rate at which a film of so many bytes and so long never runs dry behind [`AHEAD`] of it. What no sample
    /// accounts for lies evenly over all of it. Zero where nothing is known, or samples have more bytes than the film.
    pub(super) fn rate(&self, film: Bytes, length: Span) -> Rate {
        let seconds = self.0.as_deref().unwrap_or_default();
        let known: u64 = seconds.iter().sum();
        let (Some(rest), Some(most)) = (film.0.checked_sub(known), seconds.iter().max()) else {
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

/// Whether a player that is [`AHEAD`], and gets `rate` bytes a second, lacks something of these seconds and what lies evenly.
fn runs_dry(seconds: &[u64], even: u64, rate: u64) -> bool {
    let ahead = rate.saturating_mul(AHEAD.as_nanos() / SECOND);
    let mut behind = 0_u64;
    seconds.iter().any(|bytes| {
        behind = (behind + bytes + even).saturating_sub(rate);
        behind > ahead
    })
}
