//! NTP timestamps as RTP uses them (RFC 3550 §4): seconds with a binary fraction, here since the zero of [`Time`].
//!
//! Receivers of RTP need no more than differences, so the zero may be any (RFC 3550 §6.4.1: a sender without a wall
//! clock uses the time since it started).

use super::sequence::Unwrapper;
use crate::time::{Span, Time};

/// Seconds (32 bits) and their fraction (32 bits).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct NtpTime(pub u64);

/// The middle 32 bits of an NTP timestamp: seconds modulo 2^16 and their fraction (16 bits). Also a duration.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct NtpShort(pub u32);

impl NtpTime {
    /// The middle 32 bits.
    pub const fn middle(self) -> NtpShort {
        NtpShort((self.0 >> 16) as u32)
    }
}

impl From<Time> for NtpTime {
    fn from(at: Time) -> NtpTime {
        NtpTime(((u128::from(at.as_nanos()) << 32) / 1_000_000_000) as u64)
    }
}

impl From<Time> for NtpShort {
    fn from(at: Time) -> NtpShort {
        NtpTime::from(at).middle()
    }
}

impl NtpShort {
    /// The duration, rounded down; what is longer than 18 hours becomes as long as there is.
    pub fn from_span(span: Span) -> NtpShort {
        let ticks = (u128::from(span.as_nanos()) << 16) / 1_000_000_000;
        NtpShort(u32::try_from(ticks).unwrap_or(u32::MAX))
    }

    /// The duration, rounded to the nearest nanosecond.
    pub fn to_span(self) -> Span {
        Span::from_nanos(to_nanos(self.0.into()))
    }

    /// The time from `earlier` to `self`, if both are less than 18 hours apart.
    pub fn since(self, earlier: NtpShort) -> NtpShort {
        NtpShort(self.0.wrapping_sub(earlier.0))
    }
}

/// Turns the short timestamps of one clock, which repeat after 18 hours, into instants that do not.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct NtpUnwrapper(Unwrapper<32>);

impl NtpUnwrapper {
    /// The instant of `stamp`, on the clock of the one who wrote it and shifted by an unknown constant.
    pub fn unwrap(&mut self, stamp: NtpShort) -> Time {
        Time::from_nanos(to_nanos(self.0.unwrap(stamp.0)))
    }
}

fn to_nanos(ticks: u64) -> u64 {
    ((u128::from(ticks) * 1_000_000_000 + (1 << 15)) >> 16) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_rfc_3550_section_6_4_1_is_computed() {
        // Figure 2: A = 0xb710:8000, LSR = 0xb705:2000, DLSR = 0x0005:4000, and a delay of 6.125 s between them.
        let (received, last, delay) = (NtpShort(0xb710_8000), NtpShort(0xb705_2000), NtpShort(0x0005_4000));
        assert_eq!(delay.to_span(), Span::from_millis(5_250));
        assert_eq!(received.since(last).since(delay).to_span(), Span::from_millis(6_125));
        assert_eq!(NtpShort::from_span(Span::from_millis(5_250)), delay);
    }

    #[test]
    fn time_keeps_its_nanoseconds() {
        let at = Time::from_nanos(46_864_500_000_000);
        assert_eq!(NtpTime::from(at), NtpTime(0xb710_8000_0000));
        assert_eq!(NtpShort::from(at), NtpShort(0xb710_8000));
    }

    #[test]
    fn a_clock_runs_on_when_the_short_form_wraps() {
        let mut unwrapper = NtpUnwrapper::default();
        let before = unwrapper.unwrap(NtpShort(0xffff_ffff));
        let after = unwrapper.unwrap(NtpShort(0x0000_ffff));
        assert_eq!(after.since(before), Span::from_secs(1));
        assert_eq!(NtpShort::from_span(Span::MAX), NtpShort(u32::MAX));
    }
}
