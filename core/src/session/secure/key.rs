//! Keys, which say who may associate with whom, and the file that holds them.
//!
//! ```text
//! # a comment
//! thalweg-key 1 shared
//! secret 64 hexadecimal digits
//! ```
//!
//! or, where each side has a key of its own (X25519, RFC 7748),
//!
//! ```text
//! thalweg-key 1 static
//! secret 64 hexadecimal digits
//! peer 64 hexadecimal digits
//! ```
//!
//! with a line `peer` for each key that is accepted.

#[cfg(test)]
mod tests;

use core::fmt::{self, Write};

use zeroize::{Zeroize, Zeroizing};

use super::entropy::Entropy;
use super::public::{fingerprint, public_key};

/// Proof of an identity. The owner of the secret has the identity: no `Debug` shows it, and it is wiped from memory
/// when it is dropped.
#[derive(Clone, PartialEq, Eq)]
pub enum Key {
    /// Both ends have the same secret.
    Shared([u8; 32]),
    /// Each end has a secret of its own, and knows the other end's public key.
    Static {
        /// X25519 private key.
        secret: [u8; 32],
        /// X25519 public keys: for an initiator that of the responder, for a responder those of all accepted
        /// initiators.
        peers: Vec<[u8; 32]>,
    },
}

/// An X25519 public key, which is no secret; written as in a `peer` line, 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct PublicKey(pub [u8; 32]);

/// First lines of key files: of a shared key, and of one end's own key.
const BEGINNINGS: [&str; 2] = ["thalweg-key 1 shared", "thalweg-key 1 static"];

/// The reason why a key file is invalid.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum KeyError {
    /// The file is empty.
    Empty,
    /// The first line is a part of that of a key file.
    CutShort,
    /// The file does not begin with `thalweg-key`.
    NoKeyFile,
    /// The file is of another version or kind, or has an unknown line.
    UnknownLine {
        /// Counted from one.
        line: usize,
    },
    /// A value is not 64 hexadecimal digits.
    Digits {
        /// Counted from one.
        line: usize,
        /// The number of characters found.
        found: usize,
    },
    /// No secret, or more than one.
    Secrets {
        /// The number of secrets found.
        found: usize,
    },
    /// A static key without the one peer, or the peers, that its role needs.
    Peers {
        /// The number of peers found.
        found: usize,
    },
}

impl Key {
    /// A new secret for both ends.
    pub fn shared(entropy: &mut Entropy) -> Key {
        Key::Shared(entropy.bytes())
    }

    /// A new key of one end's own.
    pub fn own(entropy: &mut Entropy, peers: Vec<[u8; 32]>) -> Key {
        Key::Static { secret: entropy.bytes(), peers }
    }

    /// Reads a key file.
    ///
    /// # Errors
    /// [`KeyError`], whose text is one line.
    pub fn parse(text: &str) -> Result<Key, KeyError> {
        let mut lines = text.lines().enumerate().map(|(at, line)| (at + 1, line.trim()));
        let mut lines = lines.by_ref().filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
        if text.trim().is_empty() {
            return Err(KeyError::Empty);
        }
        let Some((line, first)) = lines.next() else { return Err(KeyError::NoKeyFile) };
        let is_static = match first.split_whitespace().collect::<Vec<_>>()[..] {
            ["thalweg-key", "1", "shared"] => false,
            ["thalweg-key", "1", "static"] => true,
            _ if BEGINNINGS.iter().any(|whole| whole.starts_with(first)) => return Err(KeyError::CutShort),
            ["thalweg-key", ..] => return Err(KeyError::UnknownLine { line }),
            _ => return Err(KeyError::NoKeyFile),
        };
        // Capacity for more than there should be: a vector that grows leaves copies behind.
        let (mut secrets, mut peers) = (Zeroizing::new(Vec::with_capacity(4)), Vec::new());
        for (line, text) in lines {
            match text.split_once(char::is_whitespace) {
                Some(("secret", digits)) if secrets.len() < 4 => secrets.push(digits_of(line, digits.trim())?),
                Some(("peer", digits)) if is_static => peers.push(digits_of(line, digits.trim())?),
                _ => return Err(KeyError::UnknownLine { line }),
            }
        }
        match secrets[..] {
            [secret] if is_static => Ok(Key::Static { secret, peers }),
            [secret] => Ok(Key::Shared(secret)),
            _ => Err(KeyError::Secrets { found: secrets.len() }),
        }
    }

    /// Writes a key file.
    pub fn emit(&self) -> Zeroizing<String> {
        let (kind, secret, peers) = match self {
            Key::Shared(secret) => (BEGINNINGS[0], secret, &[][..]),
            Key::Static { secret, peers } => (BEGINNINGS[1], secret, &peers[..]),
        };
        // All of it at once: a string that grows leaves copies behind.
        let mut text = Zeroizing::new(String::with_capacity(kind.len() + 128 + 80 * peers.len()));
        for (name, digits) in
            [(kind, None), ("secret", Some(secret))].into_iter().chain(peers.iter().map(|peer| ("peer", Some(peer))))
        {
            text.push_str(name);
            if let Some(digits) = digits {
                text.push(' ');
                write_hex(&mut text, digits);
            }
            text.push('\n');
        }
        text
    }

    /// The public part: of a static key the line that has it accepted elsewhere, of a shared key a fingerprint.
    pub fn public(&self) -> String {
        match self {
            Key::Shared(secret) => format!("fingerprint {}", hex(&fingerprint(secret))),
            Key::Static { secret, .. } => format!("peer {}", PublicKey(public_key(secret))),
        }
    }

    /// Reads 64 hexadecimal digits.
    ///
    /// # Errors
    /// [`KeyError::Digits`], at line one.
    pub fn public_from(digits: &str) -> Result<[u8; 32], KeyError> {
        digits_of(1, digits)
    }

    /// Checks that an initiator can use the key: a static one must have exactly one peer.
    pub(super) fn check_initiator(&self) -> Result<(), KeyError> {
        match self {
            Key::Static { peers, .. } if peers.len() != 1 => Err(KeyError::Peers { found: peers.len() }),
            _ => Ok(()),
        }
    }

    /// Checks that a responder can use the key: a static one must have a peer.
    pub(super) fn check_responder(&self) -> Result<(), KeyError> {
        match self {
            Key::Static { peers, .. } if peers.is_empty() => Err(KeyError::Peers { found: 0 }),
            _ => Ok(()),
        }
    }
}

impl Drop for Key {
    fn drop(&mut self) {
        let (Key::Shared(secret) | Key::Static { secret, .. }) = self;
        secret.zeroize();
    }
}

fn hex(bytes: &[u8]) -> String {
    let mut text = String::new();
    write_hex(&mut text, bytes);
    text
}

fn write_hex(text: &mut String, bytes: &[u8]) {
    for byte in bytes {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
}

fn digits_of(line: usize, digits: &str) -> Result<[u8; 32], KeyError> {
    let error = KeyError::Digits { line, found: digits.chars().count() };
    let (pairs, []) = digits.as_bytes().as_chunks::<2>() else { return Err(error) };
    let mut bytes = [0; 32];
    if pairs.len() != bytes.len() {
        return Err(error);
    }
    for (byte, pair) in bytes.iter_mut().zip(pairs) {
        let digit = |at: usize| char::from(pair[at]).to_digit(16);
        let (Some(high), Some(low)) = (digit(0), digit(1)) else { return Err(error) };
        *byte = (high << 4 | low) as u8;
    }
    Ok(bytes)
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({})", self.public())
    }
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KeyError::Empty => f.write_str("the file is empty"),
            KeyError::CutShort => f.write_str("the file ends within its first line; is it truncated?"),
            KeyError::NoKeyFile => f.write_str("not a key file: it does not begin with `thalweg-key 1`"),
            KeyError::UnknownLine { line } => write!(f, "line {line} is not valid in a key file"),
            KeyError::Digits { line, found: 64 } => {
                write!(f, "line {line} has characters that are not hexadecimal digits")
            }
            KeyError::Digits { line, found } => {
                write!(f, "line {line} has {found} digits, expected 64; is the file truncated?")
            }
            KeyError::Secrets { found: 0 } => f.write_str("`secret` is missing; is the file truncated?"),
            KeyError::Secrets { found } => write!(f, "expected one `secret`, found {found}"),
            KeyError::Peers { found: 0 } => {
                f.write_str("`peer` is missing; add the line that keygen printed at the peer")
            }
            KeyError::Peers { found } => write!(f, "a client needs exactly one `peer`, found {found}"),
        }
    }
}

impl std::error::Error for KeyError {}
