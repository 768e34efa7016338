//! Tables of samples (ISO/IEC 14496-12 §8.6 and §8.7), read entry by entry, so that a claimed number of entries never
//! costs memory.

use super::boxes::Body;
use crate::rate::FormatError;

/// A run-length coded table: `stts`, whose values are durations, or `ctts`, whose values are composition offsets.
pub(crate) struct Runs {
    body: Body,
    /// Runs that have not been read.
    left: u64,
    /// Samples left in the current run, and their value.
    count: u64,
    value: u64,
}

impl Runs {
    pub(crate) fn new(mut body: Body) -> Result<Runs, FormatError> {
        body.version()?;
        let left = body.number(4)?;
        Ok(Runs { body, left, count: 0, value: 0 })
    }

    /// The value of the next sample; none after the last run.
    pub(crate) fn next(&mut self) -> Result<Option<u64>, FormatError> {
        while self.count == 0 {
            if self.left == 0 {
                return Ok(None);
            }
            self.left -= 1;
            (self.count, self.value) = (self.body.number(4)?, self.body.number(4)?);
        }
        self.count -= 1;
        Ok(Some(self.value))
    }
}

/// The sizes of samples: `stsz`, or `stz2` with fields of 4, 8 or 16 bits.
pub(crate) struct Sizes {
    body: Body,
    /// The size of every sample, if they are equal.
    equal: Option<u64>,
    /// Width in bits of an entry.
    bits: u64,
    left: u64,
    /// The second of two entries of 4 bits.
    nibble: Option<u64>,
}

impl Sizes {
    /// Reads an `stsz`.
    pub(crate) fn new(mut body: Body) -> Result<Sizes, FormatError> {
        body.version()?;
        let equal = Some(body.number(4)?).filter(|&size| size > 0);
        let left = body.number(4)?;
        Ok(Sizes { body, equal, bits: 32, left, nibble: None })
    }

    /// Reads an `stz2`.
    pub(crate) fn compact(mut body: Body) -> Result<Sizes, FormatError> {
        body.version()?;
        let bits = body.number(4)? & 0xff;
        if !matches!(bits, 4 | 8 | 16) {
            return Err(FormatError::new(format!("box stz2 has sizes of {bits} bits")));
        }
        let left = body.number(4)?;
        Ok(Sizes { body, equal: None, bits, left, nibble: None })
    }

    /// The size of every sample, if they are equal.
    pub(crate) fn equal(&self) -> Option<u64> {
        self.equal
    }

    /// The number of samples that have not been read, as claimed.
    pub(crate) fn left(&self) -> u64 {
        self.left
    }

    /// The size of the next sample; none after the last.
    pub(crate) fn next(&mut self) -> Result<Option<u64>, FormatError> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        if self.equal.is_some() {
            return Ok(self.equal);
        }
        if self.bits == 4 {
            return match self.nibble.take() {
                Some(size) => Ok(Some(size)),
                None => {
                    let both = self.body.number(1)?;
                    self.nibble = Some(both & 15);
                    Ok(Some(both >> 4))
                }
            };
        }
        self.body.number(self.bits as usize / 8).map(Some)
    }
}

/// The places of chunks (`stco` or `co64`), and the number of samples in each (`stsc`).
pub(crate) struct Chunks {
    offsets: Body,
    /// Width in bytes of an offset.
    width: usize,
    left: u64,
    runs: Body,
    runs_left: u64,
    /// The number of the next chunk, from 1.
    chunk: u64,
    samples: u64,
    /// The first chunk of the last run that was read.
    last: u64,
    /// The first chunk and the number of samples of the next run.
    next: Option<(u64, u64)>,
}

impl Chunks {
    /// Reads the tables of a track; `width` is that of an offset: 4 bytes in `stco`, 8 in `co64`.
    pub(crate) fn new(mut offsets: Body, width: usize, mut runs: Body) -> Result<Chunks, FormatError> {
        offsets.version()?;
        let left = offsets.number(4)?;
        runs.version()?;
        let runs_left = runs.number(4)?;
        let mut chunks = Chunks { offsets, width, left, runs, runs_left, chunk: 1, samples: 0, last: 0, next: None };
        chunks.advance()?;
        Ok(chunks)
    }

    /// The offset of the next chunk and its number of samples; none after the last.
    pub(crate) fn next(&mut self) -> Result<Option<(u64, u64)>, FormatError> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        if let Some((first, samples)) = self.next
            && first == self.chunk
        {
            self.samples = samples;
            self.advance()?;
        }
        self.chunk += 1;
        Ok(Some((self.offsets.number(self.width)?, self.samples)))
    }

    fn advance(&mut self) -> Result<(), FormatError> {
        self.next = None;
        if self.runs_left == 0 {
            return Ok(());
        }
        self.runs_left -= 1;
        let (first, samples, description) = (self.runs.number(4)?, self.runs.number(4)?, self.runs.number(4)?);
        if first <= std::mem::replace(&mut self.last, first) {
            return Err(FormatError::new("box stsc is not in the order of chunks"));
        }
        if description > 1 {
            return Err(FormatError::new("a track has more than one sample description"));
        }
        self.next = Some((first, samples));
        Ok(())
    }
}
