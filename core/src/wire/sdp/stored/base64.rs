//! Base 64 (RFC 4648 §4), as `sprop-parameter-sets` has it.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The encoding of `bytes`, padded.
pub(super) fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let value = (0..3).fold(0, |value, nth| value << 8 | u32::from(group.get(nth).copied().unwrap_or(0)));
        for nth in 0..4 {
            let symbol = ALPHABET[(value >> (18 - 6 * nth) & 63) as usize];
            text.push(if nth <= group.len() { symbol.into() } else { '=' });
        }
    }
    text
}

/// The bytes of `text`, padded or not; none if it is no encoding.
pub(super) fn decode(text: &str) -> Option<Vec<u8>> {
    let symbols = text.trim_end_matches('=').as_bytes();
    let mut bytes = Vec::with_capacity(symbols.len() / 4 * 3 + 2);
    for group in symbols.chunks(4) {
        let mut value = 0;
        for nth in 0..4 {
            let symbol = group.get(nth).copied().unwrap_or(b'A');
            value = value << 6 | ALPHABET.iter().position(|&other| other == symbol)? as u32;
        }
        // One symbol has less than a byte.
        let len = group.len().checked_sub(1).filter(|len| *len > 0)?;
        bytes.extend(&value.to_be_bytes()[1..=len]);
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn test_vectors_of_rfc_4648() {
        let vectors =
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("foobar", "Zm9vYmFy")];
        for (plain, encoded) in vectors {
            assert_eq!(encode(plain.as_bytes()), encoded);
            assert_eq!(decode(encoded).as_deref(), Some(plain.as_bytes()));
        }
        assert_eq!(decode("Zg"), Some(vec![b'f']));
        assert_eq!(decode("Z"), None);
        assert_eq!(decode("Zm9 v"), None);
    }

    proptest! {
        #[test]
        fn bytes_round_trip(bytes: Vec<u8>) {
            prop_assert_eq!(decode(&encode(&bytes)), Some(bytes));
        }
    }
}
