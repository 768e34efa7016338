//! The secret of the two ends of a session, and the proofs of its possession.
//!
//! Each end draws one half and gives it only to an address that has echoed its token. An RTCP datagram under the secret
//! ends with a keyed hash of all bytes before it ([`crate::wire::proof`]). Nothing is encrypted: an attacker on the
//! path between the ends can read the halves, one off the path cannot.

use core::hash::Hasher;
use core::net::SocketAddr;

use siphasher::sip::SipHasher24;

use crate::rng::Rng;
use crate::session::path::tokens::Tokens;
use crate::wire::proof;
use crate::wire::rtcp::Full;

/// The end that a datagram comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// The sender of the media.
    Sender,
    /// The receiver of the media.
    Receiver,
}

/// The secret of one session, 128 bits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Secret {
    /// The half that the sender has drawn.
    pub sender: u64,
    /// The half that the receiver has drawn.
    pub receiver: u64,
}

impl core::fmt::Debug for Secret {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Secret")
    }
}

impl Secret {
    /// The keyed hash of `bytes` sent by `from`. The order of the halves depends on the direction, so that a reflected
    /// datagram proves nothing to the end that sent it.
    fn tag(&self, from: End, bytes: &[u8]) -> u64 {
        let (first, interval) = match from {
            End::Sender => (self.sender, self.receiver),
            End::Receiver => (self.receiver, self.sender),
        };
        let mut hasher = SipHasher24::new_with_keys(first, interval);
        hasher.write(bytes);
        hasher.finish()
    }

    /// Appends a proof to the `len` bytes of RTCP at the start of `buf`, and returns the length of the whole datagram.
    ///
    /// # Errors
    /// The buffer is too short.
    pub fn prove(&self, from: End, ssrc: u32, buf: &mut [u8], len: usize) -> Result<usize, Full> {
        proof::append(buf, len, ssrc, |bytes| self.tag(from, bytes))
    }

    /// Returns whether a datagram sent by `from` ends with a valid proof.
    pub fn proves(&self, from: End, datagram: &[u8]) -> bool {
        // Both are one word, so that the comparison takes the same time wherever they differ.
        proof::split(datagram).is_some_and(|(bytes, tag)| core::hint::black_box(self.tag(from, bytes) ^ tag) == 0)
    }
}

/// The source of one end's halves. Each half is made like a token, so that no state is kept for a peer that may never
/// return.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Halves {
    tokens: Tokens,
}

impl Halves {
    pub(super) fn new(rng: &Rng) -> Halves {
        Halves { tokens: Tokens::new(rng.key("halves")) }
    }

    /// The half for the peer at `address` that has sent these numbers; it differs for each of the peer's sessions.
    pub(super) fn of(&self, address: SocketAddr, reported: &[u64]) -> u64 {
        self.tokens.of(address, reported)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SECRET: Secret = Secret { sender: 1, receiver: 2 };

    fn proven(from: End) -> Vec<u8> {
        let mut buf = [0x81; 200];
        let len = SECRET.prove(from, 7, &mut buf, 100).unwrap();
        buf[..len].to_vec()
    }

    #[test]
    fn proof_is_valid_only_for_its_secret_and_direction() {
        let datagram = proven(End::Sender);
        assert!(SECRET.proves(End::Sender, &datagram));
        assert!(!SECRET.proves(End::Receiver, &datagram), "reflected");
        for other in [Secret { sender: 3, ..SECRET }, Secret { receiver: 3, ..SECRET }] {
            assert!(!other.proves(End::Sender, &datagram));
        }
    }

    proptest! {
        #[test]
        fn changed_datagram_fails_its_proof(at in 0usize..120, change in 1u8..) {
            let mut datagram = proven(End::Receiver);
            datagram[at] ^= change;
            prop_assert!(!SECRET.proves(End::Receiver, &datagram));
        }

        #[test]
        fn truncated_datagram_fails_its_proof(keep in 0usize..120) {
            prop_assert!(!SECRET.proves(End::Receiver, &proven(End::Receiver)[..keep]));
        }
    }
}
