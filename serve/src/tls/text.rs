//! Digests in the forms that people and programs compare.

/// Formats as pairs of digits with colons between, as browsers show them.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02X}")).collect::<Vec<_>>().join(":")
}

/// Formats as base64 with padding (RFC 4648 §4).
pub(super) fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for three in bytes.chunks(3) {
        let bits = three.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - three.len()));
        for place in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * place)) as usize & 63];
            text.push(if place <= three.len() { char::from(digit) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 4648 §10.
    #[test]
    fn base64_matches_the_vectors_of_rfc_4648() {
        let expected = ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"];
        for (len, expected) in expected.into_iter().enumerate() {
            assert_eq!(base64(&b"foobar"[..len]), expected);
        }
        assert_eq!((base64(&[0xfb, 0xff]), hex(&[0, 0xaf, 16])), ("+/8=".to_owned(), "00:AF:10".to_owned()));
    }
}
