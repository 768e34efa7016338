//! X_recv: the bytes received over the last round trip (RFC 5348 §6.2).

use std::collections::VecDeque;

use crate::time::{Span, Time};
use crate::units::Bytes;

/// The number of pieces into which a round trip is divided, where packets are closer together: X_recv is exact to 1/256
/// and memory is bounded at any rate.
const PIECES: u64 = 256;

/// Bytes received, by arrival time.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Meter {
    /// Pieces by the time of their first packet, oldest first.
    pieces: VecDeque<(Time, u64)>,
}

impl Meter {
    pub(super) fn add(&mut self, now: Time, size: Bytes, rtt: Option<Span>) {
        let grain = rtt.unwrap_or(Span::ZERO) / PIECES;
        match self.pieces.back_mut() {
            Some((first, bytes)) if now.since(*first) < grain => *bytes = bytes.saturating_add(size.0),
            _ => self.pieces.push_back((now, size.0)),
        }
        // One piece more than a round trip of twice the length can touch: the rate is that over R_(m-1).
        if self.pieces.len() as u64 > 2 * PIECES + 1 {
            self.pieces.pop_front();
        }
    }

    /// Bytes per second over the last `rtt`, which must not be zero.
    pub(super) fn rate(&self, now: Time, rtt: Span) -> f64 {
        let recent = self.pieces.iter().rev().take_while(|(at, _)| now.since(*at) < rtt);
        recent.map(|(_, bytes)| *bytes as f64).sum::<f64>() / rtt.as_secs_f64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constant_rate_is_measured_at_any_packet_interval() {
        for gap in [100_000, 10_000, 1_000, 100] {
            let rtt = Span::from_millis(100);
            let mut meter = Meter::default();
            let mut now = Time::ZERO;
            while now < Time::ZERO + Span::from_millis(450) {
                now += Span::from_micros(gap);
                meter.add(now, Bytes(1000), Some(rtt));
            }
            let rate = meter.rate(now, rtt);
            let sent = 1000.0 / (gap as f64 / 1e6);
            assert!((rate / sent - 1.0).abs() <= 1.0 / 256.0, "{rate} is not {sent}");
            assert!(meter.pieces.len() <= 513);
        }
    }

    #[test]
    fn bytes_older_than_a_round_trip_are_not_counted() {
        let mut meter = Meter::default();
        meter.add(Time::ZERO, Bytes(1000), None);
        assert!((meter.rate(Time::from_nanos(9_999), Span::from_micros(10)) - 1e8).abs() < 1e-3);
        assert_eq!(meter.rate(Time::from_nanos(10_000), Span::from_micros(10)), 0.0);
    }
}
