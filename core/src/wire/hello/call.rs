//! The messages of a receiver that calls, and of a sender that listens.
//!
//! Request, subtype 5, from SSRC 0: a receiver calls, and asks for a hello. The zeros make a request longer than the datagram
//! with a hello, which rules out amplification by forged requests.
//!
//! | offset | field |
//! |---|---|
//! | 0 | version, 3 (8 bits), and 216 bits of zero |
//! | 28 | token of the address that this request is sent to (64 bits) |
//! | 36 | zeros up to 128 bytes |
//!
//! Busy, subtype 6, from SSRC 0: the sender has another receiver.
//!
//! | offset | field |
//! |---|---|
//! | 0 | version, 3 (8 bits), and 24 bits of zero |
//! | 4 | echo: the token of the request (64 bits) |

use super::short::{emit, parse};
use super::{TOKEN, VERSION};
use crate::wire::Error;

/// A receiver's request for a hello.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Request {
    /// The token of the address that the request is sent to.
    pub token: u64,
}

/// The reply to a request while the sender has another receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Busy {
    /// The token of the request.
    pub echo: u64,
}

impl Request {
    /// The APP subtype.
    pub const SUBTYPE: u8 = 5;
    /// The length of the data in bytes.
    pub const LEN: usize = 128;

    /// Writes the APP data.
    pub fn emit(&self) -> [u8; Request::LEN] {
        let mut data = [0; Request::LEN];
        data[0] = VERSION;
        data[TOKEN..TOKEN + 8].copy_from_slice(&self.token.to_be_bytes());
        data
    }

    /// Parses the APP data, of any length from the token on: a sender's reply is never longer than the request.
    ///
    /// # Errors
    /// [`Error::Truncated`], or [`Error::Unknown`] for another version.
    pub fn parse(data: &[u8]) -> Result<Request, Error> {
        if *data.first().ok_or(Error::Truncated)? != VERSION {
            return Err(Error::Unknown);
        }
        let token = data.get(TOKEN..).and_then(|rest| rest.first_chunk()).ok_or(Error::Truncated)?;
        Ok(Request { token: u64::from_be_bytes(*token) })
    }
}

impl Busy {
    /// The APP subtype.
    pub const SUBTYPE: u8 = 6;
    /// The length of the data in bytes.
    pub const LEN: usize = 12;

    /// Writes the APP data.
    pub fn emit(&self) -> [u8; Busy::LEN] {
        emit(VERSION, self.echo)
    }

    /// Parses the APP data; excess bytes are ignored.
    ///
    /// # Errors
    /// [`Error::Truncated`], or [`Error::Unknown`] for another version.
    pub fn parse(data: &[u8]) -> Result<Busy, Error> {
        match parse(data)? {
            (VERSION, echo) => Ok(Busy { echo }),
            _ => Err(Error::Unknown),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::hello::Hello;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn requests_and_their_replies_round_trip(number: u64) {
            let (request, busy) = (Request { token: number }, Busy { echo: number });
            prop_assert_eq!(Request::parse(&request.emit()), Ok(request));
            prop_assert_eq!(Busy::parse(&busy.emit()), Ok(busy));
        }

        #[test]
        fn request_of_another_version_yields_its_token(version in VERSION + 1.., token: u64) {
            let mut data = Request { token }.emit();
            data[0] = version;
            prop_assert_eq!(Request::parse(&data), Err(Error::Unknown));
            prop_assert_eq!(Hello::parse_other(&data), Some((version, token)));
        }

        #[test]
        fn arbitrary_bytes_do_not_panic(mut bytes: Vec<u8>) {
            if let Some(version) = bytes.first_mut() {
                *version = VERSION;
            }
            prop_assert_eq!(Request::parse(&bytes).is_ok(), bytes.len() >= TOKEN + 8);
            prop_assert_eq!(Busy::parse(&bytes).is_ok(), bytes.len() >= Busy::LEN);
        }
    }
}
