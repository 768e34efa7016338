//! The systematic Reed-Solomon erasure code of RFC 5510 §8 over GF(2^8).
//!
//! From k source symbols it makes up to 255 - k repair symbols; any k of all n symbols recover the source. The RFC's
//! generator matrix GM = V_{k,k}^-1 V_{k,n}, with V_{i,j} = alpha^(i j), says byte by byte: *the symbol of encoding
//! symbol ID (ESI) n is P(alpha^n), where P is the polynomial of degree below k whose values at alpha^0 ... alpha^(k-1)
//! are the source symbols*. Encoding and decoding are therefore both interpolation, and no matrix is inverted:
//!
//! - a repair symbol depends on k and its own ESI, not on how many others there are;
//! - decoding is Lagrange's formula through the received symbols, and every matrix it needs exists.
//!
//! With l(x) the product of x - x_j over the nodes x_j other than x, the factor of node i in the value at x is l(x) /
//! (l(x_i) (x - x_i)). All nodes are powers of alpha, so products are sums of exponents. Only differences need a table,
//! Zech's logarithm Z: alpha^a - alpha^b = alpha^b alpha^Z(a-b).

mod nodes;

use core::fmt;

use thalweg_gf as gf;

use self::nodes::Nodes;

/// The most symbols, source and repair together, of a block: the elements of GF(2^8) other than zero.
pub const MAX_SYMBOLS: usize = gf::ORDER;

/// The reason that symbols were not encoded or decoded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Error {
    /// No source symbol, or more than [`MAX_SYMBOLS`] in total.
    BlockSize,
    /// The number of slices differs from the number of symbols.
    Count,
    /// Results of different lengths, or a symbol longer than the results.
    Length,
    /// An ESI outside the block, or one received twice.
    SymbolId,
    /// Fewer than k symbols received.
    TooFew,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Error::BlockSize => "a block must have 1 to 255 symbols",
            Error::Count => "the number of slices differs from the number of symbols",
            Error::Length => "symbols of different lengths",
            Error::SymbolId => "an encoding symbol ID is outside the block or repeated",
            Error::TooFew => "fewer symbols received than the block has source symbols",
        })
    }
}

impl std::error::Error for Error {}

/// Makes repair symbols for blocks of k source symbols, and keeps the rows of the generator matrix that it has used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Encoder {
    source_symbols: usize,
    /// For each repair symbol, in order, the factors of the source symbols.
    rows: Vec<u8>,
}

impl Encoder {
    /// An encoder for blocks of `source_symbols`.
    ///
    /// # Errors
    /// [`Error::BlockSize`] unless 1 <= `source_symbols` <= [`MAX_SYMBOLS`].
    pub fn new(source_symbols: usize) -> Result<Encoder, Error> {
        check_block_size(source_symbols)?;
        Ok(Encoder { source_symbols, rows: Vec::new() })
    }

    /// The number of source symbols in a block.
    pub fn source_symbols(&self) -> usize {
        self.source_symbols
    }

    /// Writes the repair symbols with ESI k + `first`, k + `first` + 1 ... over `repair`. A source symbol shorter than
    /// these counts as padded with zeros.
    ///
    /// # Errors
    /// [`Error::Count`] unless there are k source symbols, [`Error::BlockSize`] if an ESI is outside the block,
    /// [`Error::Length`] if the slices of `repair` differ in length or one of `source` is longer. Nothing is written
    /// then.
    pub fn encode(&mut self, source: &[&[u8]], first: usize, repair: &mut [&mut [u8]]) -> Result<(), Error> {
        let k = self.source_symbols;
        if source.len() != k {
            return Err(Error::Count);
        }
        let end = first.saturating_add(repair.len());
        if end > MAX_SYMBOLS - k {
            return Err(Error::BlockSize);
        }
        check_lengths(source.iter().copied(), repair)?;
        let nodes = Nodes::source(k);
        for row in self.rows.len() / k..end {
            self.rows.extend(nodes.factors(k + row));
        }
        repair.iter_mut().for_each(|symbol| symbol.fill(0));
        gf::mul_add(&self.rows[first * k..end * k], source, repair);
        Ok(())
    }
}

/// Writes the source symbols with the ESIs `missing` over `recovered`, from any `source_symbols` (k) symbols of the
/// block. A symbol shorter than the slices of `recovered` counts as padded with zeros. If more than k symbols were
/// received, source symbols are preferred.
///
/// # Errors
/// [`Error::BlockSize`] unless 1 <= k <= [`MAX_SYMBOLS`], [`Error::TooFew`] if fewer than k symbols were received,
/// [`Error::SymbolId`] if an ESI is received twice or above 254, or if a missing ESI was received or is not a source
/// symbol's, [`Error::Count`] if `missing` and `recovered` differ in length, [`Error::Length`] if the slices of
/// `recovered` differ in length or a received symbol is longer. Nothing is written then.
pub fn decode(
    source_symbols: usize,
    received: &[(u8, &[u8])],
    missing: &[u8],
    recovered: &mut [&mut [u8]],
) -> Result<(), Error> {
    check_block_size(source_symbols)?;
    let mut symbols: [Option<&[u8]>; MAX_SYMBOLS] = [None; MAX_SYMBOLS];
    for &(esi, symbol) in received {
        let seen = symbols.get_mut(usize::from(esi)).ok_or(Error::SymbolId)?;
        if seen.replace(symbol).is_some() {
            return Err(Error::SymbolId);
        }
    }
    if received.len() < source_symbols {
        return Err(Error::TooFew);
    }
    let is_missing = |&esi: &u8| usize::from(esi) < source_symbols && symbols[usize::from(esi)].is_none();
    if !missing.iter().all(is_missing) {
        return Err(Error::SymbolId);
    }
    if missing.len() != recovered.len() {
        return Err(Error::Count);
    }
    let chosen = || symbols.iter().enumerate().filter_map(|(esi, &symbol)| Some((esi, symbol?))).take(source_symbols);
    check_lengths(chosen().map(|(_, symbol)| symbol), recovered)?;

    let nodes = Nodes::received(source_symbols, chosen().map(|(esi, _)| esi));
    let rows: Vec<u8> = missing.iter().flat_map(|&esi| nodes.factors(usize::from(esi))).collect();
    let symbols: Vec<&[u8]> = chosen().map(|(_, symbol)| symbol).collect();
    recovered.iter_mut().for_each(|symbol| symbol.fill(0));
    gf::mul_add(&rows, &symbols, recovered);
    Ok(())
}

fn check_block_size(source_symbols: usize) -> Result<(), Error> {
    if (1..=MAX_SYMBOLS).contains(&source_symbols) { Ok(()) } else { Err(Error::BlockSize) }
}

fn check_lengths<'a>(mut symbols: impl Iterator<Item = &'a [u8]>, results: &[&mut [u8]]) -> Result<(), Error> {
    let Some(len) = results.first().map(|result| result.len()) else { return Ok(()) };
    let same = results.iter().all(|result| result.len() == len);
    if same && symbols.all(|symbol| symbol.len() <= len) { Ok(()) } else { Err(Error::Length) }
}

#[cfg(test)]
mod tests;
