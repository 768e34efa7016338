//! Results of a run of the slot model.

use serde::{Deserialize, Serialize};

use super::ticks::{Ticks, seconds};

/// The counters of a run.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Outcome {
    /// The number of originals with each delay, in ticks.
    pub(super) delays: Vec<u32>,
    /// The number of bursts by the number of their packets that were accepted.
    pub accepted: Vec<u64>,
    /// Slots by what was sent.
    pub sent: Sent,
    /// The number of packets that arrived.
    pub received: u64,
    /// The number of arrived packets that were not innovative.
    pub useless: u64,
    /// The measurements of a session beside those of the slot model.
    #[serde(default)]
    pub beside: Option<Beside>,
    /// The loss estimate after each packet, if the sender estimated it by §II-D.
    pub estimates: Vec<f32>,
}

/// Measurements of a session on a packet network.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Beside {
    /// The measured time, in seconds.
    pub seconds: f64,
    /// The goodput of TCP on the same link, in Mb/s.
    pub tcp_mbps: Option<f64>,
    /// The share of the packets of a live stream on the same link that were lost after repair.
    pub residual_loss: Option<f64>,
}

/// The number of slots by what was sent in them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Sent {
    /// Originals sent for the first time.
    pub new: u64,
    /// Combinations.
    pub repair: u64,
    /// Retransmitted originals.
    pub resent: u64,
    /// No packet.
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

    /// The number of originals delivered.
    pub fn count(&self) -> u64 {
        self.delays.iter().map(|count| u64::from(*count)).sum()
    }

    /// The smallest delay, in seconds, that a share `q` of the originals did not exceed; NaN if there were none.
    pub fn percentile(&self, q: f64) -> f64 {
        let wanted = q * self.count() as f64;
        let mut so_far = 0;
        for (delay, count) in self.delays.iter().enumerate().filter(|(_, count)| **count > 0) {
            so_far += u64::from(*count);
            // A share that is a whole number except for rounding errors counts as whole.
            if so_far as f64 >= wanted - 1e-6 {
                return seconds(delay as Ticks);
            }
        }
        f64::NAN
    }

    /// The distribution of the delay: pairs of a delay in seconds and the share of originals that did not exceed it.
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

    /// U: useless packets per needed packet.
    pub fn overhead(&self) -> f64 {
        self.useless as f64 / (self.received - self.useless) as f64
    }

    /// The share of bursts of which at least `packets` packets were accepted.
    pub fn share_of_bursts(&self, packets: usize) -> f64 {
        let bursts: u64 = self.accepted.iter().sum();
        self.accepted.iter().skip(packets).sum::<u64>() as f64 / bursts as f64
    }

    /// The mean number of packets accepted per burst.
    pub fn mean_accepted(&self) -> f64 {
        let bursts: u64 = self.accepted.iter().sum();
        let packets: u64 = (0..).zip(&self.accepted).map(|(packets, count)| packets * count).sum();
        packets as f64 / bursts as f64
    }

    /// The share of combinations among all packets sent.
    pub fn share_of_repair(&self) -> f64 {
        let Sent { new, repair, resent, .. } = self.sent;
        repair as f64 / (new + repair + resent) as f64
    }
}
