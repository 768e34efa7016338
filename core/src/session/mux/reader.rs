//! Parses the bytes of a stream into frames, however they are cut.

use crate::wire::Error;
use crate::wire::mux::{Frame, HEADER};

/// The next element of the stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Token<'a> {
    /// The beginning of a header.
    None,
    /// A frame; if it is data, its bytes follow.
    Frame(Frame),
    /// Bytes of a connection.
    Bytes(u32, &'a [u8]),
}

#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Reader {
    /// A header of which a part has arrived.
    begun: [u8; HEADER],
    count: usize,
    /// The connection and the number of its bytes that are still to arrive.
    left: (u32, usize),
}

impl Reader {
    /// Returns the first element of `bytes`, which are not empty, and the bytes behind it.
    pub(super) fn next<'a>(&mut self, bytes: &'a [u8]) -> Result<(Token<'a>, &'a [u8]), Error> {
        let (id, left) = self.left;
        if left > 0 {
            let (part, rest) = bytes.split_at(left.min(bytes.len()));
            self.left.1 -= part.len();
            return Ok((Token::Bytes(id, part), rest));
        }
        let before = self.count;
        let more = bytes.len().min(HEADER - before);
        self.begun[before..before + more].copy_from_slice(&bytes[..more]);
        match Frame::parse(&self.begun[..before + more]) {
            Ok((frame, len)) => {
                self.count = 0;
                if let Frame::Data { id, len } = frame {
                    self.left = (id, len.into());
                }
                Ok((Token::Frame(frame), &bytes[len - before..]))
            }
            Err(Error::Truncated) => {
                self.count += more;
                Ok((Token::None, &bytes[more..]))
            }
            Err(error) => Err(error),
        }
    }
}
