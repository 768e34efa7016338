//! The frames of a lossless stream, inside sealed datagrams.
//!
//! A frame is a sequence of parts, each identified by its first byte; a coded packet takes the rest of the frame.
//!
//! | byte 0 | part |
//! |---|---|
//! | 1 | an uncoded original ([`coded`]) |
//! | 2 | a combination of originals ([`coded`]) |
//! | 3 | an acknowledgement of received packets ([`acknowledgement`]) |
//! | 4 | a probe without content, answered by an acknowledgement |
//!
//! Numbers are 64 bits, of which the lowest 32 are sent. They stand for the number nearest to one that the reader
//! knows: its newest sequence, or its edge. Both ends are less than 2^17 numbers apart, so that this is unambiguous.

pub mod acknowledgement;
pub mod coded;

use self::acknowledgement::Acknowledgement;
use self::coded::Coded;
use super::Error;

/// The first byte of a probe.
pub const QUESTION: u8 = 4;

/// A part of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part<'a> {
    /// An original, or a combination.
    Coded(Coded<'a>),
    /// The packets that were received.
    Acknowledgement(Acknowledgement<'a>),
    /// The demand for an acknowledgement and the free space.
    Question,
}

impl<'a> Part<'a> {
    /// Parses the first part, and returns the rest.
    ///
    /// # Errors
    /// The errors of the parts' formats, and [`Error::Unknown`] for another first byte.
    pub fn parse(bytes: &'a [u8]) -> Result<(Part<'a>, &'a [u8]), Error> {
        match *bytes.first().ok_or(Error::Truncated)? {
            coded::ORIGINAL | coded::REPAIR => Ok((Part::Coded(Coded::parse(bytes)?), &[])),
            acknowledgement::KIND => {
                Acknowledgement::parse(bytes).map(|(part, rest)| (Part::Acknowledgement(part), rest))
            }
            QUESTION => Ok((Part::Question, &bytes[1..])),
            _ => Err(Error::Unknown),
        }
    }
}

/// The 32 bits at `offset`.
fn word(bytes: &[u8], offset: usize) -> Result<u32, Error> {
    let field = bytes.get(offset..).and_then(<[u8]>::first_chunk).ok_or(Error::Truncated)?;
    Ok(u32::from_be_bytes(*field))
}

/// The 16 bits at `offset`.
fn half(bytes: &[u8], offset: usize) -> Result<u16, Error> {
    let field = bytes.get(offset..).and_then(<[u8]>::first_chunk).ok_or(Error::Truncated)?;
    Ok(u16::from_be_bytes(*field))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn arbitrary_bytes_do_not_panic(mut bytes: Vec<u8>, kind in 0..6u8) {
            if let Some(first) = bytes.first_mut() {
                *first = kind;
            }
            let mut rest = bytes.as_slice();
            while let Ok((_, less)) = Part::parse(rest) {
                prop_assert!(less.len() < rest.len(), "every part takes something");
                rest = less;
            }
        }
    }

    #[test]
    fn frame_may_hold_an_acknowledgement_a_question_and_a_packet() {
        let (mut frame, mut buf) = (Vec::new(), [0; 64]);
        let acknowledgement = Acknowledgement { newest: 7, delay_us: 20, edge: 6, credit: 9, runs: &[0x40] };
        let len = acknowledgement.emit(&mut buf).expect("room");
        frame.extend(&buf[..len]);
        frame.push(QUESTION);
        let coded = Coded { sequence: 1, carries: coded::Carries::Original(2), payload: b"x" };
        let len = coded.emit(&mut buf).expect("room");
        frame.extend(&buf[..len]);
        let (first, rest) = Part::parse(&frame).expect("a part");
        let (second, rest) = Part::parse(rest).expect("a part");
        let (third, rest) = Part::parse(rest).expect("a part");
        let expected = [Part::Acknowledgement(acknowledgement), Part::Question, Part::Coded(coded)];
        assert_eq!(([first, second, third], rest), (expected, &[][..]));
    }
}
