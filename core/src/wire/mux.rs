//! The connections inside one lossless stream: frames, one behind the other in its bytes.
//!
//! | byte 0 | frame | offset 1 | offset 5 |
//! |---|---|---|---|
//! | 1 | open: a new connection | its id (32 bits) | |
//! | 2 | data | id | how many bytes, not 0 (16 bits), and at 7 the bytes |
//! | 3 | credit: so many more bytes are taken | id | how many (32 bits) |
//! | 4 | finish: no more data comes this way | id | |
//! | 5 | reset: the connection is broken off both ways | id | reason (8 bits) |
//!
//! Whoever began the stream opens even ids, the other odd ones, each in ascending order. A connection begins with
//! [`FIRST_CREDIT`] both ways.

use super::Error;

/// What each side may send on a new connection before it hears of more, bytes.
pub const FIRST_CREDIT: u32 = 256 << 10;
/// The longest header of a frame.
pub const HEADER: usize = 9;
/// The header of data.
pub const DATA_HEADER: usize = 7;

/// A frame, without the bytes of data behind it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Frame {
    /// A new connection.
    Open {
        /// Its id.
        id: u32,
    },
    /// So many bytes of the connection follow.
    Data {
        /// Which connection.
        id: u32,
        /// How many, not 0.
        len: u16,
    },
    /// The other end may send more.
    Credit {
        /// Which connection.
        id: u32,
        /// So many bytes more.
        more: u32,
    },
    /// There is no more data.
    Finish {
        /// Which connection.
        id: u32,
    },
    /// The end of the connection both ways, whatever was under way.
    Reset {
        /// Which connection.
        id: u32,
        /// Why.
        reason: u8,
    },
}

impl Frame {
    /// Reads the first frame of `bytes`, and tells how long its header is.
    ///
    /// # Errors
    /// [`Error::Truncated`] while there are too few bytes, [`Error::Unknown`] for another first byte, [`Error::Malformed`]
    /// for data without bytes.
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

    /// Writes the header behind what is in `out`.
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
        fn whatever_is_written_comes_back(frame in frame(), rest: Vec<u8>) {
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
        fn any_bytes_are_survived(mut bytes: Vec<u8>, kind in 0..7u8) {
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
