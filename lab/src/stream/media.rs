//! Production times of the packets of a source of constant rate.

use thalweg_core::time::{Span, Time};
use thalweg_core::units::{Bytes, Rate};

/// Packet m is produced m packet times after the start, as exactly as nanoseconds allow, however long the stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct MediaClock {
    pub(crate) start: Time,
    /// Above zero.
    pub(crate) rate: Rate,
    /// Size of a packet on the wire, above zero.
    pub(crate) packet: Bytes,
}

impl MediaClock {
    /// The time at which packet `number`, from 0, is produced.
    pub(crate) fn at(&self, number: u64) -> Time {
        self.start + self.rate.time_for(self.packet * number)
    }

    /// The number of packets produced before `now`.
    pub(crate) fn before(&self, now: Time) -> u64 {
        let bits = u128::from(self.rate.as_bps()) * u128::from(now.since(self.start).as_nanos());
        bits.div_ceil(u128::from(self.packet.0) * 8_000_000_000) as u64
    }

    /// k: the number of packets within `syn`, with its fraction (GENEVA §3.2.2).
    pub(crate) fn k(&self, syn: Span) -> f64 {
        self.rate.as_bps() as f64 * syn.as_secs_f64() / (8.0 * self.packet.0 as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(rate: Rate) -> MediaClock {
        MediaClock { start: Time::from_nanos(7), rate, packet: Bytes(1500) }
    }

    fn blocks(clock: &MediaClock, count: u64) -> Vec<u64> {
        let produced = |syns| clock.before(clock.start + Span::from_millis(10) * syns);
        (0..count).map(|block| produced(block + 1) - produced(block)).collect()
    }

    #[test]
    fn k_is_that_of_the_paper_and_alternates_between_its_neighbours() {
        let of_25_mbps = clock(Rate::from_mbps(25));
        assert!((of_25_mbps.k(Span::from_millis(10)) - 20.8333).abs() < 1e-4);
        // Six blocks hold 125 packets.
        let blocks_of_25 = blocks(&of_25_mbps, 600);
        assert!(blocks_of_25.iter().all(|k| [20, 21].contains(k)));
        assert!(blocks_of_25.chunks(6).all(|six| six.iter().sum::<u64>() == 125));
        for (mbps, k) in [(30, 25), (60, 50), (90, 75)] {
            assert_eq!(blocks(&clock(Rate::from_mbps(mbps)), 100), [k; 100]);
        }
    }

    #[test]
    fn both_ways_of_counting_agree() {
        let clock = clock(Rate::from_mbps(25));
        for number in (0..5_000_000).step_by(9973) {
            assert_eq!(clock.before(clock.at(number) + Span::from_nanos(1)), number + 1);
        }
    }
}
