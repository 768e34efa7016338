//! What came of a run of the slot model.

use serde::{Deserialize, Serialize};

use super::ticks::{Ticks, seconds};

/// What is counted.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Outcome {
    /// How many originals had each delay, in ticks.
    delays: Vec<u32>,
    /// How many bursts had each number of packets accepted.
    pub accepted: Vec<u64>,
    /// Packets that left, by what they were.
    pub sent: Sent,
    /// Packets that arrived.
    pub received: u64,
    /// Those of them that told nothing new.
    pub useless: u64,
    /// The loss estimate after each packet, where it was estimated and asked for.
    pub estimates: Vec<f32>,
}

/// Slots by what was sent in them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Sent {
    /// Originals for the first time.
    pub new: u64,
    /// Combinations.
    pub repair: u64,
    /// Originals again.
    pub resent: u64,
    /// Nothing.
    pub idle: u64,
}

impl Outcome {
    pub(super) fn delivered(&mut self, delay: Ticks) {
        let delay = delay as usize;
        if delay >= self.delays.len() {
            self.delays.resize(delay + 1, 0);
        }
        self.delays[delay] += 1;
    }

    pub(super) fn accepted(&mut self, packets: usize) {
        if packets >= self.accepted.len() {
            self.accepted.resize(packets + 1, 0);
        }
        self.accepted[packets] += 1;
    }

    /// Originals that were delivered.
    pub fn count(&self) -> u64 {
        self.delays.iter().map(|count| u64::from(*count)).sum()
    }

    /// The smallest delay, in seconds, that a share `q` of the originals did not exceed; NaN if there were none.
    pub fn percentile(&self, q: f64) -> f64 {
        let wanted = q * self.count() as f64;
        let mut so_far = 0;
        for (delay, count) in self.delays.iter().enumerate().filter(|(_, count)| **count > 0) {
            so_far += u64::from(*count);
            // A share that is whole but for rounding is whole.
            if so_far as f64 >= wanted - 1e-6 {
                return seconds(delay as Ticks);
            }
        }
        f64::NAN
    }

    /// The distribution of the delay: seconds, and the share that did not exceed them.
    pub fn distribution(&self) -> Vec<(f64, f64)> {
        let all = self.count() as f64;
        let mut so_far = 0;
        let counts = self.delays.iter().enumerate().filter(|(_, count)| **count > 0);
        let point = |(delay, count): (usize, &u32)| {
            so_far += u64::from(*count);
            (seconds(delay as Ticks), so_far as f64 / all)
        };
        counts.map(point).collect()
    }

    /// U: useless packets for each one that was needed.
    pub fn overhead(&self) -> f64 {
        self.useless as f64 / (self.received - self.useless) as f64
    }

    /// The share of bursts of which at least `packets` packets were accepted.
    pub fn share_of_bursts(&self, packets: usize) -> f64 {
        let bursts: u64 = self.accepted.iter().sum();
        self.accepted.iter().skip(packets).sum::<u64>() as f64 / bursts as f64
    }

    /// Packets that a burst had accepted, on average.
    pub fn mean_accepted(&self) -> f64 {
        let bursts: u64 = self.accepted.iter().sum();
        let packets: u64 = (0..).zip(&self.accepted).map(|(packets, count)| packets * count).sum();
        packets as f64 / bursts as f64
    }

    /// The share of all packets that left which were combinations.
    pub fn share_of_repair(&self) -> f64 {
        let Sent { new, repair, resent, .. } = self.sent;
        repair as f64 / (new + repair + resent) as f64
    }
}
