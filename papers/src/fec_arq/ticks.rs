//! The time unit of the slot model: ticks such that the paper's slots, bursts and round-trip times are whole numbers.

use thalweg_core::time::{Span, Time};

/// An instant or a duration, in ticks.
pub type Ticks = u64;

/// Ticks per second.
pub const A_SECOND: Ticks = 3000;
/// T = V / R: 8000 bits at 400 kb/s, 20 ms.
pub const SLOT: Ticks = 60;

/// The instant that a law reads, in nanoseconds, rounded down.
pub fn time(at: Ticks) -> Time {
    Time::from_nanos(nanos(at))
}

/// The duration that a law reads, in nanoseconds, rounded down.
pub fn span(length: Ticks) -> Span {
    Span::from_nanos(nanos(length))
}

/// A duration rounded to the nearest tick.
pub fn ticks(length: Span) -> Ticks {
    (length.as_nanos() * (A_SECOND / 1_000) + 500_000) / 1_000_000
}

/// A duration in seconds.
pub fn seconds(length: Ticks) -> f64 {
    length as f64 / A_SECOND as f64
}

/// A duration in seconds, rounded to the nearest tick.
pub fn nearest(seconds: f64) -> Ticks {
    (seconds * A_SECOND as f64 + 0.5) as Ticks
}

fn nanos(ticks: Ticks) -> u64 {
    ticks * 1_000_000 / (A_SECOND / 1_000)
}
