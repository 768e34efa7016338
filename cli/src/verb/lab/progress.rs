//! How far a campaign is: one line on standard error that changes, or a new one now and then where that is no terminal.

use std::io::{Write, stderr};
use std::time::{Duration, Instant};

use thalweg_net::reporter::is_live;

const WIDTH: usize = 30;
/// From one drawing to the next.
const PAUSE: Duration = Duration::from_millis(200);
/// From one line of a log to the next.
const LOG_PAUSE: Duration = Duration::from_secs(60);

pub(super) struct Progress {
    runs: usize,
    /// What there is to do, in any unit.
    whole: u64,
    start: Instant,
    /// When the last line was shown; at first, when there was nothing to show yet.
    drawn: Instant,
    live: bool,
}

impl Progress {
    pub(super) fn new(runs: usize, whole: u64) -> Progress {
        let start = Instant::now();
        Progress { runs, whole, start, drawn: start, live: is_live(&stderr()) }
    }

    /// Shows that `done` of the whole is done, and `finished` runs are.
    pub(super) fn show(&mut self, done: u64, finished: usize) {
        let pause = if self.live { PAUSE } else { LOG_PAUSE };
        if self.drawn.elapsed() < pause {
            return;
        }
        self.drawn = Instant::now();
        let share = done as f64 / self.whole.max(1) as f64;
        let words = words(share, self.start.elapsed(), finished, self.runs);
        let mut terminal = stderr().lock();
        let _ = match self.live {
            // Back to the first column, and nothing left of the line before.
            true => write!(terminal, "\r{} {words}\x1b[K", bar(share)).and_then(|()| terminal.flush()),
            false => writeln!(terminal, "{words}"),
        };
    }

    /// Leaves no trace on a terminal.
    pub(super) fn end(&mut self) {
        wipe();
    }
}

/// Makes room for something else on the line of a terminal; the next drawing comes below it.
pub(super) fn wipe() {
    if is_live(&stderr()) {
        let _ = write!(stderr(), "\r\x1b[K");
    }
}

fn bar(share: f64) -> String {
    let full = ((share * WIDTH as f64) as usize).min(WIDTH);
    format!("{}{}", "━".repeat(full), "╌".repeat(WIDTH - full))
}

fn words(share: f64, elapsed: Duration, finished: usize, runs: usize) -> String {
    let left = if share > 0.0 { clock(elapsed.as_secs_f64() * (1.0 - share) / share) } else { "-:--".to_owned() };
    format!("{:3.0} %   {finished} of {runs} runs   {left} left", share * 100.0)
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
        let words = words(0.25, Duration::from_secs(60), 3, 12);
        assert!(words.contains(" 25 %") && words.contains("3 of 12 runs") && words.contains("3:00 left"), "{words}");
        assert_eq!(bar(0.25).matches('━').count(), 7);
    }
}
