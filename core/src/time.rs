//! Instants and durations as integer nanoseconds.
//!
//! Integers make two runs equal to the last bit on every machine; 64 bits of nanoseconds last 584 years.

use core::fmt;
use core::ops::{Add, AddAssign, Div, Mul, Sub};
use core::str::FromStr;

use crate::quantity::{ParseUnitError, split_unit};

/// An instant: nanoseconds since the zero of the session's driver (process start, or the start of a simulation).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Time(u64);

/// A length of time in nanoseconds, never negative.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span(u64);

impl Time {
    /// The zero of the clock.
    pub const ZERO: Time = Time(0);
    /// An instant later than any event.
    pub const NEVER: Time = Time(u64::MAX);

    /// The instant `nanos` after zero.
    pub const fn from_nanos(nanos: u64) -> Time {
        Time(nanos)
    }

    /// Nanoseconds since zero.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// The time from `earlier` to `self`, or zero if `earlier` is later.
    pub const fn since(self, earlier: Time) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }

    /// Seconds since zero.
    pub fn as_secs_f64(self) -> f64 {
        Span(self.0).as_secs_f64()
    }
}

impl Span {
    /// The empty span.
    pub const ZERO: Span = Span(0);
    /// A span longer than any session.
    pub const MAX: Span = Span(u64::MAX);

    /// `nanos` nanoseconds.
    pub const fn from_nanos(nanos: u64) -> Span {
        Span(nanos)
    }

    /// `micros` microseconds.
    pub const fn from_micros(micros: u64) -> Span {
        Span(micros * 1_000)
    }

    /// `millis` milliseconds.
    pub const fn from_millis(millis: u64) -> Span {
        Span(millis * 1_000_000)
    }

    /// `secs` seconds.
    pub const fn from_secs(secs: u64) -> Span {
        Span(secs * 1_000_000_000)
    }

    /// The nearest whole nanosecond; negative and NaN become zero.
    pub fn from_secs_f64(secs: f64) -> Span {
        // `as` saturates, and turns NaN into zero.
        Span((secs * 1e9 + 0.5) as u64)
    }

    /// Nanoseconds.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Whole microseconds.
    pub const fn as_micros(self) -> u64 {
        self.0 / 1_000
    }

    /// Milliseconds, with their fraction.
    pub fn as_millis_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// Seconds, with their fraction.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// `self - other`, or zero if `other` is longer.
    pub const fn saturating_sub(self, other: Span) -> Span {
        Span(self.0.saturating_sub(other.0))
    }

    /// `self * part / whole` without intermediate overflow. `whole` must not be zero.
    pub const fn mul_div(self, part: u64, whole: u64) -> Span {
        Span((self.0 as u128 * part as u128 / whole as u128) as u64)
    }
}

impl Add<Span> for Time {
    type Output = Time;
    fn add(self, span: Span) -> Time {
        Time(self.0.saturating_add(span.0))
    }
}

impl AddAssign<Span> for Time {
    fn add_assign(&mut self, span: Span) {
        *self = *self + span;
    }
}

impl Sub<Span> for Time {
    type Output = Time;
    /// Saturates at zero.
    fn sub(self, span: Span) -> Time {
        Time(self.0.saturating_sub(span.0))
    }
}

impl Add for Span {
    type Output = Span;
    fn add(self, other: Span) -> Span {
        Span(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Span {
    fn add_assign(&mut self, other: Span) {
        *self = *self + other;
    }
}

impl Mul<u64> for Span {
    type Output = Span;
    fn mul(self, times: u64) -> Span {
        Span(self.0.saturating_mul(times))
    }
}

impl Div<u64> for Span {
    type Output = Span;
    fn div(self, parts: u64) -> Span {
        Span(self.0 / parts)
    }
}

impl FromStr for Span {
    type Err = ParseUnitError;

    /// A number and a unit: `90ms`, `1.5s`, `250us`, `10ns`, `1min`.
    fn from_str(text: &str) -> Result<Span, ParseUnitError> {
        const UNITS: &[(&str, f64)] = &[("ns", 1e-9), ("us", 1e-6), ("ms", 1e-3), ("s", 1.0), ("min", 60.0)];
        split_unit(text, UNITS, "a duration such as 90ms; units are ns, us, ms, s and min").map(Span::from_secs_f64)
    }
}

impl fmt::Debug for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "t={}", Span(self.0))
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => f.write_str("0s"),
            ns if ns < 1_000 => write!(f, "{ns}ns"),
            ns if ns < 1_000_000 => write!(f, "{}us", ns as f64 / 1e3),
            ns if ns < 1_000_000_000 => write!(f, "{}ms", ns as f64 / 1e6),
            ns => write!(f, "{}s", ns as f64 / 1e9),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn durations_are_parsed_with_their_units() {
        assert_eq!("90ms".parse(), Ok(Span::from_millis(90)));
        assert_eq!("1.5s".parse(), Ok(Span::from_millis(1500)));
        assert_eq!("250us".parse(), Ok(Span::from_micros(250)));
        for bad in ["", "90", "ms", "-1ms", "90 parsecs", "nanms", "1e99s"] {
            assert!(bad.parse::<Span>().is_err(), "{bad}");
        }
    }

    #[test]
    fn time_saturates_instead_of_wrapping() {
        assert_eq!(Time::ZERO - Span::from_secs(1), Time::ZERO);
        assert_eq!(Time::ZERO.since(Time::from_nanos(5)), Span::ZERO);
        assert_eq!(Span::MAX.mul_div(1, 2).as_nanos(), u64::MAX / 2);
    }

    proptest! {
        #[test]
        fn any_text_is_a_duration_or_an_error(text in r"\PC*|[0-9.]{0,400} ?(ns|us|ms|s|min)?") {
            let _ = text.parse::<Span>();
        }

        #[test]
        fn durations_round_trip_through_text(nanos in 0u64..1 << 50) {
            let span = Span::from_nanos(nanos);
            prop_assert_eq!(span.to_string().parse(), Ok(span));
        }
    }
}
