//! Results of the flows of one group, within the measuring window.

use thalweg_core::time::Span;

use super::summary::loss;
use super::{FlowOutcome, Outcome};
use crate::statistics::jain;

/// A result of a group: its name in tables, and its computation.
#[derive(Clone, Copy, Debug)]
pub struct GroupQuantity {
    /// Its name, with its unit.
    pub name: &'static str,
    of: fn(&Outcome, &[&FlowOutcome]) -> f64,
}

/// Columns of [`Outcome::of_group`], in this order; NaN where a group has no such value.
pub const GROUP_QUANTITIES: [GroupQuantity; 5] = [
    GroupQuantity { name: "flows", of: |_, flows| flows.len() as f64 },
    // Payload for TCP and tunnels, headers included for others; the sum over all flows.
    GroupQuantity { name: "goodput, Mb/s", of: |run, flows| run.mbps(flows.iter().map(|flow| flow.delivered()).sum()) },
    GroupQuantity { name: "loss", of: |_, flows| loss(flows.iter().map(|flow| flow.offered)) },
    GroupQuantity { name: "Jain's index", of: |_, flows| fairness(flows) },
    GroupQuantity { name: "queueing delay, ms", of: |_, flows| queueing(flows) * 1e3 },
];

impl Outcome {
    /// The value of one of [`GROUP_QUANTITIES`] for a group, which is given by its index in the experiment.
    pub fn of_group(&self, group: usize, quantity: &GroupQuantity) -> f64 {
        let flows: Vec<&FlowOutcome> = self.flows.iter().filter(|flow| flow.group == group).collect();
        (quantity.of)(self, &flows)
    }
}

/// Jain's index of the bytes delivered; NaN for a single flow, and for transfers, whose demand is their size.
fn fairness(flows: &[&FlowOutcome]) -> f64 {
    match flows {
        [] | [_] => f64::NAN,
        flows if flows.iter().any(|flow| flow.transfer().is_some() && flow.playing().is_none()) => f64::NAN,
        flows => jain(flows.iter().map(|flow| flow.delivered().0 as f64)),
    }
}

/// The mean time in seconds that a packet which was not dropped waited in drop-tail queues.
fn queueing(flows: &[&FlowOutcome]) -> f64 {
    let through: u64 = flows.iter().map(|flow| flow.offered.packets.saturating_sub(flow.offered.dropped)).sum();
    let waited = flows.iter().filter_map(|flow| flow.waited).reduce(|sum, one| sum + one);
    waited.map_or(f64::NAN, Span::as_secs_f64) / through as f64
}
