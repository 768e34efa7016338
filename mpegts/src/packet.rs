//! One transport stream packet (ISO/IEC 13818-1 §2.4.3.2, §2.4.3.4).
//!
//! | bytes | bits | field |
//! |---|---|---|
//! | 0 | all | sync byte 0x47 |
//! | 1 | 7 | transport error indicator |
//! | 1 | 6 | payload unit start indicator |
//! | 1-2 | 4-0, all | PID |
//! | 3 | 7-6 | transport scrambling control |
//! | 3 | 5 | adaptation field present |
//! | 3 | 4 | payload present |
//! | 3 | 3-0 | continuity counter |
//! | 4 | all | adaptation field length, if there is one |
//! | 5 | 7, 6, 4 | discontinuity, random access, PCR present |
//! | 6-11 | 33, 6, 9 | PCR base, reserved, extension |

use core::fmt;
use core::ops::Range;

use thalweg_core::wire::Error;

use crate::PACKET;
use crate::stamp::Pcr;

/// The first byte of every packet.
pub const SYNC: u8 = 0x47;

/// The PID of null packets (Table 2-3); their continuity counter has no meaning.
pub const NULL_PID: u16 = 0x1fff;

/// The place of a program clock reference in its packet.
pub(crate) const PCR: Range<usize> = 6..12;

/// A packet that begins with the sync byte. All other fields may be invalid: those that cannot be read count as absent.
#[derive(Clone, PartialEq, Eq)]
pub struct Packet([u8; PACKET]);

impl Packet {
    /// Parses the first 188 of `bytes` as a packet.
    ///
    /// # Errors
    /// [`Error::Truncated`] if there are fewer, [`Error::Unknown`] if they do not begin with the sync byte.
    pub fn parse(bytes: &[u8]) -> Result<Packet, Error> {
        let packet: &[u8; PACKET] = bytes.first_chunk().ok_or(Error::Truncated)?;
        if packet[0] == SYNC { Ok(Packet(*packet)) } else { Err(Error::Unknown) }
    }

    /// All 188 bytes.
    pub fn as_bytes(&self) -> &[u8; PACKET] {
        &self.0
    }

    /// True if a demodulator has marked this packet as damaged.
    pub fn is_damaged(&self) -> bool {
        self.0[1] & 0x80 != 0
    }

    /// True if a PES packet or a section begins in the payload.
    pub fn starts_unit(&self) -> bool {
        self.0[1] & 0x40 != 0
    }

    /// The PID: the elementary stream or table of this packet, 13 bits.
    pub fn pid(&self) -> u16 {
        u16::from_be_bytes([self.0[1] & 0x1f, self.0[2]])
    }

    /// True if the payload is encrypted.
    pub fn is_scrambled(&self) -> bool {
        self.0[3] & 0xc0 != 0
    }

    /// True if there is a payload, so that the continuity counter has advanced.
    pub fn has_payload(&self) -> bool {
        self.0[3] & 0x10 != 0
    }

    /// The continuity counter, 0 to 15.
    pub fn counter(&self) -> u8 {
        self.0[3] & 0x0f
    }

    /// Sets the continuity counter to the low four bits of `counter`.
    pub fn set_counter(&mut self, counter: u8) {
        self.0[3] = self.0[3] & 0xf0 | counter & 0x0f;
    }

    /// True if the clock or the counter of this PID jumps here intentionally.
    pub fn has_discontinuity(&self) -> bool {
        self.adaptation().first().is_some_and(|flags| flags & 0x80 != 0)
    }

    /// True if a decoder can start here.
    pub fn is_random_access(&self) -> bool {
        self.adaptation().first().is_some_and(|flags| flags & 0x40 != 0)
    }

    /// The program clock reference of this packet, if it carries one.
    pub fn pcr(&self) -> Option<Pcr> {
        let field = self.adaptation();
        let [flags, a, b, c, d, e, f] = *field.first_chunk()?;
        if flags & 0x10 == 0 || self.is_damaged() {
            return None;
        }
        let base = u64::from(u32::from_be_bytes([a, b, c, d])) << 1 | u64::from(e >> 7);
        Some(Pcr::from_parts(base, u16::from_be_bytes([e & 0x01, f])))
    }

    /// Replaces the program clock reference, if the packet carries one.
    pub fn set_pcr(&mut self, pcr: Pcr) {
        if self.pcr().is_some() {
            write_pcr(&mut self.0[PCR], pcr);
        }
    }

    /// The payload; empty if there is none.
    pub fn payload(&self) -> &[u8] {
        &self.0[self.payload_start()..]
    }

    /// The payload, to be rewritten in place.
    pub fn payload_mut(&mut self) -> &mut [u8] {
        let start = self.payload_start();
        &mut self.0[start..]
    }

    /// Removes the payload: the packet keeps its adaptation field, with the clock, and is filled up. It begins no unit and
    /// is no point of random access any more. Its continuity counter must be that of the packet before, as of every
    /// packet without a payload.
    pub(crate) fn remove_payload(&mut self) {
        let end = 5 + self.adaptation().len();
        // The flags of an empty field are none. Those of a field that is too short for a clock must not name one.
        let flags = match end {
            5 => 0,
            6..12 => self.0[5] & 0xe0,
            _ => self.0[5],
        };
        self.0[1] &= !0x40;
        self.0[3] = self.0[3] & 0x0f | 0x20;
        self.0[5] = flags & !0x40;
        self.0[end.max(6)..].fill(0xff);
        self.0[4] = (PACKET - 5) as u8;
    }

    /// The adaptation field after its length; empty if there is none, or if it does not fit.
    fn adaptation(&self) -> &[u8] {
        let has_adaptation = self.0[3] & 0x20 != 0;
        if !has_adaptation {
            return &[];
        }
        self.0.get(5..5 + usize::from(self.0[4])).unwrap_or_default()
    }

    fn payload_start(&self) -> usize {
        match self.0[3] & 0x30 {
            0x10 => 4,
            0x30 => (5 + usize::from(self.0[4])).min(PACKET),
            _ => PACKET,
        }
    }
}

/// Writes the six bytes of a program clock reference.
pub(crate) fn write_pcr(field: &mut [u8], pcr: Pcr) {
    let (base, extension) = pcr.parts();
    field[..4].copy_from_slice(&((base >> 1) as u32).to_be_bytes());
    field[4] = (base as u8) << 7 | 0x7e | (extension >> 8) as u8;
    field[5] = extension as u8;
}

impl fmt::Debug for Packet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Packet")
            .field("pid", &self.pid())
            .field("counter", &self.counter())
            .field("pcr", &self.pcr())
            .field("starts_unit", &self.starts_unit())
            .field("payload", &self.payload().len())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn packet(head: &[u8]) -> Packet {
        let mut bytes = [0xff; PACKET];
        bytes[..head.len()].copy_from_slice(head);
        Packet::parse(&bytes).expect("begins with the sync byte")
    }

    #[test]
    fn packet_with_a_pcr_is_parsed_as_in_the_standard() {
        // PID 0x100, unit start, adaptation field of 7 bytes with random access and PCR, base 2^32 + 1, extension 257.
        let packet = packet(&[0x47, 0x41, 0x00, 0x35, 0x07, 0x50, 0x80, 0x00, 0x00, 0x00, 0xff, 0x01]);
        assert_eq!((packet.pid(), packet.counter()), (0x100, 5));
        assert!(packet.starts_unit() && packet.is_random_access() && packet.has_payload());
        assert!(!packet.has_discontinuity() && !packet.is_scrambled() && !packet.is_damaged());
        assert_eq!(packet.pcr(), Some(Pcr::from_parts((1 << 32) + 1, 257)));
        assert_eq!(packet.payload().len(), 176);
    }

    #[test]
    fn adaptation_field_that_does_not_fit_is_ignored() {
        let packet = packet(&[0x47, 0x01, 0x00, 0x30, 0xff, 0x50]);
        assert_eq!(packet.pcr(), None);
        assert!(packet.payload().is_empty());
        assert_eq!(Packet::parse(&[0x47; 187]), Err(Error::Truncated));
        assert_eq!(Packet::parse(&[0x48; 188]), Err(Error::Unknown));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_and_rewritten_without_panic(
            mut bytes in prop::collection::vec(any::<u8>(), PACKET),
            base in 0..1u64 << 33,
            extension in 0..300u16,
            counter in any::<u8>(),
        ) {
            bytes[0] = SYNC;
            let mut packet = Packet::parse(&bytes).unwrap();
            let before = packet.clone();
            let pcr = Pcr::from_parts(base, extension);
            packet.set_counter(counter);
            packet.set_pcr(pcr);
            prop_assert_eq!(packet.counter(), counter & 15);
            prop_assert_eq!(packet.pcr(), before.pcr().map(|_| pcr));
            prop_assert_eq!(packet.payload(), before.payload());
            prop_assert_eq!(packet.payload_mut().len(), before.payload().len());
        }
    }
}
