//! Sizes and rates as types that carry their units.

use core::fmt;
use core::iter::Sum;
use core::ops::{Add, AddAssign, Mul};
use core::str::FromStr;

pub use crate::quantity::ParseUnitError;
use crate::quantity::split_unit;
use crate::time::Span;

/// Real seconds, for the laws whose papers write their equations in real numbers. All measured or scheduled times are
/// of type [`Span`].
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug, Default)]
pub struct Seconds(pub f64);

/// A number of bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Bytes(pub u64);

/// A rate in bits per second.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Rate(u64);

impl Rate {
    /// `bits` per second.
    pub const fn from_bps(bits: u64) -> Rate {
        Rate(bits)
    }

    /// `megabits` (10^6) per second.
    pub const fn from_mbps(megabits: u64) -> Rate {
        Rate(megabits * 1_000_000)
    }

    /// Bits per second.
    pub const fn as_bps(self) -> u64 {
        self.0
    }

    /// Megabits (10^6 bits) per second.
    pub fn as_mbps_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// The rate of `bytes` in `span`; zero if `span` is zero.
    pub fn of(bytes: Bytes, span: Span) -> Rate {
        match span.as_nanos() {
            0 => Rate(0),
            nanos => Rate((bytes.0 as u128 * 8_000_000_000 / nanos as u128) as u64),
        }
    }

    /// The transmission time of `bytes` at this rate, rounded up to the nanosecond; [`Span::MAX`] at rate zero.
    pub fn time_for(self, bytes: Bytes) -> Span {
        match self.0 {
            0 => Span::MAX,
            // Computed in 64 bits if it fits: a simulated link calls this for every packet.
            bps => match bytes.0.checked_mul(8_000_000_000) {
                Some(bits) => Span::from_nanos(bits.div_ceil(bps)),
                None => {
                    let nanos = (bytes.0 as u128 * 8_000_000_000).div_ceil(bps as u128);
                    Span::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
                }
            },
        }
    }

    /// The number of whole bytes transmitted in `span`.
    pub fn bytes_in(self, span: Span) -> Bytes {
        Bytes((self.0 as u128 * span.as_nanos() as u128 / 8_000_000_000) as u64)
    }
}

impl From<Span> for Seconds {
    fn from(span: Span) -> Seconds {
        Seconds(span.as_secs_f64())
    }
}

impl Add for Bytes {
    type Output = Bytes;
    fn add(self, other: Bytes) -> Bytes {
        Bytes(self.0 + other.0)
    }
}

impl AddAssign for Bytes {
    fn add_assign(&mut self, other: Bytes) {
        self.0 += other.0;
    }
}

impl Mul<u64> for Bytes {
    type Output = Bytes;
    fn mul(self, times: u64) -> Bytes {
        Bytes(self.0 * times)
    }
}

impl Sum for Bytes {
    fn sum<I: Iterator<Item = Bytes>>(all: I) -> Bytes {
        Bytes(all.map(|bytes| bytes.0).sum())
    }
}

/// Units of sizes, the largest first.
const SIZES: &[(&str, f64)] =
    &[("gib", (1u64 << 30) as f64), ("mib", (1u64 << 20) as f64), ("kib", 1024.0), ("b", 1.0)];

impl FromStr for Bytes {
    type Err = ParseUnitError;

    /// A number and a unit: `256mib`, `1.5gib`.
    fn from_str(text: &str) -> Result<Bytes, ParseUnitError> {
        split_unit(text, SIZES, "a size such as 256mib; units are b, kib, mib and gib").map(|bytes| Bytes(bytes as u64))
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = |(_, factor): &&(&str, f64)| self.0.is_multiple_of(*factor as u64);
        let (unit, factor) = SIZES.iter().find(whole).unwrap_or(&("b", 1.0));
        write!(f, "{}{unit}", self.0 / *factor as u64)
    }
}

impl FromStr for Rate {
    type Err = ParseUnitError;

    /// A number and a unit: `40mbit`, `2.5gbit`, `500kbit`, `9600bit`, also written `40Mbps`. A rate above zero and
    /// below one bit per second is refused, since it would be displayed as another number.
    fn from_str(text: &str) -> Result<Rate, ParseUnitError> {
        const UNITS: &[(&str, f64)] = &[
            ("bit", 1.0),
            ("kbit", 1e3),
            ("mbit", 1e6),
            ("gbit", 1e9),
            ("bps", 1.0),
            ("kbps", 1e3),
            ("mbps", 1e6),
            ("gbps", 1e9),
        ];
        split_unit(text, UNITS, "a rate such as 40mbit; units are bit, kbit, mbit and gbit (mbps means mbit)").and_then(
            |bps| match bps > 0.0 && bps < 1.0 {
                true => Err(ParseUnitError::new(text, "a rate of at least 1bit")),
                false => Ok(Rate((bps + 0.5) as u64)),
            },
        )
    }
}

impl fmt::Debug for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            bps if bps < 1_000 => write!(f, "{bps}bit"),
            bps if bps < 1_000_000 => write!(f, "{}kbit", bps as f64 / 1e3),
            bps if bps < 1_000_000_000 => write!(f, "{}mbit", bps as f64 / 1e6),
            bps => write!(f, "{}gbit", bps as f64 / 1e9),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn rates_are_parsed_like_those_of_tc() {
        assert_eq!("40mbit".parse(), Ok(Rate::from_mbps(40)));
        assert_eq!("2.5Gbps".parse(), Ok(Rate::from_mbps(2500)));
        assert_eq!(("0bit".parse(), "1bit".parse()), (Ok(Rate::from_bps(0)), Ok(Rate::from_bps(1))));
        let refused = "0.5bit".parse::<Rate>().map_err(|error| error.to_string());
        assert_eq!(refused, Err("'0.5bit' is not a rate of at least 1bit".to_owned()));
        for bad in ["40", "mbit", "-4mbit", "4mb", "1e9mbit", ""] {
            assert!(bad.parse::<Rate>().is_err(), "{bad}");
        }
    }

    #[test]
    fn sizes_have_binary_units() {
        for (text, bytes) in [("256mib", 256 << 20), ("1.5gib", 3 << 29), ("3KiB", 3072), ("0b", 0)] {
            assert_eq!(text.parse(), Ok(Bytes(bytes)), "{text}");
            assert_eq!(Bytes(bytes).to_string().parse(), Ok(Bytes(bytes)), "{text}");
        }
        assert_eq!([Bytes(256 << 20), Bytes(1025)].map(|size| size.to_string()), ["256mib", "1025b"]);
        for bad in ["256", "mib", "-1kib", "256mb", ""] {
            assert!(bad.parse::<Bytes>().is_err(), "{bad}");
        }
    }

    #[test]
    fn the_transmission_time_of_1500_bytes_at_1_gbps_is_12_us() {
        let rate = Rate::from_mbps(1000);
        assert_eq!(rate.time_for(Bytes(1500)), Span::from_micros(12));
        assert_eq!(rate.bytes_in(Span::from_micros(12)), Bytes(1500));
        assert_eq!(Rate::of(Bytes(1500), Span::from_micros(12)), rate);
        assert_eq!(Rate::from_bps(0).time_for(Bytes(1)), Span::MAX);
    }

    proptest! {
        #[test]
        fn any_text_is_a_rate_or_an_error(text in r"\PC*|[0-9.]{0,400}( ?[kmgKMG]?(bit|bps))?") {
            if let Ok(rate) = text.parse::<Rate>() {
                prop_assert!(rate.as_bps() < 1 << 63);
            }
        }

        #[test]
        fn rates_round_trip_through_text(bps in 0u64..1_000_000_000_000) {
            let read: Rate = Rate::from_bps(bps).to_string().parse().expect("its own form");
            prop_assert!(read.as_bps().abs_diff(bps) <= 1 + bps / 1_000_000, "{read} for {bps}");
        }
    }
}
