//! Start codes: 00 00 01, in H.264 (ITU-T H.264 Annex B) and MPEG-1/2 video (ISO/IEC 13818-2 §6.2.1).

/// The place of the first start code at or after `from`.
pub(super) fn find(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    while let Some(&[first, second, third]) = bytes.get(at..at + 3).and_then(|three| three.first_chunk()) {
        match third {
            0 => at += 1,
            1 if first == 0 && second == 0 => return Some(at),
            _ => at += 3,
        }
    }
    None
}

/// The length of a NAL unit without the zero bytes that may follow it: it never ends with one (§7.4.1).
pub(super) fn trimmed(unit: &[u8]) -> usize {
    unit.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn start_codes_are_where_a_comparison_of_each_place_finds_them(
            bytes in prop::collection::vec(0..3u8, 0..60), from in 0..70_usize
        ) {
            let naive = (from..bytes.len()).find(|&at| bytes[at..].starts_with(&[0, 0, 1]));
            prop_assert_eq!(find(&bytes, from), naive);
        }
    }
}
