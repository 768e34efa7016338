//! The packets of a stream that arrived, and the runs of those that did not.

/// The number of packets below the highest that may still arrive late: a second of 45 Mb/s.
const MEMORY: u64 = 4096;

/// The minimum length of a run of lost packets that is a bursty event: more than three (GENEVA §4).
const BURST: u64 = 4;

/// The outcomes of the packets of one stream in sending order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Arrivals {
    /// The highest sequence number received; 0 before the first packet, which is 1.
    highest: u64,
    /// One bit per packet, set if it arrived.
    came: Box<[u64; (MEMORY / 64) as usize]>,
    lost: u64,
    bursts: u64,
}

impl Default for Arrivals {
    fn default() -> Arrivals {
        Arrivals { highest: 0, came: Box::new([0; (MEMORY / 64) as usize]), lost: 0, bursts: 0 }
    }
}

impl Arrivals {
    /// Records an arrival; returns true if the packet was missing.
    pub(super) fn take(&mut self, sequence: u64) -> bool {
        if sequence > self.highest {
            self.advance(sequence);
            return true;
        }
        if self.highest - sequence >= MEMORY || sequence == 0 || self.has(sequence) {
            return false;
        }
        self.fill(sequence);
        true
    }

    /// The highest sequence number received.
    pub(super) fn highest(&self) -> u64 {
        self.highest
    }

    /// Packets below the highest that did not arrive.
    pub(super) fn lost(&self) -> u64 {
        self.lost
    }

    /// Runs of at least [`BURST`] lost packets.
    pub(super) fn bursts(&self) -> u64 {
        self.bursts
    }

    fn advance(&mut self, sequence: u64) {
        let gap = sequence - self.highest - 1;
        for missing in (self.highest + 1..sequence).rev().take(MEMORY as usize) {
            self.set(missing, false);
        }
        self.set(sequence, true);
        self.lost += gap;
        self.bursts += u64::from(gap >= BURST);
        self.highest = sequence;
    }

    /// Records the late arrival of a packet that counts as lost: it splits its run in two.
    fn fill(&mut self, sequence: u64) {
        let oldest = (self.highest + 1).saturating_sub(MEMORY).max(1);
        let missing = |numbers: &mut dyn Iterator<Item = u64>| {
            numbers.take(BURST as usize).take_while(|&number| !self.has(number)).count() as u64
        };
        let below = missing(&mut (oldest..sequence).rev());
        let above = missing(&mut (sequence + 1..=self.highest));
        self.bursts += u64::from(below >= BURST) + u64::from(above >= BURST);
        self.bursts -= u64::from(below + 1 + above >= BURST);
        self.lost -= 1;
        self.set(sequence, true);
    }

    fn has(&self, sequence: u64) -> bool {
        self.came[(sequence / 64 % (MEMORY / 64)) as usize] >> (sequence % 64) & 1 == 1
    }

    fn set(&mut self, sequence: u64, came: bool) {
        let word = &mut self.came[(sequence / 64 % (MEMORY / 64)) as usize];
        *word = *word & !(1 << (sequence % 64)) | u64::from(came) << (sequence % 64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Runs counted as on paper: the outcomes from 1 to the highest, split at each arrival.
    fn on_paper(came: &[u64]) -> (u64, u64) {
        let highest = came.iter().copied().max().unwrap_or(0);
        let fates: Vec<bool> = (1..=highest).map(|number| came.contains(&number)).collect();
        let runs = fates.split(|came| *came).map(<[bool]>::len);
        (runs.clone().sum::<usize>() as u64, runs.filter(|run| *run > 3).count() as u64)
    }

    fn counted(came: &[u64]) -> (u64, u64) {
        let mut arrivals = Arrivals::default();
        came.iter().for_each(|&number| {
            arrivals.take(number);
        });
        (arrivals.lost(), arrivals.bursts())
    }

    #[test]
    fn more_than_three_in_a_row_are_an_event_and_three_are_none() {
        assert_eq!(counted(&[1, 5]), (3, 0));
        assert_eq!(counted(&[1, 6]), (4, 1));
        assert_eq!(counted(&[5]), (4, 1));
        // A run of nine that a late packet splits into two of four.
        assert_eq!(counted(&[1, 11]), (9, 1));
        assert_eq!(counted(&[1, 11, 6]), (8, 2));
    }

    #[test]
    fn a_gap_longer_than_the_memory_is_one_event() {
        let mut arrivals = Arrivals::default();
        assert!((1..=MEMORY).all(|number| arrivals.take(number)));
        assert!(arrivals.take(9 * MEMORY));
        assert_eq!((arrivals.lost(), arrivals.bursts()), (8 * MEMORY - 1, 1));
        assert!(arrivals.take(9 * MEMORY - 1), "it was missing");
        assert!(!arrivals.take(9 * MEMORY - 1), "it came");
        assert!(!arrivals.take(8 * MEMORY), "it is too old");
    }

    proptest! {
        #[test]
        fn loss_alone_is_counted_as_on_paper(fates in prop::collection::vec(prop::bool::weighted(0.4), 1..400)) {
            let came: Vec<u64> = (1..).zip(fates).filter_map(|(number, came)| came.then_some(number)).collect();
            prop_assert_eq!(counted(&came), on_paper(&came));
        }

        #[test]
        fn so_is_loss_with_reordering_and_duplicates(came in prop::collection::vec(1u64..120, 0..200)) {
            prop_assert_eq!(counted(&came), on_paper(&came));
        }
    }
}
