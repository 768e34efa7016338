//! The wall clock of streams: monotonic time since a start.

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

    /// The time since the start.
    pub fn now(&self) -> Time {
        Time::from_nanos(u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }

    /// The time to sleep until `deadline`, as the kernel takes it; zero if it has passed.
    pub fn timeout(&self, deadline: Time) -> Timespec {
        timespec(deadline.since(self.now()))
    }
}

/// Lets the kernel wake this thread, and the threads it starts, within 1 us of the requested time instead of 50 us.
pub fn sharpen_timers() {
    // If the kernel refuses, timers keep their slack: wake-ups are tens of microseconds later, nothing worse.
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1_000));
}

/// Converts a span for the kernel's calls.
pub fn timespec(span: Span) -> Timespec {
    const SECOND: u64 = 1_000_000_000;
    Timespec { tv_sec: (span.as_nanos() / SECOND) as _, tv_nsec: (span.as_nanos() % SECOND) as _ }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clock_is_monotonic_and_passed_deadlines_time_out_at_once() {
        let clock = Clock::start();
        let (first, second) = (clock.now(), clock.now());
        assert!(first <= second);
        assert_eq!(clock.timeout(first), timespec(Span::ZERO));
    }

    #[test]
    fn span_is_split_into_seconds_and_nanoseconds() {
        let spec = timespec(Span::from_millis(1_250));
        assert_eq!((spec.tv_sec, spec.tv_nsec), (1, 250_000_000));
    }
}
