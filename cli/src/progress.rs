//! The progress of a campaign: one changing line on standard error, or without a terminal a new line at times.

use std::cell::RefCell;
use std::io::{Write, stderr};
use std::time::{Duration, Instant};

use thalweg_net::reporter::is_live;
use thalweg_workbench::pool;

const WIDTH: usize = 30;
/// The time between two drawings.
const PAUSE: Duration = Duration::from_millis(200);
/// The time between two lines of a log.
const LOG_PAUSE: Duration = Duration::from_secs(60);

struct Progress {
    runs: usize,
    /// The whole work, in any unit.
    whole: u64,
    start: Instant,
    /// The time at which the last line was shown; initially the start.
    drawn: Instant,
    live: bool,
}

impl Progress {
    fn new(runs: usize, whole: u64) -> Progress {
        let start = Instant::now();
        Progress { runs, whole, start, drawn: start, live: is_live(&stderr()) }
    }

    /// Shows the progress: `done` of the whole, and `finished` runs.
    fn show(&mut self, done: u64, finished: usize) {
        let pause = if self.live { PAUSE } else { LOG_PAUSE };
        if self.drawn.elapsed() < pause {
            return;
        }
        self.drawn = Instant::now();
        let share = done as f64 / self.whole.max(1) as f64;
        let words = words(share, self.start.elapsed(), finished, self.runs);
        let mut terminal = stderr().lock();
        let _ = match self.live {
            // Back to the first column, and the previous line is erased.
            true => write!(terminal, "\r{} {words}\x1b[K", bar(share)).and_then(|()| terminal.flush()),
            false => writeln!(terminal, "{words}"),
        };
    }
}

/// The progress on a terminal, from the first report of jobs on; their length identifies them.
#[derive(Default)]
pub(crate) struct Shown(RefCell<Option<(u64, Progress)>>);

impl Shown {
    /// Shows the progress of a pool.
    pub(crate) fn show(&self, at: pool::Progress) {
        let mut shown = self.0.borrow_mut();
        let same = shown.take().filter(|(length, _)| *length == at.length);
        let new = || (at.length, Progress::new(at.jobs, at.length));
        shown.insert(same.unwrap_or_else(new)).1.show(at.done, at.finished);
    }

    /// Clears the line.
    pub(crate) fn end(self) {
        if self.0.into_inner().is_some() {
            wipe();
        }
    }
}

/// Clears the line on a terminal for other output; the next drawing is below it.
pub(crate) fn wipe() {
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
    fn remaining_time_is_extrapolated_from_the_elapsed_time() {
        let words = words(0.25, Duration::from_secs(60), 3, 12);
        assert!(words.contains(" 25 %") && words.contains("3 of 12 runs") && words.contains("3:00 left"), "{words}");
        assert_eq!(bar(0.25).matches('━').count(), 7);
    }
}
