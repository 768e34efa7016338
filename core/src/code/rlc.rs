//! The sliding-window random linear code of RFC 8681 over GF(2^8).
//!
//! A stream is a sequence of *originals*, numbered from 0. A *repair symbol* is a linear combination of the originals
//! `first..=last`, any range of at most [`MAX_WINDOW`]; its coefficients follow from a repair key (§3.6), so that only
//! its [`RepairId`] must be sent with it. As many independent equations as unknowns determine the originals:
//!
//! - the [`Encoder`] keeps the originals that were sent and are not yet acknowledged, and combines any range of them;
//! - the [`Decoder`] takes originals and repair symbols in any order, reports for each whether it was innovative (the
//!   rank is computed, never assumed), and delivers the originals in order.
//!
//! Each original is combined with its length in front and zeros behind, up to the longest of the range:
//!
//! | offset | field |
//! |---|---|
//! | 0 | length L of the original (16 bits) |
//! | 2 | the original (L bytes) |
//! | 2 + L | zeros up to the end of the repair symbol |
//!
//! A repair symbol is therefore two bytes longer than the longest original of its range, and no longer: repair for
//! keystrokes is as small as they are.

// Deviation(RFC 8681 §3.2): the RFC's ADUI begins with a flow ID, and all symbols of a session have one size. There is
// one flow here, and a repair symbol is as long as its longest original needs.

mod coefficients;
mod decoder;
mod encoder;
mod sum;
mod symbol;
mod tiny_mt32;

use core::fmt;

pub use self::coefficients::{Coefficients, Density};
pub use self::decoder::{Arrival, Decoder};
pub use self::encoder::Encoder;
pub use self::symbol::LENGTH;

/// The most originals that one repair symbol covers: the largest NSS in the Repair FEC Payload ID (§4.1.3).
pub const MAX_WINDOW: usize = 4095;

/// The most originals that may be in flight: 2 Gb/s in packets of 1200 bytes for 300 ms.
pub const MAX_BUFFER: usize = 65_536;

/// The parameters that encoder and decoder share.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Config {
    /// The most originals that a repair symbol covers, 1 to [`MAX_WINDOW`].
    pub window: usize,
    /// The most originals that are sent and not acknowledged, or received and not yet read: `window` to [`MAX_BUFFER`].
    pub buffer: usize,
    /// The longest original in bytes, 1 to 65535.
    pub longest: usize,
}

impl Config {
    fn check(self) -> Result<Config, Error> {
        let valid = (1..=MAX_WINDOW).contains(&self.window)
            && (self.window..=MAX_BUFFER).contains(&self.buffer)
            && (1..=usize::from(u16::MAX)).contains(&self.longest);
        if valid { Ok(self) } else { Err(Error::Config) }
    }

    /// The number of originals in `first..=last`.
    fn count(self, first: u64, last: u64) -> Result<usize, Error> {
        let more = last.checked_sub(first).ok_or(Error::Range)?;
        if more < self.window as u64 { Ok(more as usize + 1) } else { Err(Error::Range) }
    }
}

/// The identity of a repair symbol: the Repair FEC Payload ID (§4.1.3), with numbers of 64 bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RepairId {
    /// The first original.
    pub first: u64,
    /// The last original, at least `first`.
    pub last: u64,
    /// The repair key, the seed of the coefficients. Two symbols over the same range need different keys.
    pub key: u16,
    /// The share of nonzero coefficients.
    pub density: Density,
}

impl RepairId {
    /// The coefficients of `first`, of the original after it and so on.
    pub fn coefficients(&self) -> Coefficients {
        Coefficients::new(self.key, self.density)
    }
}

/// The reason that a symbol was not encoded or decoded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Error {
    /// A window, a buffer or a longest original out of range.
    Config,
    /// A range that is empty or larger than the window.
    Range,
    /// An original longer than configured, a repair symbol that cannot hold its originals, or too little space for one.
    Length,
    /// The encoder's buffer is full.
    Full,
    /// An original that is not kept: not yet pushed, or forgotten.
    Missing,
    /// A packet beyond the decoder's buffer or its window.
    Beyond,
    /// The equations contradict each other: the peer, or the path, has damaged a packet.
    Inconsistent,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Error::Config => {
                "a window must have 1 to 4095 originals of at most 65535 bytes, and a buffer at most 65536 originals"
            }
            Error::Range => "the range is empty or larger than the window",
            Error::Length => "an original or a repair symbol has an invalid length",
            Error::Full => "the encoder's buffer is full",
            Error::Missing => "the original is not in the buffer",
            Error::Beyond => "the packet is beyond the decoder's buffer or window",
            Error::Inconsistent => "packets contradict each other",
        })
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests;
