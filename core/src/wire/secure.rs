//! The datagrams of a secure association. Each begins with its kind, a version or epoch, and an id; the rest depends on
//! the kind.
//!
//! | kind | from, to | file |
//! |---|---|---|
//! | 1 hello | initiator to responder | [`handshake`] |
//! | 2 cookie | responder to an unknown peer | [`handshake`] |
//! | 3 answer | responder to initiator | [`handshake`] |
//! | 4 refusal of a version | responder to an unknown peer | [`handshake`] |
//! | 5 sealed | either | [`sealed`] |
//! | 6 unknown | responder to an initiator whose association it has forgotten | [`handshake`] |
//!
//! The content of a sealed datagram, once opened, is [`inner`].

pub mod handshake;
pub mod inner;
pub mod sealed;

use super::Error;
use handshake::{Answer, Cookie, Hello, Refusal, Unknown};
use sealed::Sealed;

/// The version of the protocol.
pub const VERSION: u8 = 1;

/// The bytes at the start of every kind, in every version: kind (8 bits), version or epoch (8 bits), id (64 bits).
pub(crate) const HEAD: usize = 10;

/// A datagram, by its kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Datagram<'a> {
    /// The first message of a handshake.
    Hello(Hello<'a>),
    /// A first message of another version.
    Foreign {
        /// Its version.
        version: u8,
        /// The initiator's id.
        id: u64,
    },
    /// The demand to prove that the initiator can be reached.
    Cookie(Cookie),
    /// The second message of a handshake.
    Answer(Answer<'a>),
    /// The reply that the version of the hello is not supported.
    Refusal(Refusal),
    /// Any message after the handshake.
    Sealed(Sealed<'a>),
    /// The reply that the responder has no such association.
    Unknown(Unknown),
}

impl Datagram<'_> {
    /// Parses a datagram.
    ///
    /// # Errors
    /// [`Error::Truncated`], or [`Error::Unknown`] for other kinds, and for other versions than [`VERSION`] of kinds
    /// that only the same version could have requested.
    pub fn parse(bytes: &[u8]) -> Result<Datagram<'_>, Error> {
        let (&[kind, tag], rest) = bytes.split_first_chunk().ok_or(Error::Truncated)?;
        let (id, rest) = rest.split_first_chunk().ok_or(Error::Truncated)?;
        let id = u64::from_be_bytes(*id);
        match (kind, tag) {
            (Sealed::KIND, epoch) => Sealed::parse(epoch, id, rest).map(Datagram::Sealed),
            (Hello::KIND, VERSION) => Hello::parse(id, rest).map(Datagram::Hello),
            (Hello::KIND, _) if bytes.len() < Hello::MIN => Err(Error::Truncated),
            (Hello::KIND, version) => Ok(Datagram::Foreign { version, id }),
            (Cookie::KIND, VERSION) => Cookie::parse(id, rest).map(Datagram::Cookie),
            (Answer::KIND, VERSION) => Ok(Datagram::Answer(Answer { id, noise: rest })),
            (Refusal::KIND, version) => Ok(Datagram::Refusal(Refusal { version, id })),
            (Unknown::KIND, VERSION) => Ok(Datagram::Unknown(Unknown { id })),
            _ => Err(Error::Unknown),
        }
    }

    /// The id of the receiving association; none for messages to an acceptor, or without an id of ours.
    pub fn receiver(&self) -> Option<u64> {
        match *self {
            Datagram::Hello(_) | Datagram::Foreign { .. } | Datagram::Unknown(_) => None,
            Datagram::Cookie(Cookie { id, .. })
            | Datagram::Answer(Answer { id, .. })
            | Datagram::Refusal(Refusal { id, .. })
            | Datagram::Sealed(Sealed { id, .. }) => Some(id),
        }
    }
}

fn put_head(kind: u8, tag: u8, id: u64, buf: &mut [u8]) {
    buf[..2].copy_from_slice(&[kind, tag]);
    buf[2..HEAD].copy_from_slice(&id.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn datagrams_round_trip(id: u64, cookie: u64, nonce: u64, version: u8, body in prop::collection::vec(any::<u8>(), 16..1400)) {
            let mut buf = [0; 1500];
            let hello = Hello { id, cookie, noise: &body };
            let len = hello.emit(&mut buf);
            let unless_short = |datagram| if len < Hello::MIN { Err(Error::Truncated) } else { Ok(datagram) };
            prop_assert_eq!(Datagram::parse(&buf[..len]), unless_short(Datagram::Hello(hello)));
            buf[1] = VERSION + 1;
            let foreign = Datagram::Foreign { version: VERSION + 1, id };
            prop_assert_eq!(Datagram::parse(&buf[..len]), unless_short(foreign));

            let cookie = Cookie { id, cookie };
            let len = cookie.emit(&mut buf);
            prop_assert_eq!(Datagram::parse(&buf[..len]), Ok(Datagram::Cookie(cookie)));

            let answer = Answer { id, noise: &body };
            let len = answer.emit(&mut buf);
            prop_assert_eq!(Datagram::parse(&buf[..len]), Ok(Datagram::Answer(answer)));

            let refusal = Refusal { version, id };
            let len = refusal.emit(&mut buf);
            prop_assert_eq!(Datagram::parse(&buf[..len]), Ok(Datagram::Refusal(refusal)));

            let unknown = Unknown { id };
            let len = unknown.emit(&mut buf);
            prop_assert_eq!(Datagram::parse(&buf[..len]), Ok(Datagram::Unknown(unknown)));

            let sealed = Sealed { epoch: version, id, nonce, body: &body };
            sealed.put_header(&mut buf);
            buf[Sealed::HEADER..][..body.len()].copy_from_slice(&body);
            let len = Sealed::HEADER + body.len();
            prop_assert_eq!(Datagram::parse(&buf[..len]), Ok(Datagram::Sealed(sealed)));
        }

        #[test]
        fn arbitrary_bytes_do_not_panic(mut bytes: Vec<u8>, kind in 0..8u8, version in 0..3u8) {
            for (byte, value) in bytes.iter_mut().zip([kind, version]) {
                *byte = value;
            }
            if let Ok(datagram) = Datagram::parse(&bytes) {
                prop_assert!(bytes.len() >= HEAD);
                prop_assert_eq!(datagram.receiver().is_none(), [Hello::KIND, Unknown::KIND].contains(&kind));
            }
        }
    }
}
