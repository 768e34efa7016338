//! The framing of RTCP packets, and the datagram that they share.
//!
//! | offset | field |
//! |---|---|
//! | 0 | version 2 (2 bits), padding P, count or format (5 bits) |
//! | 1 | packet type |
//! | 2 | length of the packet in words, minus one (16 bits) |
//! | 4 | body; if P, its last byte counts the padding bytes, itself included |

use crate::wire::Error;

/// One packet of a datagram, not parsed yet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Frame<'a> {
    /// The report count, source count, subtype or feedback format, 0 to 31.
    pub count: u8,
    /// The packet type.
    pub kind: u8,
    /// The bytes after the first word, without padding.
    pub body: &'a [u8],
}

/// The RTCP packets of one datagram, with consistent lengths.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Compound<'a> {
    bytes: &'a [u8],
}

impl<'a> Compound<'a> {
    /// Checks a datagram (RFC 3550 A.2), which may be of reduced size.
    ///
    /// # Errors
    /// There is no packet, one is of another version, lengths do not add up, or one that is not the last is padded.
    pub fn parse(bytes: &'a [u8]) -> Result<Compound<'a>, Error> {
        let mut rest = bytes;
        loop {
            let padded = rest.first().ok_or(Error::Truncated)? & 0x20 != 0;
            rest = Frame::split(rest)?.1;
            match (rest.is_empty(), padded) {
                (true, _) => return Ok(Compound { bytes }),
                (false, true) => return Err(Error::Malformed),
                (false, false) => {}
            }
        }
    }

    /// True if the sender or receiver report is missing that RFC 3550 requires as first packet (RFC 5506).
    pub fn is_reduced(&self) -> bool {
        !matches!(self.bytes.get(1), Some(200 | 201))
    }

    /// The packets in order.
    pub fn frames(&self) -> impl Iterator<Item = Frame<'a>> {
        let mut rest = self.bytes;
        core::iter::from_fn(move || {
            let (frame, after) = Frame::split(rest).ok()?;
            rest = after;
            Some(frame)
        })
    }
}

impl<'a> Frame<'a> {
    fn split(bytes: &'a [u8]) -> Result<(Frame<'a>, &'a [u8]), Error> {
        let ([flags, kind, l0, l1], rest) = bytes.split_first_chunk().ok_or(Error::Truncated)?;
        if flags >> 6 != 2 {
            return Err(Error::Unknown);
        }
        let words = u16::from_be_bytes([*l0, *l1]);
        let (body, rest) = rest.split_at_checked(4 * usize::from(words)).ok_or(Error::Length)?;
        let padding = match flags & 0x20 {
            0 => 0,
            _ => usize::from(*body.last().ok_or(Error::Length)?),
        };
        if flags & 0x20 != 0 && (padding == 0 || padding % 4 != 0) {
            return Err(Error::Malformed);
        }
        let body = &body[..body.len().checked_sub(padding).ok_or(Error::Length)?];
        Ok((Frame { count: flags & 0x1f, kind: *kind, body }, rest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const EMPTY_RR: [u8; 8] = [0x80, 201, 0, 1, 0, 0, 0, 7];

    #[test]
    fn compound_packet_is_split_into_frames() {
        let bytes = [&EMPTY_RR[..], &[0xa1, 203, 0, 2, 0, 0, 0, 7, 0, 0, 0, 4]].concat();
        let compound = Compound::parse(&bytes).unwrap();
        assert!(!compound.is_reduced());
        let frames: Vec<Frame<'_>> = compound.frames().collect();
        assert_eq!(frames[0], Frame { count: 0, kind: 201, body: &[0, 0, 0, 7] });
        assert_eq!(frames[1], Frame { count: 1, kind: 203, body: &[0, 0, 0, 7] });
    }

    #[test]
    fn checks_of_rfc_3550_a_2_refuse_other_data() {
        let padded = [0xa0, 201, 0, 2, 0, 0, 0, 7, 0, 0, 0, 4];
        for (bytes, error) in [
            (vec![], Error::Truncated),
            (vec![0x40, 201, 0, 0], Error::Unknown),
            (vec![0x80, 201, 0, 1], Error::Length),
            ([&EMPTY_RR[..], &[0x80]].concat(), Error::Truncated),
            ([&padded[..], &EMPTY_RR].concat(), Error::Malformed),
            (vec![0xa0, 201, 0, 1, 0, 0, 0, 0], Error::Malformed),
            (vec![0xa0, 201, 0, 1, 0, 0, 0, 3], Error::Malformed),
            (vec![0xa0, 201, 0, 1, 0, 0, 0, 8], Error::Length),
            (vec![0xa0, 201, 0, 0], Error::Length),
        ] {
            assert_eq!(Compound::parse(&bytes), Err(error), "{bytes:02x?}");
        }
    }

    #[test]
    fn feedback_alone_is_of_reduced_size() {
        let bytes = [0x8b, 205, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0];
        assert!(Compound::parse(&bytes).unwrap().is_reduced());
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_do_not_panic(mut bytes: Vec<u8>, flags in 0x80u8..0xc0, words in 0u8..8) {
            for (at, value) in [(0, flags), (2, 0), (3, words)] {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = value;
                }
            }
            if let Ok(compound) = Compound::parse(&bytes) {
                prop_assert!(compound.frames().map(|frame| 4 + frame.body.len()).sum::<usize>() <= bytes.len());
            }
        }
    }
}
