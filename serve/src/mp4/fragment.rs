//! Fragments of a track (`traf`, ISO/IEC 14496-12 §8.8): the header, the decode time, and runs of samples.

use super::boxes::Body;
use crate::rate::FormatError;

/// Flags of `tfhd` and `trun`, each of which says that a field is present.
const BASE_OFFSET: u64 = 0x1;
const DESCRIPTION: u64 = 0x2;
const DEFAULT_DURATION: u64 = 0x8;
const DEFAULT_SIZE: u64 = 0x10;
const DEFAULT_FLAGS: u64 = 0x20;
const BASE_IS_MOOF: u64 = 0x02_0000;
const DATA_OFFSET: u64 = 0x1;
const FIRST_FLAGS: u64 = 0x4;
const DURATION: u64 = 0x100;
const SIZE: u64 = 0x200;
const FLAGS: u64 = 0x400;
const COMPOSITION: u64 = 0x800;

/// Values of samples that state none of their own: those of `trex`, or of `tfhd` over these.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Defaults {
    pub(crate) duration: u64,
    pub(crate) size: u64,
    pub(crate) flags: u64,
}

impl Defaults {
    /// Reads a `trex`: the track, and its defaults.
    pub(crate) fn parse(mut trex: Body) -> Result<(u64, Defaults), FormatError> {
        trex.version()?;
        let id = trex.number(4)?;
        trex.number(4)?;
        Ok((id, Defaults { duration: trex.number(4)?, size: trex.number(4)?, flags: trex.number(4)? }))
    }
}

/// A `tfhd`.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Header {
    pub(crate) id: u64,
    /// The position in the file to which the offsets of runs refer.
    pub(crate) base: Option<u64>,
    /// True if these refer to the start of the `moof` if there is no base.
    pub(crate) base_is_moof: bool,
    duration: Option<u64>,
    size: Option<u64>,
    flags: Option<u64>,
}

impl Header {
    pub(crate) fn parse(mut tfhd: Body) -> Result<Header, FormatError> {
        let present = tfhd.number(4)?;
        let id = tfhd.number(4)?;
        let mut field = |flag, width| if present & flag == 0 { Ok(None) } else { tfhd.number(width).map(Some) };
        let base = field(BASE_OFFSET, 8)?;
        field(DESCRIPTION, 4)?;
        let (duration, size) = (field(DEFAULT_DURATION, 4)?, field(DEFAULT_SIZE, 4)?);
        let flags = field(DEFAULT_FLAGS, 4)?;
        Ok(Header { id, base, base_is_moof: present & BASE_IS_MOOF != 0, duration, size, flags })
    }

    /// The defaults of the samples of this fragment, whose track has the defaults `track`.
    pub(crate) fn defaults(&self, track: Defaults) -> Defaults {
        Defaults {
            duration: self.duration.unwrap_or(track.duration),
            size: self.size.unwrap_or(track.size),
            flags: self.flags.unwrap_or(track.flags),
        }
    }
}

/// Reads a `tfdt`: the decode time of the first sample.
pub(crate) fn decode_time(mut tfdt: Body) -> Result<u64, FormatError> {
    let width = if tfdt.version()? == 1 { 8 } else { 4 };
    tfdt.number(width)
}

/// A `trun`, read sample by sample.
pub(crate) struct Run {
    body: Body,
    present: u64,
    left: u64,
    /// Offset of the first sample from the base.
    pub(crate) offset: Option<i64>,
    first_flags: Option<u64>,
}

/// A sample of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Sample {
    pub(crate) duration: u64,
    pub(crate) size: u64,
    pub(crate) flags: u64,
    /// Display time minus decode time.
    pub(crate) composition: i64,
}

impl Run {
    pub(crate) fn parse(mut trun: Body) -> Result<Run, FormatError> {
        let present = trun.number(4)?;
        let left = trun.number(4)?;
        let mut field = |flag| if present & flag == 0 { Ok(None) } else { trun.number(4).map(Some) };
        let offset = field(DATA_OFFSET)?.map(|offset| i64::from(offset as u32 as i32));
        let first_flags = field(FIRST_FLAGS)?;
        Ok(Run { body: trun, present, left, offset, first_flags })
    }

    /// The next sample; none after the last.
    pub(crate) fn next(&mut self, defaults: Defaults) -> Result<Option<Sample>, FormatError> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        let mut field = |flag| if self.present & flag == 0 { Ok(None) } else { self.body.number(4).map(Some) };
        let (duration, size) = (field(DURATION)?, field(SIZE)?);
        let (flags, composition) = (field(FLAGS)?, field(COMPOSITION)?);
        // Version 0 has unsigned offsets, but files with signed ones of version 0 are common, and none of 2^31.
        let composition = composition.map_or(0, |offset| i64::from(offset as u32 as i32));
        Ok(Some(Sample {
            duration: duration.unwrap_or(defaults.duration),
            size: size.unwrap_or(defaults.size),
            flags: flags.or(self.first_flags.take()).unwrap_or(defaults.flags),
            composition,
        }))
    }

    /// The bytes of all samples, which are not read if each has the default.
    pub(crate) fn bytes(mut self, defaults: Defaults) -> Result<u64, FormatError> {
        if self.present & SIZE == 0 {
            return Ok(self.left.saturating_mul(defaults.size));
        }
        let mut bytes = 0_u64;
        while let Some(sample) = self.next(defaults)? {
            bytes = bytes.saturating_add(sample.size);
        }
        Ok(bytes)
    }

    /// The duration of all samples, which are not read if each has the default.
    pub(crate) fn duration(mut self, defaults: Defaults) -> Result<u64, FormatError> {
        if self.present & DURATION == 0 {
            return Ok(self.left.saturating_mul(defaults.duration));
        }
        let mut length = 0_u64;
        while let Some(sample) = self.next(defaults)? {
            length = length.saturating_add(sample.duration);
        }
        Ok(length)
    }
}
