//! Packets given up by a timer, where only the acknowledgement may have been lost.

use std::collections::BTreeSet;

/// The memory, in packets, of the share that had arrived. Ours: some bursts; longer is steadier, shorter follows a
/// return path that begins to lose.
const MEMORY: f64 = 64.0;

/// Originals that a timer gave up though no later packet was acknowledged, and how often such a packet had arrived
/// after all.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct TimedOut {
    originals: BTreeSet<u64>,
    given_up: f64,
    arrived: f64,
}

impl TimedOut {
    /// Records that the timer gave a packet up: `original`, or a combination.
    pub(super) fn give_up(&mut self, original: Option<u64>) {
        let keep = 1.0 - 1.0 / MEMORY;
        (self.given_up, self.arrived) = (self.given_up * keep + 1.0, self.arrived * keep);
        self.originals.extend(original);
    }

    /// Records that one of these packets had arrived.
    pub(super) fn arrived(&mut self) {
        self.arrived = (self.arrived + 1.0).min(self.given_up);
    }

    /// Records that a packet, `original` or a combination, is lost: a later one was acknowledged.
    pub(super) fn is_lost(&mut self, original: Option<u64>) {
        if let Some(original) = original {
            self.originals.remove(&original);
        }
    }

    /// Forgets originals before `edge`, all of which have arrived.
    pub(super) fn forget(&mut self, edge: u64) {
        while self.originals.first().is_some_and(|first| *first < edge) {
            self.originals.pop_first();
        }
    }

    /// The probability that `original` has arrived, where `eps` of the packets are lost. Before the first such packet,
    /// the return path is assumed to be like the forward path: arrivals are reported twice, and a share eps² / (eps² +
    /// eps) of what is given up has arrived with both reports lost.
    pub(super) fn p_arrived(&self, original: u64, eps: f64) -> f64 {
        if !self.originals.contains(&original) {
            return 0.0;
        }
        let guess = eps / (1.0 + eps);
        (self.arrived + guess) / (self.given_up + 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrival_probability_of_timed_out_packets_is_learned() {
        let mut timed_out = TimedOut::default();
        assert_eq!(timed_out.p_arrived(7, 0.25), 0.0);
        timed_out.give_up(Some(7));
        // One guess of a fifth, and one packet that has not arrived.
        assert!((timed_out.p_arrived(7, 0.25) - 0.1).abs() < 1e-12);
        for nth in 0..1000 {
            timed_out.give_up(None);
            if nth % 2 == 0 {
                timed_out.arrived();
            }
        }
        // The newest packet has a weight of one in sixty-four.
        assert!((timed_out.p_arrived(7, 0.01) - 0.5).abs() < 0.02, "{}", timed_out.p_arrived(7, 0.01));
        (0..1000).for_each(|_| timed_out.give_up(None));
        assert!(timed_out.p_arrived(7, 0.01) < 0.01);
        timed_out.is_lost(Some(7));
        assert_eq!(timed_out.p_arrived(7, 0.01), 0.0);
        timed_out.give_up(Some(8));
        timed_out.forget(9);
        assert_eq!(timed_out.p_arrived(8, 0.01), 0.0);
    }
}
