//! Quantities as scenarios write them.

use core::fmt;
use core::marker::PhantomData;
use core::ops::Range;
use core::str::FromStr;

use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Unexpected, Visitor};
use thalweg_core::time::Span;
use thalweg_core::units::Bytes;

use crate::node::queue::Limit;

/// A string with a unit: `"20ms"`, `"40mbit"`.
pub(super) struct Quantity<T>(pub(super) T);

impl<'de, T: FromStr<Err: fmt::Display>> Deserialize<'de> for Quantity<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text<T>(PhantomData<T>);

        impl<T: FromStr<Err: fmt::Display>> Visitor<'_> for Text<T> {
            type Value = Quantity<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string with a number and a unit, such as \"20ms\" or \"40mbit\"")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Quantity<T>, E> {
                text.parse().map(Quantity).map_err(E::custom)
            }
        }

        deserializer.deserialize_str(Text(PhantomData))
    }
}

/// A probability.
#[derive(Default)]
pub(super) struct Share(pub(super) f64);

impl<'de> Deserialize<'de> for Share {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let share = f64::deserialize(deserializer)?;
        if (0.0..=1.0).contains(&share) {
            Ok(Share(share))
        } else {
            Err(D::Error::invalid_value(Unexpected::Float(share), &"a share from 0.0 to 1.0"))
        }
    }
}

/// A frame rate in frames per second, as the time of one frame.
pub(super) struct FrameTime(pub(super) Span);

impl<'de> Deserialize<'de> for FrameTime {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let fps = f64::deserialize(deserializer)?;
        if (0.1..=1000.0).contains(&fps) {
            Ok(FrameTime(Span::from_secs_f64(1.0 / fps)))
        } else {
            Err(D::Error::invalid_value(Unexpected::Float(fps), &"frames a second from 0.1 to 1000"))
        }
    }
}

/// The length of a queue: `60` packets, or `"90kB"`.
pub(super) struct Queue(pub(super) Limit);

impl<'de> Deserialize<'de> for Queue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Length;

        impl Visitor<'_> for Length {
            type Value = Queue;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number of packets such as 60, or of bytes such as \"90kB\"")
            }

            fn visit_i64<E: Error>(self, packets: i64) -> Result<Queue, E> {
                let packets =
                    u64::try_from(packets).map_err(|_| E::invalid_value(Unexpected::Signed(packets), &self))?;
                Ok(Queue(Limit::Packets(packets)))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Queue, E> {
                let bytes = bytes(text).ok_or_else(|| E::invalid_value(Unexpected::Str(text), &self))?;
                Ok(Queue(Limit::Bytes(bytes)))
            }
        }

        deserializer.deserialize_any(Length)
    }
}

/// A duration, or two as a range from which one is drawn: `"2s"`, `["0s", "2s"]`.
pub(super) struct Between(pub(super) Range<Span>);

impl<'de> Deserialize<'de> for Between {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Ends;

        impl<'de> Visitor<'de> for Ends {
            type Value = Between;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a duration such as \"2s\", or two such as [\"0s\", \"2s\"]")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Between, E> {
                text.parse().map(|span| Between(span..span)).map_err(E::custom)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut ends: A) -> Result<Between, A::Error> {
                let mut end = || ends.next_element::<Quantity<Span>>();
                match (end()?, end()?, end()?) {
                    (Some(Quantity(from)), Some(Quantity(to)), None) if from <= to => Ok(Between(from..to)),
                    _ => Err(A::Error::custom("expected two durations, the shorter one first")),
                }
            }
        }

        deserializer.deserialize_any(Ends)
    }
}

/// Parses whole bytes in decimal units: `1500B`, `90kB`, `2MB`.
pub(super) fn bytes(text: &str) -> Option<Bytes> {
    let number = text.strip_suffix('B')?;
    let (digits, factor) = match number.strip_suffix(['k', 'M']) {
        Some(digits) if number.ends_with('k') => (digits, 1_000),
        Some(digits) => (digits, 1_000_000),
        None => (number, 1),
    };
    digits.trim().parse::<u64>().ok()?.checked_mul(factor).map(Bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_read_as_people_write_them() {
        let read = |text| bytes(text).map(|Bytes(count)| count);
        assert_eq!(
            ["1500B", "90kB", "2MB", "7 kB"].map(read),
            [Some(1_500), Some(90_000), Some(2_000_000), Some(7_000)]
        );
        assert_eq!(["", "B", "90", "90k", "-1kB", "1.5kB", "99999999999999999MB"].map(read), [None; 7]);
    }
}
