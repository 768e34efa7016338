//! One-way delays of the packets of one flow, and their variation.

use thalweg_core::time::Span;

/// Sums over the packets of a flow, in the order of their arrival.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Transit {
    packets: u64,
    delays: Span,
    /// Pairs of consecutive packets, and the sum of the differences of their delays.
    pairs: u64,
    differences: Span,
    last: Option<Span>,
}

impl Transit {
    /// Counts one more packet.
    pub fn record(&mut self, delay: Span) {
        self.packets += 1;
        self.delays += delay;
        if let Some(last) = self.last.replace(delay) {
            self.pairs += 1;
            self.differences += delay.max(last).saturating_sub(delay.min(last));
        }
    }

    /// Subtracts an `earlier` state of the same flow.
    pub fn subtract(&mut self, earlier: &Transit) {
        self.packets -= earlier.packets;
        self.delays = self.delays.saturating_sub(earlier.delays);
        self.pairs -= earlier.pairs;
        self.differences = self.differences.saturating_sub(earlier.differences);
    }

    /// The mean delay in seconds; NaN without packets.
    pub fn delay(&self) -> f64 {
        self.delays.as_secs_f64() / self.packets as f64
    }

    /// The mean of |D| in seconds, where D is the difference of the delays of two consecutive packets (RFC 3550 §6.4.1,
    /// without its smoothing); NaN with fewer than two packets.
    pub fn jitter(&self) -> f64 {
        self.differences.as_secs_f64() / self.pairs as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn window_has_the_delay_and_the_jitter_of_its_own_packets() {
        let mut transit = Transit::default();
        assert!(transit.delay().is_nan() && transit.jitter().is_nan());
        transit.record(Span::from_millis(90));
        let earlier = transit;
        [20, 30, 25].into_iter().for_each(|millis| transit.record(Span::from_millis(millis)));
        transit.subtract(&earlier);
        assert!((transit.delay() - 0.025).abs() < 1e-12, "{}", transit.delay());
        // 70, 10 and 5 ms.
        assert!((transit.jitter() - 0.085 / 3.0).abs() < 1e-12, "{}", transit.jitter());
    }
}
