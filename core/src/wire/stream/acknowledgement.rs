//! An acknowledgement: the packets received, and whether they were innovative.
//!
//! | offset | field |
//! |---|---|
//! | 0 | 3 |
//! | 1 | sequence of the newest packet received (32 bits) |
//! | 5 | microseconds since its arrival (32 bits) |
//! | 9 | edge: the first original that is not known (32 bits) |
//! | 13 | free space: the number of originals accepted from the edge on (16 bits) |
//! | 15 | number of runs (8 bits) |
//! | 16 | runs, from the newest packet back (8 bits each) |
//!
//! A run is a state (2 bits: 0 missing, 1 innovative, 2 redundant) and the number of packets in it, less one (6 bits);
//! a longer run is written as several. Without runs no packet was received yet.

use super::{half, word};
use crate::wire::Error;

/// The first byte.
pub const KIND: u8 = 3;
/// The number of bytes before the runs.
pub const HEADER: usize = 16;
/// The most runs in an acknowledgement.
pub const MAX_RUNS: usize = 96;
/// The length of the longest run.
pub const LONGEST: u8 = 64;

/// The knowledge of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum State {
    /// Not received.
    #[default]
    Missing,
    /// Received, and it raised the rank.
    Innovative,
    /// Received, but not innovative.
    Redundant,
}

/// An acknowledgement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Acknowledgement<'a> {
    /// The lowest 32 bits of the newest sequence.
    pub newest: u32,
    /// Microseconds since its arrival.
    pub delay_us: u32,
    /// The lowest 32 bits of the first original that is not known.
    pub edge: u32,
    /// The free space: the number of originals accepted from there on.
    pub credit: u16,
    /// The runs in their wire format.
    pub runs: &'a [u8],
}

impl<'a> Acknowledgement<'a> {
    /// Parses an acknowledgement, and returns the bytes after it.
    ///
    /// # Errors
    /// [`Error::Truncated`], [`Error::Unknown`] for another first byte, [`Error::Malformed`] for an undefined state.
    pub fn parse(bytes: &'a [u8]) -> Result<(Acknowledgement<'a>, &'a [u8]), Error> {
        if bytes.first().is_some_and(|kind| *kind != KIND) {
            return Err(Error::Unknown);
        }
        let [newest, delay_us, edge] = [word(bytes, 1)?, word(bytes, 5)?, word(bytes, 9)?];
        let credit = half(bytes, 13)?;
        let end = HEADER + usize::from(*bytes.get(15).ok_or(Error::Truncated)?);
        let runs = bytes.get(HEADER..end).ok_or(Error::Truncated)?;
        if runs.iter().any(|run| run >> 6 == 3) {
            return Err(Error::Malformed);
        }
        Ok((Acknowledgement { newest, delay_us, edge, credit, runs }, &bytes[end..]))
    }

    /// Writes the acknowledgement and returns its length; none if it does not fit.
    pub fn emit(&self, buf: &mut [u8]) -> Option<usize> {
        let end = HEADER + self.runs.len();
        let count = u8::try_from(self.runs.len()).ok()?;
        let buf = buf.get_mut(..end)?;
        buf[0] = KIND;
        buf[1..5].copy_from_slice(&self.newest.to_be_bytes());
        buf[5..9].copy_from_slice(&self.delay_us.to_be_bytes());
        buf[9..13].copy_from_slice(&self.edge.to_be_bytes());
        buf[13..15].copy_from_slice(&self.credit.to_be_bytes());
        buf[15] = count;
        buf[HEADER..].copy_from_slice(self.runs);
        Some(end)
    }

    /// The states with the number of packets in each, from the newest back.
    pub fn states(&self) -> impl Iterator<Item = (State, u8)> + use<'a> {
        self.runs.iter().map(|run| {
            let state = match run >> 6 {
                0 => State::Missing,
                1 => State::Innovative,
                _ => State::Redundant,
            };
            (state, (run & 0x3f) + 1)
        })
    }
}

/// Writes the runs of `states`, the states from the newest packet back with the number of packets in each, to `runs`,
/// and returns the number of runs. Those that do not fit are left out.
pub fn runs(states: impl Iterator<Item = (State, usize)>, runs: &mut [u8; MAX_RUNS]) -> usize {
    let mut written = 0;
    for (state, mut count) in states {
        while count > 0 {
            if written == MAX_RUNS {
                return written;
            }
            let part = count.min(LONGEST.into());
            runs[written] = (state as u8) << 6 | (part - 1) as u8;
            (written, count) = (written + 1, count - part);
        }
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn state() -> impl Strategy<Value = State> {
        prop_oneof![Just(State::Missing), Just(State::Innovative), Just(State::Redundant)]
    }

    proptest! {
        #[test]
        fn acknowledgements_round_trip(
            newest: u32, delay_us: u32, edge: u32, credit: u16,
            blocks in prop::collection::vec((state(), 1..200usize), 0..40), rest: Vec<u8>,
        ) {
            let states: Vec<State> = blocks.iter().flat_map(|(state, count)| vec![*state; *count]).collect();
            let mut written = [0; MAX_RUNS];
            let count = runs(blocks.into_iter(), &mut written);
            let acknowledgement = Acknowledgement { newest, delay_us, edge, credit, runs: &written[..count] };
            let mut buf = [0; HEADER + MAX_RUNS];
            let len = acknowledgement.emit(&mut buf).expect("room");
            let mut bytes = buf[..len].to_vec();
            bytes.extend(&rest);
            prop_assert_eq!(Acknowledgement::parse(&bytes), Ok((acknowledgement, rest.as_slice())));
            let read: Vec<State> =
                acknowledgement.states().flat_map(|(state, count)| vec![state; count.into()]).collect();
            prop_assert!(states.starts_with(&read));
            prop_assert!(read.len() == states.len() || count == MAX_RUNS);
            for len in 0..len {
                prop_assert_eq!(Acknowledgement::parse(&bytes[..len]), Err(Error::Truncated));
            }
        }
    }

    #[test]
    fn fourth_state_is_malformed() {
        let mut bytes = [0; HEADER + 1];
        (bytes[0], bytes[15], bytes[16]) = (KIND, 1, 0xc0);
        assert_eq!(Acknowledgement::parse(&bytes), Err(Error::Malformed));
    }
}
