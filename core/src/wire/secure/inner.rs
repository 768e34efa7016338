//! The content of a sealed datagram, by its first byte.
//!
//! | byte 0 | content |
//! |---|---|
//! | 0 data | bytes of the layer above |
//! | 1 ping, to be answered by a pong | 64 bits of zero |
//! | 2 pong | 64 bits of zero |
//! | 3 challenge of a new address | token (64 bits) |
//! | 4 proof | the token of the challenge (64 bits) |
//! | 5 first message for new keys | number of the new epoch (32 bits), Noise message |
//! | 6 second message for new keys | number of the new epoch (32 bits), Noise message |
//! | 7 close, to be answered by the same | reason (8 bits), 56 bits of zero |
//!
//! Ping, pong, challenge, proof and close have the same length, so that each can answer another without amplification.
//! Excess bytes are ignored, for later versions.

use super::Error;

/// The content of a sealed datagram.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Inner<'a> {
    /// Bytes of the layer above.
    Data(&'a [u8]),
    /// A keep-alive, to be answered by a pong.
    Ping,
    /// The answer to a ping.
    Pong,
    /// The demand to prove reachability at a new address.
    Challenge(u64),
    /// The answer to a challenge: its token.
    Proof(u64),
    /// The first message of a handshake for new keys.
    Rekey {
        /// The epoch that the new keys are for.
        epoch: u32,
        /// The first Noise message.
        noise: &'a [u8],
    },
    /// The second message of a handshake for new keys.
    Rekeyed {
        /// The epoch that the new keys are for.
        epoch: u32,
        /// The second Noise message.
        noise: &'a [u8],
    },
    /// The end of the association, and its reason.
    Close(u8),
}

impl<'a> Inner<'a> {
    /// The first byte of data.
    pub const DATA: u8 = 0;

    /// Parses opened content.
    ///
    /// # Errors
    /// [`Error::Truncated`], or [`Error::Unknown`] for another first byte.
    pub fn parse(bytes: &'a [u8]) -> Result<Inner<'a>, Error> {
        let (&kind, rest) = bytes.split_first().ok_or(Error::Truncated)?;
        if kind == Inner::DATA {
            return Ok(Inner::Data(rest));
        }
        let token = || rest.first_chunk().map(|token| u64::from_be_bytes(*token)).ok_or(Error::Truncated);
        let message = || {
            let (epoch, noise) = rest.split_first_chunk().ok_or(Error::Truncated)?;
            Ok((u32::from_be_bytes(*epoch), noise))
        };
        Ok(match kind {
            1 => token().map(|_| Inner::Ping)?,
            2 => token().map(|_| Inner::Pong)?,
            3 => Inner::Challenge(token()?),
            4 => Inner::Proof(token()?),
            5 => message().map(|(epoch, noise)| Inner::Rekey { epoch, noise })?,
            6 => message().map(|(epoch, noise)| Inner::Rekeyed { epoch, noise })?,
            7 => Inner::Close(token()?.to_be_bytes()[0]),
            _ => return Err(Error::Unknown),
        })
    }

    /// Writes the content to be sealed and returns its length.
    pub fn emit(&self, buf: &mut [u8]) -> usize {
        match *self {
            Inner::Data(data) => put(buf, Inner::DATA, &[], data),
            Inner::Ping => put(buf, 1, &[0; 8], &[]),
            Inner::Pong => put(buf, 2, &[0; 8], &[]),
            Inner::Challenge(token) => put(buf, 3, &token.to_be_bytes(), &[]),
            Inner::Proof(token) => put(buf, 4, &token.to_be_bytes(), &[]),
            Inner::Rekey { epoch, noise } => put(buf, 5, &epoch.to_be_bytes(), noise),
            Inner::Rekeyed { epoch, noise } => put(buf, 6, &epoch.to_be_bytes(), noise),
            Inner::Close(reason) => put(buf, 7, &[reason, 0, 0, 0, 0, 0, 0, 0], &[]),
        }
    }
}

fn put(buf: &mut [u8], kind: u8, fixed: &[u8], rest: &[u8]) -> usize {
    let (head, tail) = buf.split_at_mut(1 + fixed.len());
    head[0] = kind;
    head[1..].copy_from_slice(fixed);
    tail[..rest.len()].copy_from_slice(rest);
    1 + fixed.len() + rest.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn inner_messages_round_trip(token: u64, epoch: u32, reason: u8, bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let all = [
                Inner::Data(&bytes), Inner::Ping, Inner::Pong, Inner::Challenge(token), Inner::Proof(token),
                Inner::Rekey { epoch, noise: &bytes }, Inner::Rekeyed { epoch, noise: &bytes }, Inner::Close(reason),
            ];
            for inner in all {
                let mut buf = [0; 256];
                let len = inner.emit(&mut buf);
                prop_assert_eq!(Inner::parse(&buf[..len]), Ok(inner));
            }
        }

        #[test]
        fn arbitrary_bytes_do_not_panic(mut bytes: Vec<u8>, kind in 0..9u8) {
            if let Some(first) = bytes.first_mut() {
                *first = kind;
            }
            let inner = Inner::parse(&bytes);
            prop_assert_eq!(inner == Err(Error::Unknown), kind > 7 && !bytes.is_empty());
        }
    }
}
