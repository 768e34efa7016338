//! One line on standard error that shows how far a campaign is; nothing where that is no terminal.

use std::io::{IsTerminal, Write, stderr};
use std::time::{Duration, Instant};

const WIDTH: usize = 30;
/// From one drawing to the next.
const PAUSE: Duration = Duration::from_millis(200);

pub(super) struct Progress {
    runs: usize,
    /// What there is to do, in any unit.
    whole: u64,
    start: Instant,
    drawn: Option<Instant>,
    live: bool,
}

impl Progress {
    pub(super) fn new(runs: usize, whole: u64) -> Progress {
        Progress { runs, whole, start: Instant::now(), drawn: None, live: stderr().is_terminal() }
    }

    /// Shows that `done` of the whole is done, and `finished` runs are.
    pub(super) fn show(&mut self, done: u64, finished: usize) {
        if self.live && self.drawn.is_none_or(|drawn| drawn.elapsed() >= PAUSE) {
            self.drawn = Some(Instant::now());
            let line = line(done as f64 / self.whole.max(1) as f64, self.start.elapsed(), finished, self.runs);
            let mut terminal = stderr().lock();
            // Back to the first column, and nothing left of the line before.
            let _ = write!(terminal, "\r{line}\x1b[K").and_then(|()| terminal.flush());
        }
    }

    /// Leaves no trace.
    pub(super) fn end(&mut self) {
        if self.drawn.is_some() {
            let _ = write!(stderr(), "\r\x1b[K");
        }
    }
}

fn line(share: f64, elapsed: Duration, finished: usize, runs: usize) -> String {
    let full = ((share * WIDTH as f64) as usize).min(WIDTH);
    let bar = format!("{}{}", "━".repeat(full), "╌".repeat(WIDTH - full));
    let left = if share > 0.0 { clock(elapsed.as_secs_f64() * (1.0 - share) / share) } else { "-:--".to_owned() };
    format!("{bar} {:3.0} %   {finished} of {runs} runs   {left} left", share * 100.0)
}

fn clock(seconds: f64) -> String {
    let seconds = seconds as u64;
    format!("{}:{:02}", seconds / 60, seconds % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quarter_of_the_work_in_a_minute_leaves_three() {
        let line = line(0.25, Duration::from_secs(60), 3, 12);
        assert!(line.contains(" 25 %") && line.contains("3 of 12 runs") && line.contains("3:00 left"), "{line}");
        assert_eq!(line.matches('━').count(), 7);
    }
}
