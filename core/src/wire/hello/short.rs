//! The messages that may be sent to an unproven address: they disclose nothing and are shorter than the datagram
//! received.
//!
//! Challenge, subtype 3, from SSRC 0: the peer at this address is asked to prove knowledge of the session's secret.
//!
//! | offset | field |
//! |---|---|
//! | 0 | version, 2 (8 bits), and 24 bits of zero |
//! | 4 | token, to be echoed (64 bits) |
//!
//! Refusal, subtype 4, from SSRC 0: the version of a hello or a request is not supported.
//!
//! | offset | field |
//! |---|---|
//! | 0 | supported version (8 bits), and 24 bits of zero |
//! | 4 | echo: the token of the hello or the request (64 bits) |

use super::{VERSION, get, put};
use crate::wire::Error;

/// The test whether the peer is at an address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Challenge {
    /// The token, to be echoed under the session's secret.
    pub token: u64,
}

/// The reply to a hello or a request of another version.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Refusal {
    /// The supported version.
    pub version: u8,
    /// The token of the hello or the request.
    pub echo: u64,
}

impl Challenge {
    /// The APP subtype.
    pub const SUBTYPE: u8 = 3;
    /// The length of the data in bytes.
    pub const LEN: usize = 12;

    /// Writes the APP data.
    pub fn emit(&self) -> [u8; Challenge::LEN] {
        emit(VERSION, self.token)
    }

    /// Parses the APP data; excess bytes are ignored.
    ///
    /// # Errors
    /// [`Error::Truncated`], or [`Error::Unknown`] for another version.
    pub fn parse(data: &[u8]) -> Result<Challenge, Error> {
        match parse(data)? {
            (VERSION, token) => Ok(Challenge { token }),
            _ => Err(Error::Unknown),
        }
    }
}

impl Refusal {
    /// The APP subtype.
    pub const SUBTYPE: u8 = 4;
    /// The length of the data in bytes.
    pub const LEN: usize = 12;

    /// Writes the APP data.
    pub fn emit(&self) -> [u8; Refusal::LEN] {
        emit(self.version, self.echo)
    }

    /// Parses the APP data, of any version; excess bytes are ignored.
    ///
    /// # Errors
    /// [`Error::Truncated`].
    pub fn parse(data: &[u8]) -> Result<Refusal, Error> {
        parse(data).map(|(version, echo)| Refusal { version, echo })
    }
}

pub(super) fn emit(version: u8, number: u64) -> [u8; 12] {
    let mut data = [0; 12];
    data[0] = version;
    put(&mut data[4..], &[], &[number]);
    data
}

pub(super) fn parse(data: &[u8]) -> Result<(u8, u64), Error> {
    let ([version, ..], rest) = data.split_first_chunk::<4>().ok_or(Error::Truncated)?;
    let ([], [number]) = get(rest)?;
    Ok((*version, number))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn challenges_and_refusals_round_trip(version: u8, number: u64) {
            let challenge = Challenge { token: number };
            prop_assert_eq!(Challenge::parse(&challenge.emit()), Ok(challenge));
            let refusal = Refusal { version, echo: number };
            prop_assert_eq!(Refusal::parse(&refusal.emit()), Ok(refusal));
        }

        #[test]
        fn arbitrary_bytes_do_not_panic(mut bytes: Vec<u8>) {
            prop_assert_eq!(Refusal::parse(&bytes).is_ok(), bytes.len() >= Refusal::LEN);
            if let Some(version) = bytes.first_mut() {
                *version = VERSION;
            }
            prop_assert_eq!(Challenge::parse(&bytes).is_ok(), bytes.len() >= Challenge::LEN);
        }
    }
}
