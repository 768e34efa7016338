//! NTP timestamps as used by RTP (RFC 3550 §4): seconds with a binary fraction, here since the zero of [`Time`].
//!
//! Receivers of RTP use only differences, so the zero is arbitrary (RFC 3550 §6.4.1: a sender without a wall clock uses
//! the time since it started).

use super::sequence::Unwrapper;
use crate::time::{Span, Time};

/// Seconds (32 bits) and their fraction (32 bits).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct NtpTime(pub u64);

/// The middle 32 bits of an NTP timestamp: seconds modulo 2^16 and their fraction (16 bits). Also used for durations.
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
    /// The duration, rounded down; above 18 hours the largest value.
    pub fn from_span(span: Span) -> NtpShort {
        let ticks = (u128::from(span.as_nanos()) << 16) / 1_000_000_000;
        NtpShort(u32::try_from(ticks).unwrap_or(u32::MAX))
    }

    /// The duration, rounded to the nearest nanosecond.
    pub fn to_span(self) -> Span {
        Span::from_nanos(to_nanos(self.0.into()))
    }

    /// The time from `earlier` to `self`, if they are less than 18 hours apart.
    pub fn since(self, earlier: NtpShort) -> NtpShort {
        NtpShort(self.0.wrapping_sub(earlier.0))
    }
}

/// Extends the short timestamps of one clock, which repeat after 18 hours, to instants that do not repeat.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct NtpUnwrapper(Unwrapper<32>);

impl NtpUnwrapper {
    /// The instant of `stamp`, on its writer's clock shifted by an unknown constant.
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
    fn time_converts_to_both_ntp_formats() {
        let at = Time::from_nanos(46_864_500_000_000);
        assert_eq!(NtpTime::from(at), NtpTime(0xb710_8000_0000));
        assert_eq!(NtpShort::from(at), NtpShort(0xb710_8000));
    }

    #[test]
    fn unwrapper_continues_across_the_wrap_of_the_short_form() {
        let mut unwrapper = NtpUnwrapper::default();
        let before = unwrapper.unwrap(NtpShort(0xffff_ffff));
        let after = unwrapper.unwrap(NtpShort(0x0000_ffff));
        assert_eq!(after.since(before), Span::from_secs(1));
        assert_eq!(NtpShort::from_span(Span::MAX), NtpShort(u32::MAX));
    }
}
