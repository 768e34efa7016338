//! Unpredictable randomness, as a value.
//!
//! D. J. Bernstein, "Fast-key-erasure random-number generators", 2017: the first 32 bytes of each stretch of an
//! AES-256-CTR key stream are the next key, so that earlier output cannot be computed from the state that remains. The
//! seed is 256 bits, from the operating system on sockets and from anywhere in tests; [`crate::rng::Rng`], whose seed
//! has 64 bits and whose output reveals its state, is no source of keys.

use core::fmt;

use snow::params::CipherChoice;
use snow::resolvers::{CryptoResolver, RingResolver};
use snow::types::{Cipher, Random};
use zeroize::Zeroizing;

/// Bytes of an AES-256 key.
const KEY: usize = 32;
/// The bytes of a stretch. Ours: the next key and two more keys, for one call of the cipher.
const STRETCH: usize = KEY + 64;
/// Bytes of the tag of AES-GCM (NIST SP 800-38D), which is discarded.
const TAG: usize = 16;

/// A source of keys, ids and tokens. Not to be cloned: two equal sources would draw the same keys.
pub struct Entropy {
    cipher: Box<dyn Cipher>,
}

impl Entropy {
    /// A source that depends on `seed` alone.
    pub fn new(seed: [u8; KEY]) -> Entropy {
        let seed = Zeroizing::new(seed);
        let mut cipher = RingResolver.resolve_cipher(&CipherChoice::AESGCM).expect("ring has AES-GCM");
        cipher.set(&seed);
        Entropy { cipher }
    }

    /// An independent source, seeded by this one.
    pub fn fork(&mut self) -> Entropy {
        Entropy::new(self.bytes())
    }

    /// Random bytes.
    pub fn bytes<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        self.fill(&mut bytes);
        bytes
    }

    /// 64 random bits.
    pub fn u64(&mut self) -> u64 {
        u64::from_ne_bytes(self.bytes())
    }

    fn fill(&mut self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(STRETCH - KEY) {
            let mut stream = Zeroizing::new([0; STRETCH + TAG]);
            // Each key makes one stretch, so that one nonce suffices.
            self.cipher.encrypt(0, &[], &[0; STRETCH], &mut stream[..]);
            let (key, rest) = stream.split_first_chunk().expect("a stretch begins with a key");
            self.cipher.set(key);
            chunk.copy_from_slice(&rest[..chunk.len()]);
        }
    }
}

impl Random for Entropy {
    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), snow::Error> {
        self.fill(bytes);
        Ok(())
    }
}

impl fmt::Debug for Entropy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Entropy")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_draw_is_the_key_stream_of_aes_in_counter_mode() {
        // The Galois/Counter Mode of Operation (McGrew and Viega), test case 14: key, nonce and plaintext of zeros; the
        // first 16 bytes of the stream are ciphertext, and here the beginning of the next key.
        let cipher = {
            let mut cipher = RingResolver.resolve_cipher(&CipherChoice::AESGCM).unwrap();
            cipher.set(&[0; KEY]);
            cipher
        };
        let mut out = [0; 32];
        cipher.encrypt(0, &[], &[0; 16], &mut out);
        assert_eq!(out[..16], 0xcea7_403d_4d60_6b6e_074e_c5d3_baf3_9d18_u128.to_be_bytes());
    }

    #[test]
    fn no_two_draws_and_no_two_sources_are_alike() {
        let mut ours = Entropy::new([1; KEY]);
        let mut child = ours.fork();
        let mut again = Entropy::new([1; KEY]);
        assert_eq!(again.fork().u64(), Entropy::new([1; KEY]).fork().u64());
        let draws: Vec<u64> = (0..1000).map(|_| ours.u64()).chain((0..1000).map(|_| child.u64())).collect();
        let mut distinct = draws.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), draws.len());
        let long: [u8; 200] = again.bytes();
        assert_ne!(long[..64], long[64..128]);
    }
}
