//! A sealed datagram of a secure association, kind 5.
//!
//! | offset | field |
//! |---|---|
//! | 0 | kind, 5 (8 bits) |
//! | 1 | epoch: which keys, modulo 256 (8 bits) |
//! | 2 | id of the receiver (64 bits) |
//! | 10 | nonce (64 bits) |
//! | 18 | AES-256-GCM over what is inside (see [`super::inner`]), without associated data |
//! | end - 16 | tag (128 bits) |
//!
//! Nothing in the clear needs to be authenticated by itself: id and epoch choose the key, the nonce is the cipher's, and
//! a change of any of them fails the tag.

use super::{Error, HEAD, put_head};

/// A sealed datagram.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sealed<'a> {
    /// Which keys: the low byte of the epoch's number.
    pub epoch: u8,
    /// The receiver's id.
    pub id: u64,
    /// The nonce.
    pub nonce: u64,
    /// Ciphertext and tag.
    pub body: &'a [u8],
}

impl Sealed<'_> {
    /// First byte.
    pub const KIND: u8 = 5;
    /// Bytes before the ciphertext.
    pub const HEADER: usize = HEAD + 8;
    /// Bytes of the tag.
    pub const TAG: usize = 16;

    pub(super) fn parse(epoch: u8, id: u64, rest: &[u8]) -> Result<Sealed<'_>, Error> {
        let (nonce, body) = rest.split_first_chunk().ok_or(Error::Truncated)?;
        if body.len() < Sealed::TAG {
            return Err(Error::Truncated);
        }
        Ok(Sealed { epoch, id, nonce: u64::from_be_bytes(*nonce), body })
    }

    /// Writes what stands before the ciphertext.
    pub fn put_header(&self, buf: &mut [u8]) {
        put_head(Sealed::KIND, self.epoch, self.id, buf);
        buf[HEAD..Sealed::HEADER].copy_from_slice(&self.nonce.to_be_bytes());
    }
}
