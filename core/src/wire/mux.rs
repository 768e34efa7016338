//! The connections multiplexed in one lossless stream: frames, one after the other in its bytes.
//!
//! | byte 0 | frame | offset 1 | offset 5 |
//! |---|---|---|---|
//! | 1 | open: a new connection | its id (32 bits) | |
//! | 2 | data | id | number of bytes, not 0 (16 bits), and from 7 on the bytes |
//! | 3 | credit: the peer may send more bytes | id | number of additional bytes (32 bits) |
//! | 4 | finish: no more data in this direction | id | |
//! | 5 | reset: the connection is aborted in both directions | id | reason (8 bits) |
//!
//! The initiator of the stream opens even ids, its peer odd ones, each in ascending order. A connection begins with
//! [`FIRST_CREDIT`] in both directions.

use super::Error;

/// The bytes that each side may send on a new connection before it receives credit.
pub const FIRST_CREDIT: u32 = 256 << 10;
/// The length of the longest header of a frame.
pub const HEADER: usize = 9;
/// The length of the header of data.
pub const DATA_HEADER: usize = 7;

/// A frame, without the bytes that follow a data header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Frame {
    /// Opens a connection.
    Open {
        /// The id of the connection.
        id: u32,
    },
    /// Precedes bytes of the connection.
    Data {
        /// The id of the connection.
        id: u32,
        /// The number of bytes, not 0.
        len: u16,
    },
    /// Allows the peer to send more.
    Credit {
        /// The id of the connection.
        id: u32,
        /// The number of additional bytes.
        more: u32,
    },
    /// Ends the data in this direction.
    Finish {
        /// The id of the connection.
        id: u32,
    },
    /// Aborts the connection in both directions, discarding data in flight.
    Reset {
        /// The id of the connection.
        id: u32,
        /// The reason of the reset.
        reason: u8,
    },
}

impl Frame {
    /// Parses the first frame of `bytes`, and returns the length of its header.
    ///
    /// # Errors
    /// [`Error::Truncated`] while there are too few bytes, [`Error::Unknown`] for another first byte,
    /// [`Error::Malformed`] for data without bytes.
    pub fn parse(bytes: &[u8]) -> Result<(Frame, usize), Error> {
        let (&kind, rest) = bytes.split_first().ok_or(Error::Truncated)?;
        if !(1..=5).contains(&kind) {
            return Err(Error::Unknown);
        }
        let (id, rest) = rest.split_first_chunk().ok_or(Error::Truncated)?;
        let id = u32::from_be_bytes(*id);
        Ok(match kind {
            1 => (Frame::Open { id }, 5),
            2 => {
                let len = u16::from_be_bytes(*rest.first_chunk().ok_or(Error::Truncated)?);
                if len == 0 {
                    return Err(Error::Malformed);
                }
                (Frame::Data { id, len }, DATA_HEADER)
            }
            3 => (Frame::Credit { id, more: u32::from_be_bytes(*rest.first_chunk().ok_or(Error::Truncated)?) }, 9),
            4 => (Frame::Finish { id }, 5),
            _ => (Frame::Reset { id, reason: *rest.first().ok_or(Error::Truncated)? }, 6),
        })
    }

    /// Appends the header to `out`.
    pub fn emit(&self, out: &mut Vec<u8>) {
        let (kind, id) = match *self {
            Frame::Open { id } => (1, id),
            Frame::Data { id, .. } => (2, id),
            Frame::Credit { id, .. } => (3, id),
            Frame::Finish { id } => (4, id),
            Frame::Reset { id, .. } => (5, id),
        };
        out.push(kind);
        out.extend_from_slice(&id.to_be_bytes());
        match *self {
            Frame::Open { .. } | Frame::Finish { .. } => {}
            Frame::Data { len, .. } => out.extend_from_slice(&len.to_be_bytes()),
            Frame::Credit { more, .. } => out.extend_from_slice(&more.to_be_bytes()),
            Frame::Reset { reason, .. } => out.push(reason),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn frame() -> impl Strategy<Value = Frame> {
        prop_oneof![
            any::<u32>().prop_map(|id| Frame::Open { id }),
            (any::<u32>(), 1..=u16::MAX).prop_map(|(id, len)| Frame::Data { id, len }),
            any::<(u32, u32)>().prop_map(|(id, more)| Frame::Credit { id, more }),
            any::<u32>().prop_map(|id| Frame::Finish { id }),
            any::<(u32, u8)>().prop_map(|(id, reason)| Frame::Reset { id, reason }),
        ]
    }

    proptest! {
        #[test]
        fn frames_round_trip(frame in frame(), rest: Vec<u8>) {
            let mut bytes = Vec::new();
            frame.emit(&mut bytes);
            let len = bytes.len();
            prop_assert!(len <= HEADER);
            for short in 0..len {
                prop_assert_eq!(Frame::parse(&bytes[..short]), Err(Error::Truncated));
            }
            bytes.extend(rest);
            prop_assert_eq!(Frame::parse(&bytes), Ok((frame, len)));
        }

        #[test]
        fn arbitrary_bytes_do_not_panic(mut bytes: Vec<u8>, kind in 0..7u8) {
            if let Some(first) = bytes.first_mut() {
                *first = kind;
            }
            match Frame::parse(&bytes) {
                Ok((_, len)) => prop_assert!(len <= bytes.len()),
                Err(Error::Truncated) => prop_assert!(bytes.len() < HEADER),
                Err(_) => {}
            }
        }
    }
}
