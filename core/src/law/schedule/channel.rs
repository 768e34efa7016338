//! Bursts of losses as a schedule expects them: Gilbert's channel (E. N. Gilbert, "Capacity of a Burst-Noise Channel",
//! Bell System Technical Journal 39, 1960) in the state that the newest known outcome shows.
//!
//! A packet is lost in the bad state and arrives in the good one. With P, good to bad, and p, bad to good, the long-run
//! loss is eps = P / (P + p), and each packet keeps 1 - P - p of the knowledge about the one before it. Independent
//! losses are the channel with p = 1 - P, which keeps none.

/// A channel, and the knowledge of its state.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Channel {
    eps: f64,
    /// 1 - P - p.
    memory: f64,
    /// The probability that the newest packet of known outcome was lost.
    last: f64,
    /// Packets sent since then.
    since: u32,
}

/// The probability that a packet is lost, given that an earlier one arrived, or was lost.
pub(super) type Link = [f64; 2];

/// The memory below which it counts as none.
const FORGOTTEN: f64 = 1e-9;

impl Channel {
    /// A channel that loses each packet with probability `eps`, independent of others.
    pub const fn independent(eps: f64) -> Channel {
        Channel { eps, memory: 0.0, last: eps, since: 0 }
    }

    /// A channel that turns bad with probability `into` and good with probability `out` at each packet. `last` is true
    /// if the newest packet of known outcome was lost, if there is one, and `since` the number of packets sent after
    /// it.
    pub fn bursty(into: f64, out: f64, last: Option<bool>, since: u32) -> Channel {
        let eps = into / (into + out);
        Channel { eps, memory: 1.0 - into - out, last: last.map_or(eps, |lost| f64::from(u8::from(lost))), since }
    }

    /// The long-run share of lost packets.
    pub const fn eps(&self) -> f64 {
        self.eps
    }

    /// The variance of a number of losses over that of as many independent ones, `(1 + rho) / (1 - rho)`, rho being the part of
    /// the knowledge about a packet that the next one keeps.
    pub(super) fn in_a_row(&self) -> f64 {
        ((1.0 + self.memory) / (1.0 - self.memory)).max(1.0)
    }

    /// Packets sent since the newest of known outcome.
    pub(super) const fn since(&self) -> u32 {
        self.since
    }

    /// The state of the newest packet of known outcome: the probabilities that it arrived, and that it was lost.
    pub(super) fn state(&self) -> [f64; 2] {
        [1.0 - self.last, self.last]
    }

    /// The probability that the next packet is lost.
    pub fn eps_next(&self) -> f64 {
        let carried = libm::pow(self.memory, f64::from(self.since.saturating_add(1)));
        self.eps + (self.last - self.eps) * carried
    }

    /// The probability that a packet is lost, given that the one `packets` before it was.
    pub(super) fn eps_after_loss(&self, packets: i32) -> f64 {
        self.eps + (1.0 - self.eps) * libm::pow(self.memory, f64::from(packets))
    }

    /// An upper bound of the loss probability of every packet sent since the newest of known outcome, of the next
    /// packet, and of any packet behind one that arrived.
    pub(super) fn eps_at_most(&self) -> f64 {
        let next = self.eps + (self.last - self.eps) * self.memory;
        let behind_an_arrival = self.eps * (1.0 - self.memory);
        self.eps.max(next).max(behind_an_arrival)
    }

    /// The parts of the knowledge about a packet that are left after 0, 1, 2, ... more, until none is, or `most` are
    /// listed.
    pub(super) fn fading(&self, most: usize, into: &mut Vec<f64>) {
        let mut left = 1.0;
        into.clear();
        while into.len() < most && f64::abs(left) > FORGOTTEN {
            into.push(left);
            left *= self.memory;
        }
    }

    /// The link from an earlier or later packet to one at which the part `left` of the knowledge about it remains.
    pub(super) fn link(&self, left: f64) -> Link {
        let good = self.eps * (1.0 - left);
        [good, good + left]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn independent_losses_have_no_memory() {
        let channel = Channel::independent(0.2);
        assert_eq!((channel.eps(), channel.eps_next(), channel.eps_at_most()), (0.2, 0.2, 0.2));
        assert_eq!(channel.link(0.0), [0.2, 0.2]);
    }

    proptest! {
        /// One transition per packet, by the definition.
        #[test]
        fn known_channel_state_decays_with_each_packet(
            into in 0.001..0.99_f64, out in 0.01..0.99_f64, lost in any::<bool>(), since in 0..40_u32,
        ) {
            let mut eps = f64::from(u8::from(lost));
            let channel = Channel::bursty(into, out, Some(lost), since);
            for _ in 0..=since {
                eps = (1.0 - eps) * into + eps * (1.0 - out);
                prop_assert!(eps <= channel.eps_at_most() + 1e-12);
            }
            prop_assert!((channel.eps_next() - eps).abs() < 1e-12);
            prop_assert!((channel.eps() - into / (into + out)).abs() < 1e-12);
            let mut fading = Vec::new();
            channel.fading(4096, &mut fading);
            let [good, bad] = channel.link(fading.get(1).copied().unwrap_or(0.0));
            prop_assert!((good - into).abs() < 1e-8 && (bad - (1.0 - out)).abs() < 1e-8);
        }
    }
}
