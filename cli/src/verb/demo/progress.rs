//! One line that shows how far a run is; on anything but a terminal, a line when it is over.

use std::fmt::Write as _;
use std::io::{IsTerminal, Write, stdout};

use thalweg_core::time::Span;

use super::cast::Cast;
use super::words::percent;

const WIDTH: usize = 24;

pub(super) struct Progress {
    name: String,
    length: Span,
    live: bool,
    line: String,
}

impl Progress {
    pub(super) fn new(name: &str, length: Span) -> Progress {
        let progress = Progress { name: name.into(), length, live: stdout().is_terminal(), line: String::new() };
        progress.draw(&format!("{name:<10} connecting"));
        progress
    }

    pub(super) fn decoding(name: &str) -> Progress {
        let progress = Progress { live: stdout().is_terminal(), ..Progress::new(name, Span::ZERO) };
        progress.draw(&format!("{name:<10} decoding what arrived"));
        progress
    }

    /// Shows the state of the run after `played` of the film.
    pub(super) fn show(&mut self, played: Span, cast: &Cast) {
        let share = played.as_secs_f64() / self.length.as_secs_f64();
        let full = ((share * WIDTH as f64) as usize).min(WIDTH);
        let (name, done) = (&self.name, played.as_secs_f64());
        self.line = format!("{name:<10} {}{} {done:3.0} s", "━".repeat(full), "╌".repeat(WIDTH - full));
        let ratio = |value: Option<f64>| value.map(percent);
        let mut add = |label: &str, value: Option<String>| {
            if let Some(value) = value {
                let _ = write!(self.line, "   {label} {value}");
            }
        };
        add("lost", ratio(cast.send().last("loss_before_repair_ratio")));
        add("after repair", ratio(cast.recv().last("loss_after_repair_ratio")));
        add("window", cast.send().last("repair_window_packets").map(|packets| format!("{packets:.0}")));
        add("wire", cast.send().last("wire_rate_bps").map(|rate| format!("{:.1} Mb/s", rate / 1e6)));
        self.draw(&self.line);
    }

    /// Leaves the line.
    pub(super) fn end(&mut self) {
        match (self.live, self.line.is_empty()) {
            (true, true) => self.draw(""),
            (_, true) => {}
            (true, false) => println!(),
            (false, false) => println!("{}", self.line),
        }
    }

    fn draw(&self, line: &str) {
        if self.live {
            // Back to the first column, and nothing left of the line before.
            print!("\r{line}\x1b[K");
            let _ = stdout().flush();
        }
    }
}
