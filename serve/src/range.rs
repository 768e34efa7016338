//! The bytes that a request asks for (RFC 9110 §14).

use std::ops::Range;

/// The part of a file that is to be sent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Wanted {
    /// All of it: the request has no range, several at once, or one that cannot be parsed (§14.2).
    Whole,
    /// These bytes, at least one.
    Part(Range<u64>),
    /// No byte: the range is beyond the end of the file.
    Nothing,
}

impl Wanted {
    /// Parses the field `Range` of a request for a file of `len` bytes.
    pub fn of(field: &str, len: u64) -> Wanted {
        let range = match field.split_once('=') {
            Some((unit, set)) if unit.trim().eq_ignore_ascii_case("bytes") => set.trim(),
            _ => return Wanted::Whole,
        };
        let found = match range.split_once('-') {
            Some(("", last)) => number(last).map(|last| len.saturating_sub(last)..len),
            Some((first, "")) => number(first).map(|first| first..len),
            Some((first, last)) => match (number(first), number(last)) {
                (Some(first), Some(last)) if first <= last => Some(first..len.min(last.saturating_add(1))),
                _ => None,
            },
            None => None,
        };
        match found {
            None => Wanted::Whole,
            Some(part) if part.is_empty() => Wanted::Nothing,
            Some(part) => Wanted::Part(part),
        }
    }
}

/// Parses decimal digits alone; a number that is too large for 64 bits is larger than any file.
fn number(text: &str) -> Option<u64> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// RFC 9110 §14.1.2, for a representation of 10000 bytes.
    #[test]
    fn ranges_match_the_examples_of_rfc_9110() {
        for (field, expected) in [
            ("bytes=0-499", 0..500),
            ("bytes=500-999", 500..1000),
            ("bytes=-500", 9500..10_000),
            ("bytes=9500-", 9500..10_000),
            ("bytes=0-0", 0..1),
            ("BYTES=9999-99999999999999999999999", 9999..10_000),
            ("bytes=-99999", 0..10_000),
        ] {
            assert_eq!(Wanted::of(field, 10_000), Wanted::Part(expected), "{field}");
        }
        for field in ["bytes=0-0,-1", "lines=0-1", "bytes", "bytes=", "bytes=-", "bytes=5-2", "bytes=a-b", "bytes=+1-2"]
        {
            assert_eq!(Wanted::of(field, 10_000), Wanted::Whole, "{field}");
        }
        for field in ["bytes=10000-", "bytes=-0", "bytes=10000-10001"] {
            assert_eq!(Wanted::of(field, 10_000), Wanted::Nothing, "{field}");
        }
        assert_eq!(Wanted::of("bytes=0-", 0), Wanted::Nothing);
    }

    proptest! {
        #[test]
        fn a_part_is_within_the_file(field in r"\PC{0,30}|bytes ?= ?[0-9]{0,21}-[0-9]{0,21}", len: u64) {
            if let Wanted::Part(part) = Wanted::of(&field, len) {
                prop_assert!(part.start < part.end && part.end <= len);
            }
        }
    }
}
