//! Secret of the two ends of a session, and the proofs of it.
//!
//! Each end draws a half and gives it to an address that has echoed its token, to nobody else. A datagram of RTCP under
//! the secret ends with a keyed hash of all that is before it ([`crate::wire::proof`]). Nothing is encrypted: the
//! halves can be read on the path between the ends, and nowhere else.

use core::hash::Hasher;
use core::net::SocketAddr;

use siphasher::sip::SipHasher24;

use crate::rng::Rng;
use crate::session::keyed;
use crate::wire::proof;
use crate::wire::rtcp::Full;

/// The end that a datagram comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// The sender of the media.
    Sender,
    /// Its receiver.
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
    /// The keyed hash of `bytes` that come from `from`. The order of the halves depends on the direction, so that
    /// nothing proves anything to the end that has said it.
    fn tag(&self, from: End, bytes: &[u8]) -> u64 {
        let (first, second) = match from {
            End::Sender => (self.sender, self.receiver),
            End::Receiver => (self.receiver, self.sender),
        };
        let mut hasher = SipHasher24::new_with_keys(first, second);
        hasher.write(bytes);
        hasher.finish()
    }

    /// Appends a proof to the `len` bytes of RTCP at the start of `buf`, and returns how long the datagram is with it.
    ///
    /// # Errors
    /// There is no room.
    pub fn prove(&self, from: End, ssrc: u32, buf: &mut [u8], len: usize) -> Result<usize, Full> {
        proof::append(buf, len, ssrc, |bytes| self.tag(from, bytes))
    }

    /// Returns whether a datagram of `from` ends with a proof that is right.
    pub fn proves(&self, from: End, datagram: &[u8]) -> bool {
        // Both are one word, which compares in the same time wherever they differ.
        proof::split(datagram).is_some_and(|(bytes, tag)| core::hint::black_box(self.tag(from, bytes) ^ tag) == 0)
    }
}

/// Source of the halves of one end: each is a keyed hash, so that nothing has to be remembered for an end that may
/// never come back.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Halves {
    keys: (u64, u64),
}

impl Halves {
    pub(super) fn new(rng: &Rng) -> Halves {
        Halves { keys: rng.key("halves") }
    }

    /// The half for the end at `address` that has told `told`: another one for each of its sessions.
    pub(super) fn of(&self, address: SocketAddr, told: &[u64]) -> u64 {
        keyed::hash(self.keys, address, told)
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
    fn a_proof_holds_for_its_secret_and_its_direction_alone() {
        let datagram = proven(End::Sender);
        assert!(SECRET.proves(End::Sender, &datagram));
        assert!(!SECRET.proves(End::Receiver, &datagram), "reflected");
        for other in [Secret { sender: 3, ..SECRET }, Secret { receiver: 3, ..SECRET }] {
            assert!(!other.proves(End::Sender, &datagram));
        }
    }

    proptest! {
        #[test]
        fn no_changed_byte_is_proven(at in 0usize..120, change in 1u8..) {
            let mut datagram = proven(End::Receiver);
            datagram[at] ^= change;
            prop_assert!(!SECRET.proves(End::Receiver, &datagram));
        }

        #[test]
        fn no_datagram_that_was_cut_is_proven(keep in 0usize..120) {
            prop_assert!(!SECRET.proves(End::Receiver, &proven(End::Receiver)[..keep]));
        }
    }
}
