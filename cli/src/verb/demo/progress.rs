//! The progress line of a run; without a terminal, one line at its end.

use std::io::{Write, stdout};

use thalweg_core::time::Span;

use super::chain::Chain;
use super::link::Link;
use super::terminal::{columns, is_live};
use super::words::percent;

/// Characters of the bar.
const BAR: usize = 12;

pub(super) struct Progress {
    name: String,
    length: Span,
    live: bool,
    line: String,
}

impl Progress {
    pub(super) fn new(name: &str, length: Span) -> Progress {
        let progress = Progress { name: name.into(), length, live: is_live(), line: String::new() };
        progress.draw(&format!("{name:<10} connecting"));
        progress
    }

    pub(super) fn decoding() -> Progress {
        let progress = Progress { name: String::new(), length: Span::ZERO, live: is_live(), line: String::new() };
        progress.draw("decoding the received videos");
        progress
    }

    /// Shows the state of the run after `played` of the video: totals, not the last second.
    pub(super) fn show(&mut self, played: Span, processes: &Chain) {
        self.show_parts(played, &totals(processes));
    }

    /// The same with other values, the most important first.
    pub(super) fn show_parts(&mut self, played: Span, parts: &[String]) {
        let share = played.as_secs_f64() / self.length.as_secs_f64();
        let full = ((share * BAR as f64) as usize).min(BAR);
        let (name, bar) = (&self.name, "━".repeat(full) + &"╌".repeat(BAR - full));
        let head = format!("{name:<10} {bar} {:3.0} s", played.as_secs_f64());
        self.line = fitting(head, parts, columns());
        self.draw(&self.line);
    }

    /// Ends the line so that it stays on the screen; without a terminal, prints it.
    pub(super) fn end(&self) {
        match (self.live, self.line.is_empty()) {
            (true, true) => self.draw(""),
            (_, true) => {}
            (true, false) => println!(),
            (false, false) => println!("{}", self.line),
        }
    }

    fn draw(&self, line: &str) {
        if self.live {
            // Back to the first column, and the previous line is erased.
            print!("\r{line}\x1b[K");
            let _ = stdout().flush();
        }
    }
}

/// Totals of the run so far, the most important first.
fn totals(processes: &Chain) -> Vec<String> {
    let link = Link::of(processes.emulate());
    let (send, recv) = (processes.send(), processes.recv());
    let residual = recv.last("residual_lost_packets_total");
    let overhead = send.last("wire_bytes_total").zip(send.last("media_bytes_total")).filter(|(_, media)| *media > 0.0);
    let totals = [
        link.lost().map(|lost| format!("lost on link {lost}")),
        residual.map(|lost| format!("after repair {lost:.0}")),
        overhead.map(|(wire, media)| format!("overhead {}", percent(wire / media - 1.0))),
        link.loss().map(|loss| format!("link loss {}", percent(loss))),
    ];
    totals.into_iter().flatten().collect()
}

/// `head` and as many of `parts` as leave the last of `columns` free.
fn fitting(head: String, parts: &[String], columns: usize) -> String {
    parts.iter().fold(head, |line, part| {
        let longer = format!("{line}  {part}");
        if longer.chars().count() < columns { longer } else { line }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_narrow_terminal_drops_the_last_totals() {
        let parts = ["lost on link 834", "after repair 170"].map(String::from);
        let line = |columns| fitting("GENEVA 12 s".into(), &parts, columns);
        assert_eq!(line(80), "GENEVA 12 s  lost on link 834  after repair 170");
        assert_eq!(line(48), line(80), "the last column stays free");
        assert_eq!((line(47), line(8)), ("GENEVA 12 s  lost on link 834".into(), "GENEVA 12 s".into()));
    }
}
