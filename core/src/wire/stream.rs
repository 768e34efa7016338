//! What a lossless stream says to its other end, inside sealed datagrams.
//!
//! A frame is a row of parts, each by its first byte; a coded packet takes the rest of the frame.
//!
//! | byte 0 | part |
//! |---|---|
//! | 1 | an original as it is ([`coded`]) |
//! | 2 | a combination of originals ([`coded`]) |
//! | 3 | what has come from the other end ([`acknowledgement`]) |
//! | 4 | nothing more: a question, answered by an acknowledgement |
//!
//! Numbers are 64 bits that travel as their lowest 32. They stand for the number nearest to one that the reader knows:
//! its newest sequence, or its edge. Both ends are less than 2^17 numbers apart, so that there is no doubt.

pub mod acknowledgement;
pub mod coded;

use self::acknowledgement::Acknowledgement;
use self::coded::Coded;
use super::Error;

/// First byte of a question.
pub const QUESTION: u8 = 4;

/// A part of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part<'a> {
    /// An original, or a combination.
    Coded(Coded<'a>),
    /// What has come.
    Acknowledgement(Acknowledgement<'a>),
    /// What has come? And is there room?
    Question,
}

impl<'a> Part<'a> {
    /// Reads the first part, and tells what is left.
    ///
    /// # Errors
    /// As the formats have them, and [`Error::Unknown`] for another first byte.
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
        fn any_bytes_are_survived(mut bytes: Vec<u8>, kind in 0..6u8) {
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
    fn a_frame_may_acknowledge_ask_and_carry() {
        let (mut frame, mut buf) = (Vec::new(), [0; 64]);
        let acknowledgement = Acknowledgement { newest: 7, delay_us: 20, edge: 6, room: 9, runs: &[0x40] };
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
