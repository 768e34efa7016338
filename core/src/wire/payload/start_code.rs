//! Start codes: 00 00 01, which both H.264 (Annex B) and MPEG video have, and in no other place.

/// The length of a start code's prefix.
pub(super) const PREFIX: [u8; 3] = [0, 0, 1];

/// The offset of the first start code at or after `from`.
pub fn find(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    while let Some(&[first, second, third]) = bytes.get(at..at + 3) {
        match (first, second, third) {
            (0, 0, 1) => return Some(at),
            // No start code has such a byte as its third, second or first one.
            (_, _, 2..) => at += 3,
            _ => at += 1,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn first_start_code_is_found(bytes in prop::collection::vec(0u8..4, 0..40), from in 0usize..50) {
            let naive = (from..bytes.len().saturating_sub(2)).find(|&at| bytes[at..at + 3] == PREFIX);
            prop_assert_eq!(find(&bytes, from), naive);
        }
    }
}
