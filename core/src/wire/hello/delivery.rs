//! The latency of the media that a receiver has delivered, beside the loss after repair that RFC 7509 reports. No block of
//! RFC 3611 and its successors counts repair as part of a latency.
//!
//! Delivery, subtype 7, from the receiver's SSRC:
//!
//! | offset | field |
//! |---|---|
//! | 0 | median of the latency from input to output in this stream, us (32 bits) |
//! | 4 | its 99th percentile, us (32 bits) |

use super::{get, micros, put};
use crate::time::Span;
use crate::wire::Error;

/// Latencies from input to output of one stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Delivery {
    /// The median, in whole microseconds.
    pub p50: Span,
    /// The 99th percentile, in whole microseconds.
    pub p99: Span,
}

impl Delivery {
    /// The APP subtype.
    pub const SUBTYPE: u8 = 7;
    /// The length of the data in bytes.
    pub const LEN: usize = 8;

    /// Writes the APP data; more than 71 minutes are written as that.
    pub fn emit(&self) -> [u8; Delivery::LEN] {
        let mut data = [0; Delivery::LEN];
        put(&mut data, &[micros(self.p50), micros(self.p99)], &[]);
        data
    }

    /// Parses the APP data; excess bytes are ignored.
    ///
    /// # Errors
    /// [`Error::Truncated`].
    pub fn parse(data: &[u8]) -> Result<Delivery, Error> {
        let ([p50, p99], []) = get(data)?;
        Ok(Delivery { p50: Span::from_micros(p50.into()), p99: Span::from_micros(p99.into()) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn deliveries_round_trip(p50: u32, p99: u32, rest: Vec<u8>) {
            let [p50, p99] = [p50, p99].map(|micros| Span::from_micros(micros.into()));
            let delivery = Delivery { p50, p99 };
            let data = [&delivery.emit()[..], &rest].concat();
            prop_assert_eq!(Delivery::parse(&data), Ok(delivery));
            prop_assert_eq!(Delivery::parse(&data[..7]), Err(Error::Truncated));
        }
    }
}
