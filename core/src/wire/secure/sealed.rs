//! A sealed datagram of a secure association, kind 5.
//!
//! | offset | field |
//! |---|---|
//! | 0 | kind, 5 (8 bits) |
//! | 1 | epoch: the number of the keys, modulo 256 (8 bits) |
//! | 2 | id of the receiver (64 bits) |
//! | 10 | nonce (64 bits) |
//! | 18 | AES-256-GCM ciphertext of the content (see [`super::inner`]), without associated data |
//! | end - 16 | tag (128 bits) |
//!
//! The header needs no authentication of its own: id and epoch select the key, the nonce is the cipher's, and the tag
//! fails if any of them is changed.

use super::{Error, HEAD, put_head};

/// A sealed datagram.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sealed<'a> {
    /// The low byte of the epoch, which selects the keys.
    pub epoch: u8,
    /// The receiver's id.
    pub id: u64,
    /// The nonce.
    pub nonce: u64,
    /// Ciphertext and tag.
    pub body: &'a [u8],
}

impl Sealed<'_> {
    /// The first byte.
    pub const KIND: u8 = 5;
    /// The number of bytes before the ciphertext.
    pub const HEADER: usize = HEAD + 8;
    /// The length of the tag in bytes.
    pub const TAG: usize = 16;
    /// Bytes that sealing adds to the plaintext: header, kind of content, tag.
    pub const OVERHEAD: usize = Sealed::HEADER + 1 + Sealed::TAG;

    pub(super) fn parse(epoch: u8, id: u64, rest: &[u8]) -> Result<Sealed<'_>, Error> {
        let (nonce, body) = rest.split_first_chunk().ok_or(Error::Truncated)?;
        if body.len() < Sealed::TAG {
            return Err(Error::Truncated);
        }
        Ok(Sealed { epoch, id, nonce: u64::from_be_bytes(*nonce), body })
    }

    /// Writes the header.
    pub fn put_header(&self, buf: &mut [u8]) {
        put_head(Sealed::KIND, self.epoch, self.id, buf);
        buf[HEAD..Sealed::HEADER].copy_from_slice(&self.nonce.to_be_bytes());
    }
}
