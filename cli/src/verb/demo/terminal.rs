//! Standard output: a terminal of some width, or a pipe.

use std::io::{IsTerminal, stdout};

/// True if a line can be overwritten: not in a pipe, and not on a dumb terminal.
pub(super) fn is_live() -> bool {
    stdout().is_terminal() && std::env::var_os("TERM").is_some_and(|terminal| terminal != "dumb")
}

/// Columns that a line may take; unlimited in a pipe.
pub(super) fn columns() -> usize {
    match rustix::termios::tcgetwinsize(stdout()) {
        Ok(size) if size.ws_col > 0 => usize::from(size.ws_col),
        _ if stdout().is_terminal() => 80,
        _ => usize::MAX,
    }
}

/// `text` in lines of no more than `columns`, broken between words; a longer word has a line of its own.
pub(super) fn wrapped(text: &str, columns: usize) -> String {
    let lines = text.lines().map(|line| {
        line.split(' ').fold(String::new(), |done, word| {
            let last = done.rsplit('\n').next().map_or(0, |line| line.chars().count());
            let gap = match last {
                0 => "",
                last if last + 1 + word.chars().count() > columns => "\n",
                _ => " ",
            };
            done + gap + word
        })
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words() {
        let text = "With 0.3\u{a0}% lost\nand another";
        assert_eq!(wrapped(text, 12), "With 0.3\u{a0}%\nlost\nand another");
        assert_eq!(wrapped(text, usize::MAX), text);
        assert_eq!(wrapped("immeasurable a b", 4), "immeasurable\na b");
    }
}
