//! The clocks of a transport stream: counters of 33 bits at 90 kHz, extended to 27 MHz in the PCR, that wrap every
//! 26.5 hours (ISO/IEC 13818-1 §2.4.3.5, §2.4.3.7).

use core::ops::Add;

use thalweg_core::time::Span;

/// Steps of the 27 MHz clock in one step of the 90 kHz clock.
const PER_90K: u64 = 300;
const WRAP_90K: u64 = 1 << 33;
const WRAP: u64 = WRAP_90K * PER_90K;

/// A length of time in steps of the 27 MHz system clock.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Ticks(pub u64);

/// An instant on the system clock: a program clock reference. Always below 2^33 x 300.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pcr(u64);

/// An instant on the 90 kHz clock: a presentation or decoding time stamp. Always below 2^33.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Timestamp(u64);

impl Ticks {
    /// A length of zero.
    pub const ZERO: Ticks = Ticks(0);

    /// `cycles` of the 90 kHz clock.
    pub const fn from_90k(cycles: u64) -> Ticks {
        Ticks(cycles * PER_90K)
    }

    /// `secs` seconds.
    pub const fn from_secs(secs: u64) -> Ticks {
        Ticks(secs * 27_000_000)
    }

    /// The nearest length that is whole on the 90 kHz clock, so that PCR and time stamps can move by the same amount.
    #[must_use]
    pub const fn rounded_to_90k(self) -> Ticks {
        Ticks((self.0 + PER_90K / 2) / PER_90K * PER_90K)
    }

    /// `self * part / whole` without intermediate overflow. `whole` must not be zero.
    #[must_use]
    pub const fn mul_div(self, part: u64, whole: u64) -> Ticks {
        Ticks((self.0 as u128 * part as u128 / whole as u128) as u64)
    }

    /// `self - other` modulo the wrap of the clocks: the difference of two lengths each of which may include a wrap.
    #[must_use]
    pub const fn wrapping_sub(self, other: Ticks) -> Ticks {
        Ticks((self.0 % WRAP + WRAP - other.0 % WRAP) % WRAP)
    }

    /// The length of `span`, rounded down.
    pub const fn from_span(span: Span) -> Ticks {
        Ticks((span.as_nanos() as u128 * 27 / 1000) as u64)
    }

    /// `self - other`, or zero if `other` is longer.
    #[must_use]
    pub const fn saturating_sub(self, other: Ticks) -> Ticks {
        Ticks(self.0.saturating_sub(other.0))
    }

    /// The same length in nanoseconds, rounded down.
    pub const fn span(self) -> Span {
        Span::from_nanos((self.0 as u128 * 1000 / 27) as u64)
    }
}

impl Add for Ticks {
    type Output = Ticks;
    fn add(self, other: Ticks) -> Ticks {
        Ticks(self.0.saturating_add(other.0))
    }
}

impl Pcr {
    /// The reference with `base` at 90 kHz and `extension` at 27 MHz, as in the packet.
    pub const fn from_parts(base: u64, extension: u16) -> Pcr {
        Pcr((base * PER_90K + extension as u64) % WRAP)
    }

    /// The instant `ticks` after zero.
    pub const fn at(ticks: Ticks) -> Pcr {
        Pcr(ticks.0 % WRAP)
    }

    /// The base (33 bits) and the extension (0 to 299).
    pub const fn parts(self) -> (u64, u16) {
        (self.0 / PER_90K, (self.0 % PER_90K) as u16)
    }

    /// The time from `earlier` to `self`, across at most one wrap. If `self` is the earlier one, nearly a whole cycle.
    pub const fn since(self, earlier: Pcr) -> Ticks {
        Ticks((self.0 + WRAP - earlier.0) % WRAP)
    }
}

impl Add<Ticks> for Pcr {
    type Output = Pcr;
    fn add(self, ticks: Ticks) -> Pcr {
        Pcr((self.0 + ticks.0 % WRAP) % WRAP)
    }
}

impl Timestamp {
    /// The low 33 bits of `value`.
    pub const fn new(value: u64) -> Timestamp {
        Timestamp(value % WRAP_90K)
    }

    /// The instant `ticks` after zero, rounded down.
    pub const fn at(ticks: Ticks) -> Timestamp {
        Timestamp::new(ticks.0 / PER_90K)
    }

    /// The 33 bits.
    pub const fn value(self) -> u64 {
        self.0
    }

    /// The time from `earlier` to `self`, across at most one wrap. If `self` is the earlier one, nearly a whole cycle.
    pub const fn since(self, earlier: Timestamp) -> Ticks {
        Ticks::from_90k((self.0 + WRAP_90K - earlier.0) % WRAP_90K)
    }
}

impl Add<Ticks> for Timestamp {
    type Output = Timestamp;
    fn add(self, ticks: Ticks) -> Timestamp {
        Timestamp::new(self.0 + ticks.0 % WRAP / PER_90K)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_clocks_wrap_after_26_and_a_half_hours() {
        assert_eq!(Ticks(WRAP).span().as_secs_f64().round(), 95_444.0);
        let late = Pcr::from_parts(WRAP_90K - 1, 299);
        assert_eq!(late + Ticks(1), Pcr::from_parts(0, 0));
        assert_eq!(Pcr::from_parts(0, 5).since(late), Ticks(6));
        let late = Timestamp::new(WRAP_90K - 1);
        assert_eq!((late + Ticks::from_90k(3)).value(), 2);
        assert_eq!((late + Ticks::from_90k(3)).since(late), Ticks::from_90k(3));
    }

    #[test]
    fn a_second_has_27_million_ticks_and_90_thousand_cycles() {
        assert_eq!(Ticks::from_secs(1).span(), Span::from_secs(1));
        assert_eq!(Ticks::from_span(Span::from_secs(1)), Ticks::from_secs(1));
        assert_eq!(Ticks::from_90k(90_000), Ticks::from_secs(1));
        assert_eq!(Ticks(449).rounded_to_90k(), Ticks(300));
        assert_eq!(Ticks(450).rounded_to_90k(), Ticks(600));
    }
}
