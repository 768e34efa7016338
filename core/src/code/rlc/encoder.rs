//! The encoding side: a buffer of originals, and linear combinations of any range of them.

use std::collections::VecDeque;
use std::ops::Range;

use super::sum::add_multiples;
use super::symbol::{self, LENGTH, Spares};
use super::{Config, Error, RepairId};

/// Slots that stay allocated when the encoder is empty.
const IDLE: usize = 64;

/// Keeps the originals from the first unacknowledged one on, at most a buffer of them.
///
/// A repair symbol costs one multiplication of each byte that it covers, fewer at lower densities. Memory: the
/// originals, and for each two bytes and some 50 of bookkeeping.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Encoder {
    config: Config,
    /// The number of the first symbol kept.
    first: u64,
    symbols: VecDeque<Vec<u8>>,
    spares: Spares,
}

impl Encoder {
    /// An encoder without originals.
    ///
    /// # Errors
    /// [`Error::Config`] if a value of `config` is out of its range.
    pub fn new(config: Config) -> Result<Encoder, Error> {
        Ok(Encoder { config: config.check()?, first: 0, symbols: VecDeque::new(), spares: Spares::default() })
    }

    /// Takes the next original, and returns its number.
    ///
    /// # Errors
    /// [`Error::Length`] if it is longer than configured, [`Error::Full`] if the buffer is full.
    pub fn push(&mut self, original: &[u8]) -> Result<u64, Error> {
        if original.len() > self.config.longest {
            return Err(Error::Length);
        }
        if self.symbols.len() == self.config.buffer {
            return Err(Error::Full);
        }
        self.symbols.push_back(self.spares.symbol(original));
        Ok(self.originals().end - 1)
    }

    /// The numbers of the originals kept; the end is the number of the next one.
    pub fn originals(&self) -> Range<u64> {
        self.first..self.first + self.symbols.len() as u64
    }

    /// The original `number`, if it is kept.
    pub fn original(&self, number: u64) -> Option<&[u8]> {
        let index = usize::try_from(number.checked_sub(self.first)?).ok()?;
        self.symbols.get(index).map(|kept| symbol::original(kept))
    }

    /// The length of the repair symbol over `first..=last`, which does not depend on its key.
    ///
    /// # Errors
    /// [`Error::Range`] if the range is empty or larger than the window, [`Error::Missing`] if an original in it is not
    /// kept.
    pub fn repair_len(&self, first: u64, last: u64) -> Result<usize, Error> {
        Ok(self.covered(first, last)?.map(Vec::len).max().unwrap_or(LENGTH))
    }

    /// Writes the repair symbol to the first bytes of `out`, and returns its length.
    ///
    /// # Errors
    /// As [`repair_len`](Encoder::repair_len), and [`Error::Length`] if `out` is shorter. Nothing is written then.
    pub fn repair(&self, id: &RepairId, out: &mut [u8]) -> Result<usize, Error> {
        let len = self.repair_len(id.first, id.last)?;
        let out = out.get_mut(..len).ok_or(Error::Length)?;
        out.fill(0);
        let covered = self.covered(id.first, id.last)?.map(Vec::as_slice);
        add_multiples(id.coefficients().zip(covered), out);
        Ok(len)
    }

    /// Forgets the originals before `number`.
    pub fn forget(&mut self, number: u64) {
        let gone = number.clamp(self.first, self.originals().end) - self.first;
        self.symbols.drain(..gone as usize).for_each(|symbol| self.spares.put(symbol));
        self.first += gone;
        if self.symbols.is_empty() {
            self.symbols.shrink_to(IDLE);
            self.spares.clear();
        }
    }

    fn covered(&self, first: u64, last: u64) -> Result<impl Iterator<Item = &Vec<u8>>, Error> {
        let count = self.config.count(first, last)?;
        let kept = self.originals();
        if first < kept.start || last >= kept.end {
            return Err(Error::Missing);
        }
        let start = (first - kept.start) as usize;
        Ok(self.symbols.range(start..start + count))
    }
}
