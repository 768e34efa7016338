//! Being asked to stop: SIGINT, SIGTERM and SIGHUP.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::low_level::{emulate_default_handler, register, signal_name};

/// One wish to stop can come as several signals: `timeout` and some shells signal the process and then its group.
const SAME_WISH: Duration = Duration::from_millis(500);

/// Whether somebody has asked this process to stop.
///
/// The kernel ends a `poll` that is under way when a signal comes, with `EINTR`; look at the flag then, and at least
/// once a second for the signal that came just before the `poll`.
#[derive(Clone, Debug)]
pub struct Stop {
    start: Instant,
    /// Nanoseconds from `start` to the first wish; 0 before it.
    asked: Arc<AtomicU64>,
    /// The signal that asked first; 0 before it.
    by: Arc<AtomicI32>,
}

impl Stop {
    /// From now on SIGINT, SIGTERM and SIGHUP ask instead of killing; whoever asks again after half a second kills. A
    /// SIGHUP that is ignored already, as under `nohup`, stays so.
    ///
    /// # Errors
    /// The kernel would not install a handler.
    pub fn on_signal() -> io::Result<Stop> {
        let stop = Stop::default();
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            if signal == SIGHUP && is_ignored(SIGHUP) {
                continue;
            }
            let stop = stop.clone();
            let handler = move || {
                if stop.asked_before(SAME_WISH) {
                    let _ = emulate_default_handler(signal);
                }
                let _ = stop.by.compare_exchange(0, signal, Ordering::SeqCst, Ordering::SeqCst);
                stop.ask();
            };
            // SAFETY: the handler reads the clock, touches two atomics and calls what signal-hook offers for handlers;
            // all of that is async-signal-safe, and none of it panics.
            unsafe { register(signal, handler)? };
        }
        Ok(stop)
    }

    /// Asks for the end, as a signal does.
    pub fn ask(&self) {
        let now = self.elapsed().max(1);
        let _ = self.asked.compare_exchange(0, now, Ordering::SeqCst, Ordering::SeqCst);
    }

    /// Whether the end was asked for.
    pub fn asked(&self) -> bool {
        self.asked.load(Ordering::SeqCst) != 0
    }

    /// The name of the signal that asked for the end first, like `SIGINT`; none if no signal did.
    pub fn signal(&self) -> Option<&'static str> {
        signal_name(self.by.load(Ordering::SeqCst))
    }

    fn asked_before(&self, ago: Duration) -> bool {
        let asked = self.asked.load(Ordering::SeqCst);
        asked != 0 && u128::from(self.elapsed().saturating_sub(asked)) >= ago.as_nanos()
    }

    fn elapsed(&self) -> u64 {
        self.start.elapsed().as_nanos() as u64
    }
}

/// Returns whether this process ignores `signal`, as the kernel reports it.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask >> (signal - 1) & 1 == 1
}

impl Default for Stop {
    fn default() -> Stop {
        Stop { start: Instant::now(), asked: Arc::default(), by: Arc::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_wish_raises_the_flag_and_does_not_kill_however_often_it_is_signalled() {
        let stop = Stop::on_signal().expect("handlers can be installed");
        assert_eq!((stop.asked(), stop.signal()), (false, None));
        for _ in 0..2 {
            signal_hook::low_level::raise(SIGTERM).expect("a process may signal itself");
            assert_eq!((stop.asked(), stop.signal()), (true, Some("SIGTERM")));
        }
    }
}
