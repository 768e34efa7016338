//! Bulk transfers of the kernel's TCP.

use std::thread;
use std::time::{Duration, Instant};

use thalweg_testbed::Flow;

use crate::cable::Cable;

/// Flows that never run out of data.
#[derive(Clone, Copy)]
pub(crate) struct Bulk {
    pub(crate) flows: usize,
    /// The kernel's name of the congestion control: `reno`, `cubic`.
    pub(crate) control: &'static str,
    /// The time at the start that is not measured.
    pub(crate) warm_up: Duration,
    pub(crate) measured: Duration,
}

impl Bulk {
    /// The rate of each flow at its receiver after the warm-up, in bits a second.
    pub(crate) fn run(self, cable: &Cable) -> Vec<f64> {
        let start = |_| Flow::start(&cable.hosts, self.control).expect("a congestion control that this kernel has");
        let flows: Vec<Flow> = (0..self.flows).map(start).collect();
        let count = || flows.iter().map(|flow| flow.read().0).collect::<Vec<u64>>();
        thread::sleep(self.warm_up);
        let (start, before) = (Instant::now(), count());
        thread::sleep(self.measured);
        let (after, elapsed) = (count(), start.elapsed());
        after.iter().zip(before).map(|(after, before)| (after - before) as f64 * 8.0 / elapsed.as_secs_f64()).collect()
    }
}
