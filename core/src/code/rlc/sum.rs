//! Linear combinations of many symbols, a few at a time.

use thalweg_gf as gf;

/// The number of symbols multiplied in one pass: few enough to stay in the processor's cache from block to block.
const BATCH: usize = 64;

/// Adds the multiples of all symbols to `sum`. None is longer than `sum`; a shorter one counts as padded with zeros.
pub(super) fn add_multiples<'a>(terms: impl Iterator<Item = (u8, &'a [u8])>, sum: &mut [u8]) {
    // One short symbol slows down its whole pass.
    let (mut long, mut short) = (Batch::default(), Batch::default());
    for (factor, symbol) in terms.filter(|&(factor, _)| factor != 0) {
        let batch = if symbol.len() == sum.len() { &mut long } else { &mut short };
        batch.push(factor, symbol, sum);
    }
    long.add(sum);
    short.add(sum);
}

struct Batch<'a> {
    factors: [u8; BATCH],
    symbols: [&'a [u8]; BATCH],
    len: usize,
}

impl Default for Batch<'_> {
    fn default() -> Self {
        Batch { factors: [0; BATCH], symbols: [&[]; BATCH], len: 0 }
    }
}

impl<'a> Batch<'a> {
    fn push(&mut self, factor: u8, symbol: &'a [u8], sum: &mut [u8]) {
        self.factors[self.len] = factor;
        self.symbols[self.len] = symbol;
        self.len += 1;
        if self.len == BATCH {
            self.add(sum);
        }
    }

    fn add(&mut self, sum: &mut [u8]) {
        if self.len > 0 {
            gf::mul_add(&self.factors[..self.len], &self.symbols[..self.len], &mut [sum]);
            self.len = 0;
        }
    }
}
