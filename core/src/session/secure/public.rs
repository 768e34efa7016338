//! Public parts of secrets.

use snow::params::{DHChoice, HashChoice};
use snow::resolvers::{CryptoResolver, DefaultResolver};

/// The X25519 public key of a secret.
pub(super) fn public_key(secret: &[u8; 32]) -> [u8; 32] {
    let mut dh = DefaultResolver.resolve_dh(&DHChoice::Curve25519).expect("snow has X25519");
    dh.set(secret);
    dh.pubkey().first_chunk().copied().expect("32 bytes")
}

/// Eight bytes of a hash, by which users compare a secret without showing it.
pub(super) fn fingerprint(secret: &[u8; 32]) -> [u8; 8] {
    let mut hash = DefaultResolver.resolve_hash(&HashChoice::Blake2s).expect("snow has BLAKE2s");
    let mut out = [0; 64];
    hash.reset();
    hash.input(b"thalweg fingerprint");
    hash.input(secret);
    hash.result(&mut out);
    out.first_chunk().copied().expect("32 bytes")
}
