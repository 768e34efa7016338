//! The sliding-window random linear code of RFC 8681 over GF(2^8).
//!
//! A stream is a sequence of *originals*, numbered from 0. A *repair symbol* is a linear combination of the originals
//! `first..=last`, any range of at most [`MAX_WINDOW`]; its coefficients follow from a repair key (§3.6), so that its
//! [`RepairId`] is all that must travel with it. Whoever has as many independent equations as unknowns has the originals:
//!
//! - the [`Encoder`] keeps what was sent and is not yet known to have arrived, and combines any range of it;
//! - the [`Decoder`] takes originals and repair symbols in any order, says of each whether it told anything new (its rank
//!   is real, never assumed), and hands the originals out in order.
//!
//! What is combined is an original with its length in front and zeros behind, up to the longest of the range:
//!
//! | offset | field |
//! |---|---|
//! | 0 | length L of the original (16 bits) |
//! | 2 | the original (L bytes) |
//! | 2 + L | zeros up to the end of the repair symbol |
//!
//! A repair symbol is therefore two bytes longer than the longest original of its range, and no longer: repair for
//! keystrokes is as small as they are.

// Deviation(RFC 8681 §3.2): the RFC's ADUI begins with a flow ID, and all symbols of a session have one size. There is one
// flow here, and a repair symbol ends with its longest original.

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

/// The most originals that one repair symbol covers: what its size takes in the Repair FEC Payload ID (§4.1.3, NSS).
pub const MAX_WINDOW: usize = 4095;

/// The most originals that may be under way: 2 Gb/s in packets of 1200 bytes for 300 ms.
pub const MAX_BUFFER: usize = 65_536;

/// What both ends of a stream agree on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Config {
    /// The most originals that a repair symbol covers, 1 to [`MAX_WINDOW`].
    pub window: usize,
    /// The most originals that are sent and not known to have arrived, or have arrived and are not read: `window` to
    /// [`MAX_BUFFER`].
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

    /// How many originals are in `first..=last`.
    fn count(self, first: u64, last: u64) -> Result<usize, Error> {
        let more = last.checked_sub(first).ok_or(Error::Range)?;
        if more < self.window as u64 { Ok(more as usize + 1) } else { Err(Error::Range) }
    }
}

/// What a repair symbol is made of: the Repair FEC Payload ID (§4.1.3), with numbers of 64 bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RepairId {
    /// The first original.
    pub first: u64,
    /// The last original, at least `first`.
    pub last: u64,
    /// The repair key, the seed of the coefficients. Two symbols of one range need different keys.
    pub key: u16,
    /// How many of the coefficients are not zero.
    pub density: Density,
}

impl RepairId {
    /// The coefficients of `first`, of the original behind it and so on.
    pub fn coefficients(&self) -> Coefficients {
        Coefficients::new(self.key, self.density)
    }
}

/// Why something was not encoded or decoded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Error {
    /// A window, a buffer or a longest original out of range.
    Config,
    /// A range that is empty or larger than the window.
    Range,
    /// An original longer than agreed, a repair symbol that cannot hold its originals, or too little room for one.
    Length,
    /// The encoder's buffer is full.
    Full,
    /// An original that is not kept: not yet there, or forgotten.
    Missing,
    /// Beyond the decoder's buffer, or its window.
    Beyond,
    /// The equations contradict themselves: the other end, or what lies between, has damaged a packet.
    Inconsistent,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Error::Config => "a window has 1 to 4095 originals of at most 65535 bytes, a buffer up to 65536 of them",
            Error::Range => "an empty range, or one larger than the window",
            Error::Length => "an original or a repair symbol of an impossible length",
            Error::Full => "the encoder's buffer is full",
            Error::Missing => "an original that is not kept",
            Error::Beyond => "beyond the decoder's buffer or window",
            Error::Inconsistent => "packets contradict each other",
        })
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests;
