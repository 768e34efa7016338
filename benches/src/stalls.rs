//! Stalls of the machine: times in which programs do not run although they are due, as on a virtual machine whose host is busy.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The time for which each thread sleeps. Ours: a shorter one takes processor time from what is measured.
const SLEEP: Duration = Duration::from_millis(1);

/// A watch over stalls. Its threads, one for each processor, sleep, and note how late they wake up.
#[derive(Debug)]
pub struct Stalls {
    is_over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<Duration>>,
}

impl Stalls {
    /// Begins to watch.
    pub fn watch() -> Stalls {
        let is_over = Arc::new(AtomicBool::new(false));
        let watcher = |_| {
            let is_over = Arc::clone(&is_over);
            thread::spawn(move || {
                let mut longest = Duration::ZERO;
                while !is_over.load(Ordering::Relaxed) {
                    let start = Instant::now();
                    thread::sleep(SLEEP);
                    longest = longest.max(start.elapsed().saturating_sub(SLEEP));
                }
                longest
            })
        };
        let processors = thread::available_parallelism().map_or(1, usize::from);
        Stalls { threads: (0..processors).map(watcher).collect(), is_over }
    }

    /// The longest stall since the watch began.
    pub fn longest(self) -> Duration {
        self.is_over.store(true, Ordering::Relaxed);
        self.threads.into_iter().map(|thread| thread.join().expect("no panic")).max().unwrap_or_default()
    }
}
