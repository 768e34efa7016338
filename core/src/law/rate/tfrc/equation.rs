//! The throughput of a TCP: the equation of RFC 5348 §3.1, and its inverse.

use core::fmt;

use crate::units::{Bytes, Seconds};

/// An equation for the rate of a flow with segments of s bytes at a round trip of R and a loss event rate of p.
///
/// A trait, so that variants of TFRC with another equation implement only that equation.
pub trait Equation: Clone + PartialEq + fmt::Debug {
    /// Bytes per second for p above 0, at most 1, and a round trip above 0. Decreases with p.
    fn rate(&self, segment: Bytes, rtt: Seconds, p: f64) -> f64;

    /// The p at which `rate` returns `x` bytes per second, within 1e-16 to 1, for §6.3.1.
    fn loss_event_rate(&self, segment: Bytes, rtt: Seconds, x: f64) -> f64 {
        let (mut low, mut high) = (LEAST_P, 1.0);
        // Bisects on the logarithm; 64 steps bring the ratio of the ends from 10^16 down to the last bit.
        for _ in 0..64 {
            let middle = f64::sqrt(low * high);
            if self.rate(segment, rtt, middle) > x {
                low = middle;
            } else {
                high = middle;
            }
        }
        high
    }
}

/// The smallest p that an inverse returns: one loss event in 10^16 packets.
pub(crate) const LEAST_P: f64 = 1e-16;

/// The equation of §3.1 with b = 1: a Reno TCP that acknowledges every packet.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct TcpThroughput {
    /// The minimum of t_RTO. §3.1 takes t_RTO = 4R, and allows max(4R, 1 s).
    pub least_rto: Seconds,
}

impl Equation for TcpThroughput {
    /// X_Bps = s / (R sqrt(2bp/3) + t_RTO (3 sqrt(3bp/8) p (1 + 32p²))).
    fn rate(&self, segment: Bytes, rtt: Seconds, p: f64) -> f64 {
        let t_rto = (4.0 * rtt.0).max(self.least_rto.0);
        let recovery = rtt.0 * f64::sqrt(2.0 * p / 3.0);
        let timeouts = t_rto * (3.0 * f64::sqrt(3.0 * p / 8.0) * p * (1.0 + 32.0 * p * p));
        segment.0 as f64 / (recovery + timeouts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const EQUATION: TcpThroughput = TcpThroughput { least_rto: Seconds(0.0) };

    /// Linux, net/dccp/ccids/lib/tfrc_equation.c: 10^6 f(p) for p in 10^-6, where X = s / (R f(p)).
    const LINUX: [(f64, f64); 6] = [
        (100.0, 8_172.0),
        (1_000.0, 26_052.0),
        (2_000.0, 37_172.0),
        (10_000.0, 89_021.0),
        (100_000.0, 564_939.0),
        (1_000_000.0, 243_315_981.0),
    ];

    #[test]
    fn equation_agrees_with_the_table_of_linux() {
        for (p, f) in LINUX {
            let x = EQUATION.rate(Bytes(1460), Seconds(0.1), p / 1e6);
            let expected = 1460.0 / (0.1 * f / 1e6);
            assert!((x / expected - 1.0).abs() < 1e-4, "p = {p}: {x} is not {expected}");
        }
    }

    #[test]
    fn rate_at_two_thirds_of_a_percent_equals_the_hand_computation() {
        // p = 1/150: sqrt(2p/3) = 1/15; sqrt(3p/8) = 1/20; 12 p / 20 = 1/250; 1 + 32 p² = 1 + 32/22500.
        let f = 1.0 / 15.0 + (1.0 + 32.0 / 22_500.0) / 250.0;
        let x = EQUATION.rate(Bytes(1000), Seconds(0.1), 1.0 / 150.0);
        assert!((x - 10_000.0 / f).abs() < 1e-6, "{x}");
        // With t_RTO = 1 s the second term is 2.5 times as long.
        let slow = TcpThroughput { least_rto: Seconds(1.0) };
        let f = 1.0 / 15.0 + 2.5 * (1.0 + 32.0 / 22_500.0) / 250.0;
        assert!((slow.rate(Bytes(1000), Seconds(0.1), 1.0 / 150.0) - 10_000.0 / f).abs() < 1e-6);
    }

    #[test]
    fn unreachable_rates_map_to_the_nearest_bound_of_p() {
        assert_eq!(EQUATION.loss_event_rate(Bytes(1000), Seconds(0.1), 0.0), 1.0);
        assert!(EQUATION.loss_event_rate(Bytes(1000), Seconds(0.1), 1e300) < 1.0001 * LEAST_P);
        assert!(EQUATION.loss_event_rate(Bytes(1000), Seconds(0.1), f64::NAN) <= 1.0);
    }

    proptest! {
        #[test]
        fn inverse_recovers_the_loss_event_rate(log_p in -9.0..0.0f64, rtt in 0.0001..10.0f64, s in 1u64..10_000) {
            let p = libm::exp10(log_p);
            let x = EQUATION.rate(Bytes(s), Seconds(rtt), p);
            let back = EQUATION.loss_event_rate(Bytes(s), Seconds(rtt), x);
            prop_assert!((back / p - 1.0).abs() < 1e-12, "{back} is not {p}");
        }
    }
}
