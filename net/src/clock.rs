//! The only wall clock.

use std::num::NonZeroU64;
use std::time::Instant;

use rustix::event::Timespec;
use thalweg_core::time::{Span, Time};

/// A monotonic clock whose zero is the moment it was started.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    start: Instant,
}

impl Clock {
    /// A clock that shows zero now.
    pub fn start() -> Clock {
        Clock { start: Instant::now() }
    }

    /// What the clock shows.
    pub fn now(&self) -> Time {
        Time::from_nanos(u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }

    /// How long to sleep until `deadline`, as the kernel wants it; nothing if it has passed.
    pub fn timeout(&self, deadline: Time) -> Timespec {
        timespec(deadline.since(self.now()))
    }
}

/// Lets the kernel wake this thread, and the threads it starts, within a microsecond of the asked time instead of 50.
pub fn sharpen_timers() {
    // Where the kernel refuses, timers are as they were: later by tens of microseconds, nothing worse.
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1_000));
}

/// A span as the kernel's calls want it.
pub fn timespec(span: Span) -> Timespec {
    const SECOND: u64 = 1_000_000_000;
    Timespec { tv_sec: (span.as_nanos() / SECOND) as _, tv_nsec: (span.as_nanos() % SECOND) as _ }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_starts_at_zero_and_never_goes_back() {
        let clock = Clock::start();
        let (first, second) = (clock.now(), clock.now());
        assert!(first <= second);
        assert_eq!(clock.timeout(first), timespec(Span::ZERO));
    }

    #[test]
    fn a_span_becomes_whole_seconds_and_the_rest() {
        let spec = timespec(Span::from_millis(1_250));
        assert_eq!((spec.tv_sec, spec.tv_nsec), (1, 250_000_000));
    }
}
