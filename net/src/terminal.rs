//! Text on a terminal that others have written: names of files, of elements of a scenario, what stands in a file.

use std::borrow::Cow;

/// The text with all that would not be seen as it is: control characters, and with them escape sequences and ends of lines,
/// and what changes the direction of the text around it (Unicode Standard Annex #9, §2). Each is written as Rust writes it, as
/// `\n` or `\u{1b}`.
pub fn escaped(text: &str) -> Cow<'_, str> {
    match text.contains(is_hidden) {
        false => text.into(),
        true => text.chars().fold(String::new(), with).into(),
    }
}

fn with(mut text: String, c: char) -> String {
    match is_hidden(c) {
        true => text.extend(c.escape_default()),
        false => text.push(c),
    }
    text
}

fn is_hidden(c: char) -> bool {
    let ends_a_line = matches!(c, '\u{2028}' | '\u{2029}');
    let directs = matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    c.is_control() || ends_a_line || directs
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_would_move_the_cursor_or_turn_text_round_is_written_out() {
        for (text, expected) in [
            ("Grüße \"a\\b\" 日本語 👩\u{200d}💻.mp4", "Grüße \"a\\b\" 日本語 👩\u{200d}💻.mp4"),
            ("a\x1b[2J\x07b", "a\\u{1b}[2J\\u{7}b"),
            ("a\nthalweg: b\r\t", "a\\nthalweg: b\\r\\t"),
            ("\u{9b}31m\u{7f}", "\\u{9b}31m\\u{7f}"),
            ("a\u{202e}4pm.exe\u{2066}\u{2028}", "a\\u{202e}4pm.exe\\u{2066}\\u{2028}"),
        ] {
            assert_eq!(escaped(text), expected);
        }
    }

    proptest! {
        #[test]
        fn whatever_comes_stays_one_line_that_can_be_seen(text in any::<String>()) {
            let shown = escaped(&text);
            prop_assert!(!shown.contains(is_hidden) && shown.lines().count() <= 1);
            prop_assert_eq!(escaped(&shown), &*shown);
        }
    }
}
