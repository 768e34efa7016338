//! The outcome of each slot's packet, the same for all strategies.

use std::sync::Arc;

use super::ticks::Ticks;

/// A channel: a series of losses, and a round-trip time for each slot.
#[derive(Clone, PartialEq, Debug)]
pub enum Channel {
    /// Constant delay, independent losses.
    Random {
        /// The seed of the losses.
        seed: u64,
        /// The probability of a loss.
        eps: f64,
        /// D.
        rtt: Ticks,
    },
    /// A recording with one entry per slot, repeated.
    Recorded {
        /// The recorded outcomes.
        trips: Arc<[Trip]>,
        /// The slot of the recording at which it begins.
        offset: u64,
    },
    /// Losses in the listed slots only. For cases worked out by hand.
    Scripted {
        /// The slots whose packets are lost.
        lost: Vec<u64>,
        /// D.
        rtt: Ticks,
    },
}

/// The outcome of one packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Trip {
    /// True if the packet is lost.
    pub lost: bool,
    /// The time from its slot to its acknowledgement.
    pub rtt: Ticks,
}

impl Channel {
    /// The outcome of a packet sent in `slot`.
    pub fn trip(&self, slot: u64) -> Trip {
        match self {
            Channel::Random { seed, eps, rtt } => {
                let drawn = mixed(mixed(*seed).wrapping_add(slot));
                // 53 bits: the precision of an f64.
                Trip { lost: ((drawn >> 11) as f64) < eps * (1_u64 << 53) as f64, rtt: *rtt }
            }
            Channel::Recorded { trips, offset } => trips[((slot + offset) % trips.len() as u64) as usize],
            Channel::Scripted { lost, rtt } => Trip { lost: lost.contains(&slot), rtt: *rtt },
        }
    }

    /// The round-trip time to assume before any is measured.
    pub fn rtt(&self) -> Ticks {
        match self {
            Channel::Random { rtt, .. } | Channel::Scripted { rtt, .. } => *rtt,
            Channel::Recorded { trips, .. } => trips.iter().map(|trip| trip.rtt).sum::<u64>() / trips.len() as u64,
        }
    }

    /// The share of packets that is lost in the long run.
    pub fn eps(&self) -> f64 {
        match self {
            Channel::Random { eps, .. } => *eps,
            Channel::Recorded { trips, .. } => {
                trips.iter().filter(|trip| trip.lost).count() as f64 / trips.len() as f64
            }
            Channel::Scripted { .. } => 0.1,
        }
    }
}

/// The finalizer of SplitMix64 (Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators", 2014).
fn mixed(state: u64) -> u64 {
    let z = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first outputs of the reference implementation for seed 0.
    #[test]
    fn the_mixer_is_splitmix64() {
        assert_eq!(mixed(0), 0xe220_a839_7b1d_cdaf);
        assert_eq!(mixed(0x9e37_79b9_7f4a_7c15), 0x6e78_9e6a_a1b9_65f4);
    }

    /// The standard error is .0007; the tolerance is four of them.
    #[test]
    fn losses_come_at_their_rate() {
        let channel = Channel::Random { seed: 3, eps: 0.15, rtt: 450 };
        let lost = (0..250_000).filter(|slot| channel.trip(*slot).lost).count();
        assert!((lost as f64 / 250_000.0 - 0.15).abs() < 0.003, "{lost}");
    }
}
