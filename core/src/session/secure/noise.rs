//! Noise (The Noise Protocol Framework, revision 34) with the crate `snow`: NNpsk0 for shared, IK for static keys.
//!
//! X25519, AES-256-GCM and BLAKE2s. AES-GCM, because it is the faster of Noise's two ciphers where a processor has AES
//! instructions, and that of ring, because it keeps its key schedule and uses the widest of them; `benches` has the
//! measurement.

use core::cell::Cell;
use core::fmt;

use snow::params::{CipherChoice, DHChoice, HashChoice};
use snow::resolvers::{CryptoResolver, DefaultResolver, RingResolver};
use snow::types::{Cipher, Dh, Hash, Random};
use snow::{Builder, HandshakeState, StatelessTransportState};
use zeroize::Zeroizing;

use super::entropy::Entropy;
use super::key::{Key, PublicKey};
use crate::session::MAX_DATAGRAM;
use crate::wire::Error;
use crate::wire::secure::VERSION;

/// The role of an end in a handshake, and in the association that results from it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// Sends the hello, and begins the handshakes for new keys.
    Initiator,
    /// Answers the hello and the handshakes.
    Responder,
}

/// Bytes of a hash: HASHLEN of BLAKE2s (Noise, revision 34, §12.7).
pub(super) const HASH: usize = 32;

/// A handshake that an initiator has begun.
pub(super) struct Handshake(HandshakeState);

/// The keys of both directions.
pub(super) struct Keys {
    transport: StatelessTransportState,
    /// The handshake hash, which identifies the handshake and all that it is bound to.
    hash: [u8; HASH],
}

impl Handshake {
    /// Begins a handshake; returns it with its first message.
    pub(super) fn begin(key: &Key, prologue: &[u8], payload: &[u8], entropy: &mut Entropy) -> (Handshake, Vec<u8>) {
        let builder = builder(key, Role::Initiator, prologue, entropy);
        let mut state = builder.build_initiator().expect("the initiator knows the peer");
        let message = write(&mut state, payload);
        (Handshake(state), message)
    }

    /// Reads the second message and returns its payload; a forged one changes nothing.
    pub(super) fn read(&mut self, message: &[u8]) -> Result<Vec<u8>, Error> {
        read(&mut self.0, message)
    }

    /// The keys, once the second message is read.
    pub(super) fn into_keys(self) -> Keys {
        Keys::new(self.0)
    }
}

/// Answers the first message; returns the keys and the second message.
pub(super) fn respond(
    key: &Key,
    prologue: &[u8],
    first: &[u8],
    payload: &[u8],
    entropy: &mut Entropy,
) -> Result<(Keys, Vec<u8>), Error> {
    let builder = builder(key, Role::Responder, prologue, entropy);
    let mut state = builder.build_responder().expect("a responder needs nothing but its key");
    read(&mut state, first)?;
    if let Key::Static { peers, .. } = key {
        let is_peer = peers.iter().any(|peer| state.get_remote_static() == Some(peer));
        if !is_peer {
            return Err(Error::Forged);
        }
    }
    let message = write(&mut state, payload);
    Ok((Keys::new(state), message))
}

impl Keys {
    fn new(state: HandshakeState) -> Keys {
        let hash = state.get_handshake_hash().first_chunk().copied().expect("BLAKE2s has 32 bytes");
        let transport = state.into_stateless_transport_mode().expect("both messages have passed");
        Keys { transport, hash }
    }

    /// The peer's public key, where it has a key of its own.
    pub(super) fn peer(&self) -> Option<PublicKey> {
        self.transport.get_remote_static().and_then(|key| key.first_chunk().copied()).map(PublicKey)
    }

    pub(super) fn hash(&self) -> &[u8; HASH] {
        &self.hash
    }

    /// Seals `plain` into `out`, which must be 16 bytes longer, and returns the length. A nonce must never be used
    /// twice.
    pub(super) fn seal(&self, nonce: u64, plain: &[u8], out: &mut [u8]) -> usize {
        self.transport.write_message(nonce, plain, out).expect("room for the tag")
    }

    /// Opens into `out`, which must be as long as `sealed` without its tag, and returns the length.
    pub(super) fn open(&self, nonce: u64, sealed: &[u8], out: &mut [u8]) -> Result<usize, Error> {
        self.transport.read_message(nonce, sealed, out).map_err(|_| Error::Forged)
    }
}

/// The prologue that binds a first handshake: the protocol, its version, and the initiator's id.
pub(super) fn hello_prologue(id: u64) -> Vec<u8> {
    [b"thalweg hello".as_slice(), &[VERSION], &id.to_be_bytes()].concat()
}

/// The prologue that binds a handshake for new keys: the protocol, its version, the number of the epoch, and the hash
/// of the handshake before.
pub(super) fn rekey_prologue(epoch: u32, before: &[u8; HASH]) -> Vec<u8> {
    [b"thalweg rekey".as_slice(), &[VERSION], &epoch.to_be_bytes(), before].concat()
}

/// Bytes of a first message beyond its payload.
pub(super) fn first_overhead(key: &Key) -> usize {
    // Noise §7.4 and §9: an ephemeral key and a tag; with IK also a static key and its tag.
    match key {
        Key::Shared(_) => 32 + 16,
        Key::Static { .. } => 32 + 16 + 32 + 16,
    }
}

fn builder<'k>(key: &'k Key, role: Role, prologue: &'k [u8], entropy: &mut Entropy) -> Builder<'k> {
    let pattern = match key {
        Key::Shared(_) => "Noise_NNpsk0_25519_AESGCM_BLAKE2s",
        Key::Static { .. } => "Noise_IK_25519_AESGCM_BLAKE2s",
    };
    let resolver = Resolver { seed: Cell::new(Some(Zeroizing::new(entropy.bytes()))) };
    let builder = Builder::with_resolver(pattern.parse().expect("a pattern of Noise"), Box::new(resolver));
    let builder = builder.prologue(prologue).expect("set once");
    match key {
        Key::Shared(secret) => builder.psk(0, secret).expect("set once"),
        Key::Static { secret, peers } => {
            let builder = builder.local_private_key(secret).expect("set once");
            match (role, &peers[..]) {
                (Role::Initiator, [peer, ..]) => builder.remote_public_key(peer).expect("set once"),
                _ => builder,
            }
        }
    }
}

fn write(state: &mut HandshakeState, payload: &[u8]) -> Vec<u8> {
    let mut message = [0; MAX_DATAGRAM];
    let len = state.write_message(payload, &mut message).expect("a message is shorter than a datagram");
    message[..len].to_vec()
}

fn read(state: &mut HandshakeState, message: &[u8]) -> Result<Vec<u8>, Error> {
    let mut payload = [0; MAX_DATAGRAM];
    let len = state.read_message(message, &mut payload).map_err(|_| Error::Forged)?;
    Ok(payload[..len].to_vec())
}

/// snow's own curve and hash and ring's cipher, with randomness that is given.
struct Resolver {
    seed: Cell<Option<Zeroizing<[u8; 32]>>>,
}

impl CryptoResolver for Resolver {
    fn resolve_rng(&self) -> Option<Box<dyn Random>> {
        // Once: a second source from the same seed would draw the same keys.
        Some(Box::new(Entropy::new(*self.seed.take()?)))
    }

    fn resolve_dh(&self, choice: &DHChoice) -> Option<Box<dyn Dh>> {
        DefaultResolver.resolve_dh(choice)
    }

    fn resolve_hash(&self, choice: &HashChoice) -> Option<Box<dyn Hash>> {
        DefaultResolver.resolve_hash(choice)
    }

    fn resolve_cipher(&self, choice: &CipherChoice) -> Option<Box<dyn Cipher>> {
        RingResolver.resolve_cipher(choice)
    }
}

impl fmt::Debug for Handshake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Handshake")
    }
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Keys")
    }
}

#[cfg(test)]
mod vectors;
