//! Messages between the ends of a tunnel, in sealed datagrams; the first byte distinguishes them from the frames of a
//! stream ([`super::stream`]).
//!
//! | offset | attach | attached | unknown |
//! |---|---|---|---|
//! | 0 | 16 | 17 | 18 |
//! | 1 | stream (128 bits) | stream (128 bits) | stream (128 bits) |
//! | 17 | longest frame, bytes (16 bits) | longest frame (16 bits) | |
//! | 19 | window, originals (16 bits) | window (16 bits) | |
//! | 21 | 1 if the stream may begin, 0 if it must exist (8 bits) | | |
//!
//! An initiator repeats its request for a stream until it is answered. Attached carries the values for both ends, at
//! most those requested; unknown says that the stream does not exist any more.

use super::Error;

/// The lowest first byte of a message; lower ones belong to a stream.
pub const FIRST: u8 = 16;
/// The length of the longest message.
pub const LONGEST: usize = 22;

/// The parameters of a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    /// The longest frame, bytes.
    pub frame: u16,
    /// The window, in originals.
    pub window: u16,
}

/// A message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Message {
    /// Requests that this association carries the stream from now on.
    Attach {
        /// The stream's identifier.
        stream: u128,
        /// The parameters that the initiator requests.
        shape: Shape,
        /// True if the stream may begin, false if it must exist.
        begins: bool,
    },
    /// Confirms that the association carries the stream.
    Attached {
        /// The stream's identifier.
        stream: u128,
        /// The parameters for both ends.
        shape: Shape,
    },
    /// Refuses: the stream is not known here.
    Unknown {
        /// The stream's identifier.
        stream: u128,
    },
}

impl Message {
    /// Parses a message; excess bytes are ignored, for later versions.
    ///
    /// # Errors
    /// [`Error::Truncated`], or [`Error::Unknown`] for another first byte.
    pub fn parse(bytes: &[u8]) -> Result<Message, Error> {
        let (&kind, rest) = bytes.split_first().ok_or(Error::Truncated)?;
        if !(FIRST..=FIRST + 2).contains(&kind) {
            return Err(Error::Unknown);
        }
        let (stream, rest) = rest.split_first_chunk().ok_or(Error::Truncated)?;
        let stream = u128::from_be_bytes(*stream);
        if kind == FIRST + 2 {
            return Ok(Message::Unknown { stream });
        }
        let (&[a, b, c, d], rest) = rest.split_first_chunk().ok_or(Error::Truncated)?;
        let shape = Shape { frame: u16::from_be_bytes([a, b]), window: u16::from_be_bytes([c, d]) };
        if kind == FIRST + 1 {
            return Ok(Message::Attached { stream, shape });
        }
        let begins = *rest.first().ok_or(Error::Truncated)? == 1;
        Ok(Message::Attach { stream, shape, begins })
    }

    /// Writes the message to the first bytes of `buf`, which must hold [`LONGEST`], and returns its length.
    pub fn emit(&self, buf: &mut [u8]) -> usize {
        let (kind, stream, shape, begins) = match *self {
            Message::Attach { stream, shape, begins } => (FIRST, stream, Some(shape), Some(begins)),
            Message::Attached { stream, shape } => (FIRST + 1, stream, Some(shape), None),
            Message::Unknown { stream } => (FIRST + 2, stream, None, None),
        };
        buf[0] = kind;
        buf[1..17].copy_from_slice(&stream.to_be_bytes());
        let Some(shape) = shape else { return 17 };
        buf[17..19].copy_from_slice(&shape.frame.to_be_bytes());
        buf[19..21].copy_from_slice(&shape.window.to_be_bytes());
        let Some(begins) = begins else { return 21 };
        buf[21] = u8::from(begins);
        LONGEST
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn messages_round_trip(stream: u128, frame: u16, window: u16, begins: bool) {
            let shape = Shape { frame, window };
            let all =
                [Message::Attach { stream, shape, begins }, Message::Attached { stream, shape }, Message::Unknown { stream }];
            for message in all {
                let mut buf = [0; LONGEST];
                let len = message.emit(&mut buf);
                prop_assert_eq!(Message::parse(&buf[..len]), Ok(message));
                prop_assert_eq!(Message::parse(&buf[..len - 1]), Err(Error::Truncated));
            }
        }

        #[test]
        fn arbitrary_bytes_do_not_panic(mut bytes: Vec<u8>, kind in 14..20u8) {
            if let Some(first) = bytes.first_mut() {
                *first = kind;
            }
            let message = Message::parse(&bytes);
            prop_assert_eq!(message == Err(Error::Unknown), !(16..19).contains(&kind) && !bytes.is_empty());
        }
    }
}
