//! The lines from which an encoder learns its rate: `rate BITS_PER_SECOND`, as `thalweg send` writes them.

use thalweg_core::units::Rate;

/// The longest line, without its end: far more than the longest number needs.
const LONGEST: usize = 64;

/// Lines while their bytes arrive. Memory is bounded: of a line that is longer than 64 bytes the rest is skipped.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Lines {
    /// The line so far, and a byte more if it is too long.
    line: Vec<u8>,
    bad: Option<String>,
    /// Set once a bad line was found.
    has_bad: bool,
}

impl Lines {
    /// Takes the next bytes, in chunks of any size; the rate of the last good line that they end.
    pub fn push(&mut self, bytes: &[u8]) -> Option<Rate> {
        let mut newest = None;
        for &byte in bytes {
            match byte {
                b'\n' => newest = self.end().or(newest),
                _ if self.line.len() <= LONGEST => self.line.push(byte),
                _ => {}
            }
        }
        newest
    }

    /// The first line that is no rate, without control characters, once. All others are skipped.
    pub fn take_bad(&mut self) -> Option<String> {
        self.bad.take()
    }

    /// The rate of the line that ends here.
    fn end(&mut self) -> Option<Rate> {
        let line = std::mem::take(&mut self.line);
        if line.trim_ascii().is_empty() {
            return None;
        }
        let rate = parse(&line);
        if rate.is_none() && !std::mem::replace(&mut self.has_bad, true) {
            let text = String::from_utf8_lossy(&line[..line.len().min(LONGEST)]);
            self.bad = Some(text.trim().replace(char::is_control, "?"));
        }
        rate
    }
}

/// The rate of one line; a rate of zero is none, since no encoder has it.
fn parse(line: &[u8]) -> Option<Rate> {
    let text = std::str::from_utf8(line).ok().filter(|text| text.len() <= LONGEST)?;
    let mut words = text.split_ascii_whitespace();
    match (words.next(), words.next(), words.next()) {
        (Some("rate"), Some(bps), None) if bps.bytes().all(|byte| byte.is_ascii_digit()) => {
            bps.parse().ok().filter(|bps| *bps > 0).map(Rate::from_bps)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MBIT: Rate = Rate::from_mbps(1);

    #[test]
    fn last_rate_of_several_lines_counts() {
        let mut lines = Lines::default();
        assert_eq!(lines.push(b"rate 300000\nrate 2000000\nrate 1000"), Some(Rate::from_mbps(2)));
        assert_eq!((lines.push(b"000"), lines.push(b"\r\n"), lines.take_bad()), (None, Some(MBIT), None));
    }

    #[test]
    fn bad_lines_are_skipped_and_the_first_is_reported_once() {
        for bad in
            ["rate", "rate 0", "rate -5", "rate +5", "rate 1e6", "rate 1 2", "Rate 1", "rate 99999999999999999999"]
        {
            let mut lines = Lines::default();
            let text = format!("\n{bad}\nrate 1000000\nmore\n");
            assert_eq!(lines.push(text.as_bytes()), Some(MBIT), "{bad}");
            assert_eq!((lines.take_bad().as_deref(), lines.take_bad()), (Some(bad), None));
            assert_eq!((lines.push(b"again\n"), lines.take_bad()), (None, None));
        }
    }

    #[test]
    fn line_without_end_is_bounded_and_the_next_one_counts() {
        let mut lines = Lines::default();
        for _ in 0..1_000 {
            assert_eq!(lines.push(&[b'1'; 1_000]), None);
            assert!(lines.line.len() <= LONGEST + 1);
        }
        assert_eq!(lines.push(b"\nrate 1000000\n"), Some(MBIT));
        assert_eq!(lines.take_bad(), Some("1".repeat(LONGEST)));
        // The number would fit if its line were cut.
        let padded = format!("rate {}5{}\n", "0".repeat(50), "0".repeat(20));
        assert_eq!(lines.push(padded.as_bytes()), None);
    }

    proptest! {
        #[test]
        fn rates_do_not_depend_on_the_segmentation(
            parts in prop::collection::vec(prop_oneof![
                any::<u32>().prop_map(|bps| format!("rate {bps}\n").into_bytes()),
                prop::collection::vec(any::<u8>(), 0..100),
            ], 0..10),
            size in 1usize..50,
        ) {
            let bytes = parts.concat();
            let (mut whole, mut cut) = (Lines::default(), Lines::default());
            let newest = bytes.chunks(size).filter_map(|chunk| cut.push(chunk)).last();
            prop_assert_eq!(whole.push(&bytes), newest);
            prop_assert_eq!(whole, cut);
        }
    }
}
