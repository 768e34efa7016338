//! Who may speak to whom: keys, and the file that holds them.
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
//! with a line `peer` for each key that is let in.

use core::fmt::{self, Write};

use zeroize::{Zeroize, Zeroizing};

use super::entropy::Entropy;
use super::noise;

/// Proof of an identity. The owner of the secret has the identity: no `Debug` shows it, and it is wiped from memory
/// when it is dropped.
#[derive(Clone, PartialEq, Eq)]
pub enum Key {
    /// Both sides have the same secret.
    Shared([u8; 32]),
    /// Each side has a secret of its own, and knows the other's public key.
    Static {
        /// X25519 private key.
        secret: [u8; 32],
        /// X25519 public keys: for an initiator that of the responder, for a responder all that it lets in.
        peers: Vec<[u8; 32]>,
    },
}

/// An X25519 public key, which anybody may know; written as in a `peer` line, 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct PublicKey(pub [u8; 32]);

/// How key files begin: of a shared key, and of one side's own.
const BEGINNINGS: [&str; 2] = ["thalweg-key 1 shared", "thalweg-key 1 static"];

/// Why a key file is no good.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum KeyError {
    /// There is nothing in it.
    Empty,
    /// Its first line is a part of that of a key file.
    CutShort,
    /// It does not begin with `thalweg-key`.
    NoKeyFile,
    /// It is of another version, or kind, or has a line that is unknown.
    UnknownLine {
        /// Counted from one.
        line: usize,
    },
    /// A value is not 64 hexadecimal digits.
    Digits {
        /// Counted from one.
        line: usize,
        /// How many characters there are.
        found: usize,
    },
    /// There is no secret, or a second one.
    Secrets {
        /// How many there are.
        found: usize,
    },
    /// A static key without the peer that it is needed for.
    Peers {
        /// How many there are.
        found: usize,
    },
}

impl Key {
    /// A new secret for both sides.
    pub fn shared(entropy: &mut Entropy) -> Key {
        Key::Shared(entropy.bytes())
    }

    /// A new key of one side's own.
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
        // Room for more than there should be: what grows leaves copies behind.
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

    /// The key file.
    pub fn emit(&self) -> Zeroizing<String> {
        let (kind, secret, peers) = match self {
            Key::Shared(secret) => (BEGINNINGS[0], secret, &[][..]),
            Key::Static { secret, peers } => (BEGINNINGS[1], secret, &peers[..]),
        };
        // All of it at once: what grows leaves copies behind.
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

    /// What may be shown: of a static key the line that lets it in elsewhere, of a shared one a fingerprint.
    pub fn public(&self) -> String {
        match self {
            Key::Shared(secret) => format!("fingerprint {}", hex(&noise::fingerprint(secret))),
            Key::Static { secret, .. } => format!("peer {}", PublicKey(noise::public(secret))),
        }
    }

    /// Reads 64 hexadecimal digits.
    ///
    /// # Errors
    /// [`KeyError::Digits`], at line one.
    pub fn public_from(digits: &str) -> Result<[u8; 32], KeyError> {
        digits_of(1, digits)
    }

    /// Whether an initiator can use it: it must know whom to speak to.
    pub(super) fn check_initiator(&self) -> Result<(), KeyError> {
        match self {
            Key::Static { peers, .. } if peers.len() != 1 => Err(KeyError::Peers { found: peers.len() }),
            _ => Ok(()),
        }
    }

    /// Whether a responder can use it: it must let somebody in.
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
            KeyError::Empty => f.write_str("it is empty"),
            KeyError::CutShort => f.write_str("it ends within its first line: cut short?"),
            KeyError::NoKeyFile => f.write_str("no key file: it does not begin with `thalweg-key 1`"),
            KeyError::UnknownLine { line } => write!(f, "line {line} is not one of a key file"),
            KeyError::Digits { line, found: 64 } => {
                write!(f, "line {line} has characters that are no hexadecimal digits")
            }
            KeyError::Digits { line, found } => {
                write!(f, "line {line} has {found} digits and should have 64: cut short?")
            }
            KeyError::Secrets { found: 0 } => f.write_str("there is no `secret`: cut short?"),
            KeyError::Secrets { found } => write!(f, "there is more than one `secret`: {found}"),
            KeyError::Peers { found: 0 } => {
                f.write_str("there is no `peer`: add the line that the other side's keygen printed")
            }
            KeyError::Peers { found } => write!(f, "whoever connects speaks to one `peer`, and there are {found}"),
        }
    }
}

impl std::error::Error for KeyError {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn keys() -> [Key; 2] {
        let mut entropy = Entropy::new([3; 32]);
        [Key::shared(&mut entropy), Key::own(&mut entropy, vec![[1; 32], [0xab; 32]])]
    }

    #[test]
    fn a_key_comes_back_from_its_file_whatever_is_written_between() {
        for key in keys() {
            let text = key.emit();
            assert_eq!(Key::parse(&text), Ok(key.clone()));
            assert_eq!(Key::parse(&format!("# mine\n\n  {}", text.replace('\n', "  \r\n"))), Ok(key));
        }
    }

    #[test]
    fn a_file_that_is_cut_anywhere_within_a_line_is_told_from_a_whole_one() {
        for key in keys() {
            let text = key.emit();
            for at in 0..text.len() - 1 {
                let cut = &text[..at];
                // Only a cut behind a whole peer leaves a key file; it lets in fewer.
                let is_whole = Key::parse(cut).is_ok_and(|key| text.starts_with(key.emit().trim_end()));
                let error = Key::parse(cut).map_err(|error| error.to_string());
                assert!(is_whole || error.as_ref().is_err_and(|line| !line.contains('\n')), "{at}: {error:?}");
                assert!(!is_whole || cut.trim_end().len() >= 20 + 72, "{at}");
                let is_short = error.is_err_and(|line| line == "it is empty" || line.ends_with("cut short?"));
                assert!(is_whole || is_short || cut.len() > 20, "{at}: {cut}");
            }
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        let secret = "0".repeat(64);
        let told = |text: &str| Key::parse(text).unwrap_err().to_string();
        assert_eq!(told("-----BEGIN OPENSSH PRIVATE KEY-----"), "no key file: it does not begin with `thalweg-key 1`");
        assert_eq!(told("thalweg-key 2 shared"), "line 1 is not one of a key file");
        assert_eq!(told("thalweg-key 1 shared"), "there is no `secret`: cut short?");
        assert_eq!(told("thalweg-key 1 shared\nsecret 12"), "line 2 has 2 digits and should have 64: cut short?");
        assert_eq!(
            told(&format!("thalweg-key 1 shared\nsecret {secret}\npeer {secret}")),
            "line 3 is not one of a key file"
        );
        let odd = secret.replacen('0', "g", 1);
        assert_eq!(
            told(&format!("thalweg-key 1 shared\nsecret {odd}")),
            "line 2 has characters that are no hexadecimal digits"
        );
    }

    #[test]
    fn the_public_part_is_that_of_rfc_7748() {
        // RFC 7748 §6.1, Alice.
        let secret = digits_of(1, "77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a").unwrap();
        let public = "peer 8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a";
        assert_eq!(Key::Static { secret, peers: vec![] }.public(), public);
    }

    #[test]
    fn nobody_prints_a_secret() {
        for key in keys() {
            let secret = match &key {
                Key::Shared(secret) | Key::Static { secret, .. } => hex(secret),
            };
            assert!(!format!("{key:?}").contains(&secret));
        }
    }

    proptest! {
        #[test]
        fn any_text_is_a_key_or_one_line_that_says_why_not(
            text in r"\PC*|thalweg-key 1 (shared|static)(\n *(secret|peer|#)? [0-9a-fA-F]{0,66})*",
        ) {
            match Key::parse(&text) {
                Ok(key) => prop_assert_eq!(Key::parse(&key.emit()), Ok(key)),
                Err(error) => prop_assert_eq!(error.to_string().lines().count(), 1),
            }
        }
    }
}
