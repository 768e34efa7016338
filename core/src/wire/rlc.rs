//! FECFRAME packets (RFC 6363) of the sliding window random linear code (RFC 8681) over GF(2^8).
//!
//! A source packet is an application data unit (ADU: here a whole RTP packet) followed by the Explicit Source FEC
//! Payload ID (RFC 8681 §4.1.2):
//!
//! | offset | field |
//! |---|---|
//! | 0 | encoding symbol ID ESI (32 bits), which counts source packets |
//!
//! A repair packet is the Repair FEC Payload ID (§4.1.3) and one repair symbol:
//!
//! | offset | field |
//! |---|---|
//! | 0 | repair key (16 bits) |
//! | 2 | density threshold DT (4 bits), number of source symbols NSS in the encoding window (12 bits), not 0 |
//! | 4 | ESI of the first source symbol of that window, FSS_ESI (32 bits) |
//!
//! The code works on ADUIs (§3.2), which have the layout of [`super::fecframe::Adui`]. There is one flow, whose ID F is 0:
//! the first byte of every symbol is 0 as well. The rest of a symbol is that of [`crate::code::rlc`].

// Deviation(RFC 8681 §3.2): a repair symbol has no zeros beyond the longest ADUI of its window, where the RFC's symbols
// all have the length E. A receiver that needs them appends zeros up to E.

use super::Error;
use super::sequence::nearest;
use crate::code::rlc::{Density, LENGTH, RepairId};

/// FEC Encoding ID of the scheme (RFC 8681 §7).
pub const ENCODING_ID: u8 = 10;

/// The length of the flow ID in front of each symbol.
pub const FLOW: usize = 1;

/// The Explicit Source FEC Payload ID.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SourcePayloadId {
    /// The encoding symbol ID.
    pub esi: u32,
}

impl SourcePayloadId {
    /// The length of the ID in bytes.
    pub const LEN: usize = 4;

    /// Splits a source packet into the ADU and the ID at its end.
    ///
    /// # Errors
    /// There is no ID.
    pub fn split(bytes: &[u8]) -> Result<(&[u8], SourcePayloadId), Error> {
        let (adu, id) = bytes.split_last_chunk().ok_or(Error::Truncated)?;
        Ok((adu, SourcePayloadId { esi: u32::from_be_bytes(*id) }))
    }

    /// The bytes of the ID.
    pub fn emit(self) -> [u8; SourcePayloadId::LEN] {
        self.esi.to_be_bytes()
    }
}

/// The Repair FEC Payload ID.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RepairPayloadId {
    /// The repair key.
    pub key: u16,
    /// The density threshold DT.
    pub density: Density,
    /// NSS: source symbols of the encoding window, 1 to 4095.
    pub count: u16,
    /// FSS_ESI: the ESI of the first of them.
    pub first: u32,
}

impl RepairPayloadId {
    /// The length of the ID in bytes.
    pub const LEN: usize = 8;

    /// Splits a repair packet into the ID and the repair symbol without its flow ID.
    ///
    /// # Errors
    /// There is no ID, the symbol is too short for an ADUI or of another flow, or the window is empty.
    pub fn split(bytes: &[u8]) -> Result<(RepairPayloadId, &[u8]), Error> {
        let ([k0, k1, n0, n1, e0, e1, e2, e3], symbol) = bytes.split_first_chunk().ok_or(Error::Truncated)?;
        let (key, first) = (u16::from_be_bytes([*k0, *k1]), u32::from_be_bytes([*e0, *e1, *e2, *e3]));
        let density = Density::new(n0 >> 4).expect("four bits");
        let count = u16::from_be_bytes([n0 & 0xf, *n1]);
        match symbol {
            [0, symbol @ ..] if symbol.len() >= LENGTH && count > 0 => {
                Ok((RepairPayloadId { key, density, count, first }, symbol))
            }
            [0, _, _, ..] => Err(Error::Malformed),
            [_, _, _, ..] => Err(Error::Unknown),
            _ => Err(Error::Truncated),
        }
    }

    /// The bytes of the ID.
    pub fn emit(self) -> [u8; RepairPayloadId::LEN] {
        let ([k0, k1], [n0, n1]) = (self.key.to_be_bytes(), self.count.to_be_bytes());
        let [e0, e1, e2, e3] = self.first.to_be_bytes();
        [k0, k1, self.density.threshold() << 4 | n0, n1, e0, e1, e2, e3]
    }

    /// The identity of the repair symbol, with numbers of 64 bits near `reference`.
    pub fn extended(self, reference: u64) -> RepairId {
        let first = nearest::<32>(reference, self.first);
        RepairId { first, last: first + u64::from(self.count) - 1, key: self.key, density: self.density }
    }
}

impl From<RepairId> for RepairPayloadId {
    /// The ID of a symbol whose window has at most 4095 originals.
    fn from(id: RepairId) -> RepairPayloadId {
        let RepairId { first, last, key, density } = id;
        RepairPayloadId { key, density, count: (last - first + 1) as u16, first: first as u32 }
    }
}

/// The FEC-scheme-specific information (RFC 8681 §4.1.1.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SchemeInfo {
    /// E: the length of the longest symbol.
    pub symbol_len: u16,
    /// WSR: the ratio of the decoder's window to what it may grow to, in 1/255; 0 if unspecified.
    pub window_ratio: u8,
}

impl SchemeInfo {
    /// The binary form: E (16 bits), WSR (8 bits).
    pub fn emit(self) -> [u8; 3] {
        let [e0, e1] = self.symbol_len.to_be_bytes();
        [e0, e1, self.window_ratio]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The bytes are those of the tests of `cu-fec` 1.3, with which `fuzz/` compares all IDs.
    #[test]
    fn payload_ids_are_those_of_cu_fec() {
        let density = Density::new(10).expect("four bits");
        let id = RepairPayloadId { key: 0x1234, density, count: 0xbcd, first: 0x89ab_cdef };
        assert_eq!(id.emit(), [0x12, 0x34, 0xab, 0xcd, 0x89, 0xab, 0xcd, 0xef]);
        assert_eq!(SourcePayloadId { esi: 0x1234_5678 }.emit(), [0x12, 0x34, 0x56, 0x78]);
        assert_eq!(SchemeInfo { symbol_len: 0x0578, window_ratio: 191 }.emit(), [0x05, 0x78, 191]);
    }

    #[test]
    fn malformed_repair_packets_are_refused() {
        let packet = |flow, count: u8, len| [&[0, 1, 0xf0, count, 0, 0, 0, 9, flow][..], &vec![0; len]].concat();
        assert!(RepairPayloadId::split(&packet(0, 1, LENGTH)).is_ok());
        assert_eq!(RepairPayloadId::split(&packet(0, 0, LENGTH)), Err(Error::Malformed));
        assert_eq!(RepairPayloadId::split(&packet(1, 1, LENGTH)), Err(Error::Unknown));
        assert_eq!(RepairPayloadId::split(&packet(0, 1, LENGTH - 1)), Err(Error::Truncated));
        assert_eq!(RepairPayloadId::split(&[0; 7]), Err(Error::Truncated));
    }

    proptest! {
        #[test]
        fn payload_ids_round_trip(key: u16, dt in 0u8..16, count in 1u16..4096, first: u32, reference in 1u64 << 33..) {
            let id = RepairPayloadId { key, density: Density::new(dt).expect("four bits"), count, first };
            let packet = [&id.emit()[..], &[0; FLOW + LENGTH]].concat();
            prop_assert_eq!(RepairPayloadId::split(&packet), Ok((id, &[0; LENGTH][..])));
            let extended = id.extended(reference >> 1);
            prop_assert!(extended.first.abs_diff(reference >> 1) <= 1 << 31);
            prop_assert_eq!(RepairPayloadId::from(extended), id);
            let source = SourcePayloadId { esi: first };
            let bytes = source.emit();
            prop_assert_eq!(SourcePayloadId::split(&bytes), Ok((&[][..], source)));
        }

        #[test]
        fn arbitrary_bytes_do_not_panic(bytes: Vec<u8>) {
            let _ = SourcePayloadId::split(&bytes);
            let _ = RepairPayloadId::split(&bytes);
        }
    }
}
