//! Requests to stop: SIGINT, SIGTERM and SIGHUP; or, with SIGHUP, to read a configuration again.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;
use signal_hook::low_level::{emulate_default_handler, register, signal_name};

/// One request can arrive as several signals within this time: `timeout` and some shells signal the process and then
/// its group.
const SAME_REQUEST: Duration = Duration::from_millis(500);

/// The flag that requests this process to stop.
///
/// A signal interrupts a pending `poll` with `EINTR`; check the flag then, and at least once a second for a signal that
/// arrived just before the `poll`.
#[derive(Clone, Debug)]
pub struct Stop {
    start: Instant,
    /// Nanoseconds from `start` to the first request; 0 before it.
    asked: Arc<AtomicU64>,
    /// The signal of the first request; 0 before it.
    by: Arc<AtomicI32>,
}

impl Stop {
    /// Makes SIGINT, SIGTERM and SIGHUP request a stop instead of killing the process; one that follows after half a
    /// second or more kills. A SIGHUP that is ignored already, as under `nohup`, stays ignored.
    ///
    /// # Errors
    /// The kernel refuses to install a handler.
    pub fn on_signal() -> io::Result<Stop> {
        let hangup = (!is_ignored(SIGHUP)).then_some(SIGHUP);
        Stop::on([SIGINT, SIGTERM].into_iter().chain(hangup))
    }

    /// The same without SIGHUP, which then is for a [`Reload`].
    ///
    /// # Errors
    /// The kernel refuses to install a handler.
    pub fn on_signal_but_hangup() -> io::Result<Stop> {
        Stop::on([SIGINT, SIGTERM])
    }

    fn on(signals: impl IntoIterator<Item = i32>) -> io::Result<Stop> {
        let stop = Stop::default();
        for signal in signals {
            let stop = stop.clone();
            let handler = move || {
                if stop.asked_before(SAME_REQUEST) {
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

    /// Requests a stop, as a signal does.
    pub fn ask(&self) {
        let now = self.elapsed().max(1);
        let _ = self.asked.compare_exchange(0, now, Ordering::SeqCst, Ordering::SeqCst);
    }

    /// True if a stop was requested.
    pub fn asked(&self) -> bool {
        self.asked.load(Ordering::SeqCst) != 0
    }

    /// The name of the first signal that requested a stop, like `SIGINT`; none if no signal did.
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

/// The flag that requests to read a configuration again.
#[derive(Clone, Debug, Default)]
pub struct Reload(Arc<AtomicBool>);

impl Reload {
    /// Makes SIGHUP request it, even where it was ignored.
    ///
    /// # Errors
    /// The kernel refuses to install a handler.
    pub fn on_hangup() -> io::Result<Reload> {
        let reload = Reload::default();
        flag::register(SIGHUP, Arc::clone(&reload.0))?;
        Ok(reload)
    }

    /// True if it was requested since the last call.
    pub fn take(&self) -> bool {
        self.0.swap(false, Ordering::SeqCst)
    }
}

/// True if this process ignores `signal`, according to the kernel.
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
    fn repeated_signals_of_one_request_do_not_kill() {
        let stop = Stop::on_signal().expect("handlers can be installed");
        assert_eq!((stop.asked(), stop.signal()), (false, None));
        for _ in 0..2 {
            signal_hook::low_level::raise(SIGTERM).expect("a process may signal itself");
            assert_eq!((stop.asked(), stop.signal()), (true, Some("SIGTERM")));
        }
    }
}
