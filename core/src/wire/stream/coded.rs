//! A coded packet: an original, or a combination of originals with the Repair FEC Payload ID of RFC 8681 §4.1.3.
//!
//! | offset | original | combination |
//! |---|---|---|
//! | 0 | 1 | 2 |
//! | 1 | sequence (32 bits) | sequence (32 bits) |
//! | 5 | number of the original (32 bits) | Repair_Key (16 bits) |
//! | 7 | | DT (4 bits), NSS (12 bits) |
//! | 9 | the original; if empty, the end of the stream | FSS_ESI: the first original (32 bits) |
//! | 13 | | the combination, at least 2 bytes |
//!
//! Sequences number packets and are never reused.

use super::{half, word};
use crate::wire::Error;

/// The first byte of an original.
pub const ORIGINAL: u8 = 1;
/// The first byte of a combination.
pub const REPAIR: u8 = 2;

/// The number of bytes before an original.
pub const ORIGINAL_HEADER: usize = 9;
/// The number of bytes before a combination.
pub const REPAIR_HEADER: usize = 13;

/// A coded packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Coded<'a> {
    /// The lowest 32 bits of the packet's number.
    pub sequence: u32,
    /// The kind of the content.
    pub carries: Carries,
    /// The original or the combination.
    pub payload: &'a [u8],
}

/// The kind of a coded packet's content.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Carries {
    /// An original: the lowest 32 bits of its number.
    Original(u32),
    /// A combination.
    Repair {
        /// FSS_ESI: the lowest 32 bits of the number of the first original.
        first: u32,
        /// NSS: the number of originals, 1 to 4095.
        count: u16,
        /// Repair_Key.
        key: u16,
        /// DT: the density threshold, 0 to 15.
        threshold: u8,
    },
}

impl Carries {
    /// The number of bytes before the payload.
    pub fn header(&self) -> usize {
        match self {
            Carries::Original(_) => ORIGINAL_HEADER,
            Carries::Repair { .. } => REPAIR_HEADER,
        }
    }

    /// Writes the header of the packet `sequence`, and returns its length; none if it does not fit. The payload is to
    /// be written after it.
    pub fn emit(&self, sequence: u32, buf: &mut [u8]) -> Option<usize> {
        let header = buf.get_mut(..self.header())?;
        header[1..5].copy_from_slice(&sequence.to_be_bytes());
        match *self {
            Carries::Original(number) => {
                header[0] = ORIGINAL;
                header[5..].copy_from_slice(&number.to_be_bytes());
            }
            Carries::Repair { first, count, key, threshold } => {
                header[0] = REPAIR;
                header[5..7].copy_from_slice(&key.to_be_bytes());
                header[7..9].copy_from_slice(&(u16::from(threshold) << 12 | count & 0xfff).to_be_bytes());
                header[9..].copy_from_slice(&first.to_be_bytes());
            }
        }
        Some(self.header())
    }
}

impl<'a> Coded<'a> {
    /// Parses a packet, which takes all of `bytes`.
    ///
    /// # Errors
    /// [`Error::Truncated`], [`Error::Unknown`] for another first byte, [`Error::Malformed`] for an empty combination.
    pub fn parse(bytes: &'a [u8]) -> Result<Coded<'a>, Error> {
        let sequence = word(bytes, 1)?;
        let carries = match bytes[0] {
            ORIGINAL => Carries::Original(word(bytes, 5)?),
            REPAIR => {
                let packed = half(bytes, 7)?;
                let (threshold, count) = ((packed >> 12) as u8, packed & 0xfff);
                let carries = Carries::Repair { first: word(bytes, 9)?, count, key: half(bytes, 5)?, threshold };
                if count == 0 || bytes.len() < REPAIR_HEADER + 2 {
                    return Err(Error::Malformed);
                }
                carries
            }
            _ => return Err(Error::Unknown),
        };
        Ok(Coded { sequence, carries, payload: &bytes[carries.header()..] })
    }

    /// Writes the packet and returns its length; none if it does not fit.
    pub fn emit(&self, buf: &mut [u8]) -> Option<usize> {
        let header = self.carries.emit(self.sequence, buf)?;
        buf.get_mut(header..header + self.payload.len())?.copy_from_slice(self.payload);
        Some(header + self.payload.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn combination_has_the_documented_layout() {
        let carries = Carries::Repair { first: 0x0102_0304, count: 0x0abc, key: 0x1122, threshold: 15 };
        let mut buf = [0; 20];
        let len = Coded { sequence: 0x0506_0708, carries, payload: &[0xee; 3] }.emit(&mut buf);
        let bytes = [2, 5, 6, 7, 8, 0x11, 0x22, 0xfa, 0xbc, 1, 2, 3, 4, 0xee, 0xee, 0xee];
        assert_eq!(len.map(|len| &buf[..len]), Some(&bytes[..]));
        assert_eq!(Coded::parse(&bytes[..14]), Err(Error::Malformed));
        assert_eq!(Coded::parse(&bytes[..12]), Err(Error::Truncated));
    }

    proptest! {
        #[test]
        fn coded_packets_round_trip(
            sequence: u32, first: u32, count in 1..4096u16, key: u16, threshold in 0..16u8,
            payload in prop::collection::vec(any::<u8>(), 2..100), is_repair: bool,
        ) {
            let repair = Carries::Repair { first, count, key, threshold };
            let carries = if is_repair { repair } else { Carries::Original(first) };
            let coded = Coded { sequence, carries, payload: &payload };
            let mut buf = [0; 128];
            let len = coded.emit(&mut buf).expect("room");
            prop_assert_eq!(len, carries.header() + payload.len());
            prop_assert_eq!(Coded::parse(&buf[..len]), Ok(coded));
            prop_assert_eq!(coded.emit(&mut buf[..len - 1]), None);
        }
    }
}
