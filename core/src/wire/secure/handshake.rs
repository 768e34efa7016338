//! The handshake of a secure association, unencrypted except for the parts that Noise seals (The Noise Protocol
//! Framework, revision 34).
//!
//! Hello, kind 1:
//!
//! | offset | field |
//! |---|---|
//! | 0 | kind, 1 (8 bits) |
//! | 1 | version, 1 (8 bits) |
//! | 2 | id of the initiator (64 bits) |
//! | 10 | cookie of the responder, 0 if none was received (64 bits) |
//! | 18 | first Noise message; its payload is zeros, so that the datagram has at least 256 bytes |
//!
//! Cookie, kind 2:
//!
//! | offset | field |
//! |---|---|
//! | 0 | kind, 2, and version, 1 (8 bits each) |
//! | 2 | id of the hello (64 bits) |
//! | 10 | cookie, to be echoed in the same hello (64 bits) |
//!
//! Answer, kind 3:
//!
//! | offset | field |
//! |---|---|
//! | 0 | kind, 3, and version, 1 (8 bits each) |
//! | 2 | id of the hello (64 bits) |
//! | 10 | second Noise message; its payload is the id of the responder (64 bits) |
//!
//! Refusal, kind 4:
//!
//! | offset | field |
//! |---|---|
//! | 0 | kind, 4 (8 bits) |
//! | 1 | version that the responder speaks (8 bits) |
//! | 2 | id of the hello (64 bits) |
//!
//! Unknown, kind 6, in reply to a sealed datagram of an unknown association:
//!
//! | offset | field |
//! |---|---|
//! | 0 | kind, 6, and version, 1 (8 bits each) |
//! | 2 | id that the sealed datagram named (64 bits) |
//!
//! Every reply to an unauthenticated peer is shorter than the shortest hello, which rules out amplification. The
//! minimum length of a hello, and the first ten bytes of hello and refusal, are the same in every version.

use super::{Error, HEAD, VERSION, put_head};

/// The first message of a handshake.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hello<'a> {
    /// The id of the initiator.
    pub id: u64,
    /// The responder's cookie; zero if none was received.
    pub cookie: u64,
    /// The first Noise message.
    pub noise: &'a [u8],
}

/// The demand to repeat the hello with this cookie.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cookie {
    /// The id of the hello.
    pub id: u64,
    /// A value that only the address of the hello receives.
    pub cookie: u64,
}

/// The second message of a handshake.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Answer<'a> {
    /// The id of the hello.
    pub id: u64,
    /// The second Noise message.
    pub noise: &'a [u8],
}

/// The reply to a hello of an unsupported version.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Refusal {
    /// The supported version.
    pub version: u8,
    /// The id of the hello.
    pub id: u64,
}

/// The reply that the responder has no association with this id. Any host on the path can forge it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unknown {
    /// The id in the sealed datagram.
    pub id: u64,
}

impl Unknown {
    /// The first byte.
    pub const KIND: u8 = 6;

    /// Writes the datagram and returns its length, which is less than that of any sealed datagram.
    pub fn emit(&self, buf: &mut [u8]) -> usize {
        put_head(Unknown::KIND, VERSION, self.id, buf);
        HEAD
    }
}

impl Hello<'_> {
    /// The first byte.
    pub const KIND: u8 = 1;
    /// The number of bytes before the Noise message.
    pub const HEADER: usize = HEAD + 8;
    /// The length of the shortest hello accepted.
    pub const MIN: usize = 256;

    pub(super) fn parse(id: u64, rest: &[u8]) -> Result<Hello<'_>, Error> {
        if rest.len() < Hello::MIN - HEAD {
            return Err(Error::Truncated);
        }
        let (cookie, noise) = rest.split_first_chunk().ok_or(Error::Truncated)?;
        Ok(Hello { id, cookie: u64::from_be_bytes(*cookie), noise })
    }

    /// Writes the datagram and returns its length.
    pub fn emit(&self, buf: &mut [u8]) -> usize {
        put_head(Hello::KIND, VERSION, self.id, buf);
        buf[HEAD..Hello::HEADER].copy_from_slice(&self.cookie.to_be_bytes());
        buf[Hello::HEADER..][..self.noise.len()].copy_from_slice(self.noise);
        Hello::HEADER + self.noise.len()
    }
}

impl Cookie {
    /// The first byte.
    pub const KIND: u8 = 2;

    pub(super) fn parse(id: u64, rest: &[u8]) -> Result<Cookie, Error> {
        let (cookie, _) = rest.split_first_chunk().ok_or(Error::Truncated)?;
        Ok(Cookie { id, cookie: u64::from_be_bytes(*cookie) })
    }

    /// Writes the datagram and returns its length.
    pub fn emit(&self, buf: &mut [u8]) -> usize {
        put_head(Cookie::KIND, VERSION, self.id, buf);
        buf[HEAD..HEAD + 8].copy_from_slice(&self.cookie.to_be_bytes());
        HEAD + 8
    }
}

impl Answer<'_> {
    /// The first byte.
    pub const KIND: u8 = 3;

    /// Writes the datagram and returns its length.
    pub fn emit(&self, buf: &mut [u8]) -> usize {
        put_head(Answer::KIND, VERSION, self.id, buf);
        buf[HEAD..][..self.noise.len()].copy_from_slice(self.noise);
        HEAD + self.noise.len()
    }
}

impl Refusal {
    /// The first byte.
    pub const KIND: u8 = 4;

    /// Writes the datagram and returns its length.
    pub fn emit(&self, buf: &mut [u8]) -> usize {
        put_head(Refusal::KIND, self.version, self.id, buf);
        HEAD
    }
}
