//! Escaping of foreign text for terminals: names of files, of elements of a scenario, contents of a file.

use std::borrow::Cow;

/// Escapes all characters that a terminal would not show as they are: control characters, and with them escape
/// sequences and ends of lines, and characters that change the direction of the text around them (Unicode Standard
/// Annex #9, §2). Each is written as in Rust, as `\n` or `\u{1b}`.
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
    fn control_and_direction_characters_are_escaped() {
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
        fn any_text_is_escaped_to_one_visible_line(text in any::<String>()) {
            let shown = escaped(&text);
            prop_assert!(!shown.contains(is_hidden) && shown.lines().count() <= 1);
            prop_assert_eq!(escaped(&shown), &*shown);
        }
    }
}
