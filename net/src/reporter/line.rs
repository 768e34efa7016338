//! A status line that fits its terminal.

use std::fmt;
use std::io::{self, IsTerminal};

use thalweg_core::time::Time;

/// The number of columns if the terminal does not report it.
const COLUMNS: usize = 80;

/// Rank of the totals: they are dropped before the last second's values of the most important parts.
const TOTAL: u8 = 4;

/// Parts from left to right, each with its rank: if the line is too long, the greatest rank is dropped first.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Line(Vec<Part>);

#[derive(Clone, PartialEq, Eq, Debug)]
struct Part {
    rank: u8,
    text: String,
    /// True if this is a total of the part before it.
    is_total: bool,
}

impl Line {
    /// A line that begins with the time since the start, which is dropped last.
    pub fn at(time: Time) -> Line {
        Line::beginning(clock(time))
    }

    /// A line that begins with another part, which is dropped last.
    pub fn beginning(text: impl Into<String>) -> Line {
        let mut line = Line::default();
        line.push(0, text);
        line
    }

    /// Adds a part at the end.
    pub fn push(&mut self, rank: u8, text: impl Into<String>) {
        self.0.push(Part { rank, text: text.into(), is_total: false });
    }

    /// Adds a total to the last part.
    pub fn push_total(&mut self, total: impl fmt::Display) {
        let rank = self.0.last().map_or(TOTAL, |part| part.rank.max(TOTAL));
        self.0.push(Part { rank, text: format!("({total})"), is_total: true });
    }

    /// True if there is nothing to show.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The most important parts, as many as fit into `columns`.
    pub fn fit(&self, columns: usize) -> String {
        let mut kept = self.clone();
        while kept.0.len() > 1 && kept.to_string().chars().count() > columns {
            // Of equal ranks, the last one.
            let least = kept.0.iter().enumerate().max_by_key(|(_, part)| part.rank);
            kept.0.remove(least.map_or(0, |(nth, _)| nth));
        }
        kept.to_string().chars().take(columns).collect()
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (nth, Part { text, is_total, .. }) in self.0.iter().enumerate() {
            let gap = match (nth, is_total) {
                (0, _) => "",
                (_, true) => " ",
                (_, false) => "  ",
            };
            write!(f, "{gap}{text}")?;
        }
        Ok(())
    }
}

/// Hours, minutes and seconds since the start.
pub(super) fn clock(time: Time) -> String {
    let seconds = time.as_secs_f64() as u64;
    format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

/// True if a line can be overwritten there: on a terminal, unless `TERM` is `dumb`.
pub fn is_live(stream: &impl IsTerminal) -> bool {
    stream.is_terminal() && can_erase(std::env::var_os("TERM").as_deref())
}

fn can_erase(term: Option<&std::ffi::OsStr>) -> bool {
    term.is_none_or(|term| term != "dumb")
}

/// The number of columns of the terminal on standard error.
pub(super) fn columns() -> usize {
    let columns = rustix::termios::tcgetwinsize(io::stderr()).map_or(0, |size| usize::from(size.ws_col));
    if columns > 0 { columns } else { COLUMNS }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn narrow_terminal_drops_the_least_important_parts_in_order() {
        let mut line = Line::at(Time::ZERO);
        for (rank, text) in [(1, "media 3.90 Mb/s"), (3, "wire 5 Mb/s"), (2, "loss 0.10%"), (3, "window 8")] {
            line.push(rank, text);
        }
        let whole = "00:00:00  media 3.90 Mb/s  wire 5 Mb/s  loss 0.10%  window 8";
        assert_eq!(line.fit(80), whole);
        assert_eq!(line.fit(whole.len()), whole);
        assert_eq!(line.fit(whole.len() - 1), "00:00:00  media 3.90 Mb/s  wire 5 Mb/s  loss 0.10%");
        assert_eq!(line.fit(40), "00:00:00  media 3.90 Mb/s  loss 0.10%");
        assert_eq!(line.fit(30), "00:00:00  media 3.90 Mb/s");
        assert_eq!((line.fit(9), line.fit(5)), ("00:00:00".to_owned(), "00:00".to_owned()));
        for columns in 0..80 {
            assert!(line.fit(columns).chars().count() <= columns);
        }
    }

    #[test]
    fn dumb_terminal_gets_no_escape_sequences() {
        let term = |name: &'static str| can_erase(Some(name.as_ref()));
        assert_eq!((term("dumb"), term("xterm"), can_erase(None)), (false, true, true));
    }
}
