//! Coupled congestion control: S. Islam, M. Welzl, S. Gjessing, "Coupled Congestion Control for RTP Media", RFC 8699,
//! 2020, with its active algorithm (§5.3.1).
//!
//! Flows from one sender through one bottleneck have one sum of rates, and each a share of it by its priority. The
//! congestion control of each flow goes on unchanged: the difference between the rate that it determines and the rate that
//! the flow had enters the sum, and all flows get new rates. The rival of [`share`](super::share).
//!
//! | RFC | here | |
//! |---|---|---|
//! | FSE, FG | [`Exchange`] | flow state exchange, with one flow group |
//! | P(f), DR(f) | arguments of [`Exchange::handle_start`] | priority, desired rate |
//! | CC_R(f) | argument of [`Exchange::handle_rate`] | rate that the congestion control has determined |
//! | FSE_R(f) | [`Exchange::rate`] | rate that the flow is to use |
//! | S_CR, S_P, TLO, AR | `s_cr`, `s_p`, `tlo`, `ar` | sums of rates and priorities; rate left over, rate assigned |
//!
//! Which flows share a bottleneck is given: detection (SBD) is the caller's.

use super::share::Id;
use crate::law::ParameterError;
use crate::law::parameter::{positive, within};
use crate::units::Rate;

/// The largest priority and the largest rate, in bits per second.
const MOST: f64 = 1e15;

/// A flow of the group.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Flow {
    id: Id,
    /// P(f).
    priority: f64,
    /// DR(f), in bits per second.
    desired: f64,
    /// FSE_R(f), in bits per second.
    rate: f64,
}

/// The flows of one bottleneck, and the rate of each.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Exchange {
    flows: Vec<Flow>,
    /// S_CR, in bits per second.
    s_cr: f64,
}

impl Exchange {
    /// Registers a flow (step 1) with the initial rate of its congestion control. A flow that is registered gets the new
    /// priority and desired rate, and keeps its rate.
    ///
    /// # Errors
    /// The priority or a rate is 0.
    pub fn handle_start(&mut self, id: Id, priority: f64, desired: Rate, initial: Rate) -> Result<(), ParameterError> {
        let (desired, initial) = (desired.as_bps() as f64, initial.as_bps() as f64);
        within("priority", priority, positive(MOST))?;
        within("desired rate", desired, positive(MOST))?;
        within("rate", initial, positive(MOST))?;
        match self.flows.iter_mut().find(|flow| flow.id == id) {
            Some(flow) => (flow.priority, flow.desired) = (priority, desired),
            None => {
                let rate = initial.min(desired);
                self.flows.push(Flow { id, priority, desired, rate });
                self.s_cr += rate;
            }
        }
        Ok(())
    }

    /// Removes a flow that stops or pauses (step 2).
    // Reading(RFC 8699 §5.3.1): S_CR keeps its rate, which the other flows share from the next update on.
    pub fn handle_stop(&mut self, id: Id) {
        self.flows.retain(|flow| flow.id != id);
        if self.flows.is_empty() {
            self.s_cr = 0.0;
        }
    }

    /// Takes the rate that the congestion control of a flow has determined, and assigns new rates to all flows (step 3,
    /// UPDATE). A flow that is not registered has no effect.
    pub fn handle_rate(&mut self, id: Id, determined: Rate) {
        let Some(flow) = self.flows.iter().find(|flow| flow.id == id) else { return };
        // Step 3a.
        // Deviation(RFC 8699 §5.3.1): no flow adds more than its desired rate, and S_CR is at most the sum of those. It
        // would grow without bound while all flows have what they desire.
        let determined = (determined.as_bps() as f64).min(flow.desired);
        let desired: f64 = self.flows.iter().map(|flow| flow.desired).sum();
        self.s_cr = (self.s_cr + determined - flow.rate).clamp(0.0, desired);
        self.distribute();
    }

    /// Steps 3b and 3c.
    fn distribute(&mut self) {
        let mut s_p: f64 = self.flows.iter().map(|flow| flow.priority).sum();
        self.flows.iter_mut().for_each(|flow| flow.rate = 0.0);
        let (mut tlo, mut ar) = (self.s_cr, 0.0);
        // Each pass but the last satisfies a flow; floating-point remainders of S_P are no flow.
        for _ in 0..=self.flows.len() {
            if tlo - ar <= 0.0 || s_p <= 0.0 {
                return;
            }
            ar = 0.0;
            for flow in self.flows.iter_mut().filter(|flow| flow.rate < flow.desired) {
                let share = tlo * flow.priority / s_p;
                if share >= flow.desired {
                    tlo -= flow.desired;
                    flow.rate = flow.desired;
                    s_p -= flow.priority;
                } else {
                    flow.rate = share;
                    ar += share;
                }
            }
        }
    }

    /// The rate that a flow is to use, step 3d; none if it is not registered.
    pub fn rate(&self, id: Id) -> Option<Rate> {
        let flow = self.flows.iter().find(|flow| flow.id == id)?;
        Some(Rate::from_bps(flow.rate as u64))
    }
}

/// The shares of `sum` among flows with these priorities, above 0, and desired rates (steps 3b and 3c alone).
pub fn shares(sum: Rate, flows: &[(f64, Rate)]) -> Vec<Rate> {
    let flow = |(id, (priority, desired)): (u32, &(f64, Rate))| {
        let desired = desired.as_bps() as f64;
        Flow { id: Id(id), priority: *priority, desired, rate: 0.0 }
    };
    let mut exchange = Exchange { flows: (0..).zip(flows).map(flow).collect(), s_cr: sum.as_bps() as f64 };
    exchange.distribute();
    exchange.flows.iter().map(|flow| Rate::from_bps(flow.rate as u64)).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MANY: Rate = Rate::from_mbps(1_000);

    /// Flows of these priorities and desired rates that begin at 1 Mb/s.
    fn exchange(flows: &[(f64, Rate)]) -> Exchange {
        let mut exchange = Exchange::default();
        for (id, (priority, desired)) in (0..).zip(flows) {
            exchange.handle_start(Id(id), *priority, *desired, Rate::from_mbps(1)).expect("in range");
        }
        exchange
    }

    fn rates(exchange: &Exchange) -> Vec<f64> {
        exchange.flows.iter().map(|flow| flow.rate / 1e6).collect()
    }

    #[test]
    fn change_of_one_flow_is_shared_by_priority() {
        let mut exchange = exchange(&[(9.0, MANY), (6.0, MANY), (3.0, MANY)]);
        // S_CR = 3 + 16 - 1.
        exchange.handle_rate(Id(0), Rate::from_mbps(16));
        assert_eq!(rates(&exchange), [9.0, 6.0, 3.0]);
        // S_CR = 18 + 1 - 3: the decrease is shared as well.
        exchange.handle_rate(Id(2), Rate::from_mbps(1));
        assert_eq!(rates(&exchange), [8.0, 16.0 / 3.0, 8.0 / 3.0]);
    }

    #[test]
    fn shares_of_a_capacity_are_by_priority_within_the_desired_rates() {
        let mbps = |flows: &[(f64, Rate)]| {
            shares(Rate::from_mbps(18), flows).iter().map(|rate| rate.as_bps() / 1_000_000).collect::<Vec<_>>()
        };
        let of = |most| [9_u32, 6, 3].map(|need| (f64::from(need), Rate::from_mbps(u64::from(most * need))));
        assert_eq!((mbps(&of(10)), mbps(&of(1))), (vec![9, 6, 3], vec![9, 6, 3]));
        assert_eq!(mbps(&[(9.0, Rate::from_mbps(4)), (6.0, MANY), (1.0, MANY)]), [4, 12, 2]);
        assert!(shares(MANY, &[]).is_empty());
    }

    #[test]
    fn rest_of_a_satisfied_flow_goes_to_the_others_by_priority() {
        let mut exchange = exchange(&[(9.0, Rate::from_mbps(4)), (6.0, MANY), (3.0, MANY)]);
        exchange.handle_rate(Id(1), Rate::from_mbps(17));
        // S_CR = 19; shares of 9.5 are cut to 4, and 15 are left for priorities of 6 and 3.
        let given = rates(&exchange);
        assert!((given[0], given[1]) == (4.0, 10.0) && (given[2] - 5.0).abs() < 1e-9, "{given:?}");
    }

    #[test]
    fn rate_of_a_flow_that_stops_goes_to_the_others() {
        let mut exchange = exchange(&[(1.0, MANY), (1.0, MANY)]);
        exchange.handle_rate(Id(0), Rate::from_mbps(5));
        exchange.handle_stop(Id(0));
        exchange.handle_rate(Id(1), Rate::from_mbps(3));
        assert_eq!(rates(&exchange), [6.0]);
        exchange.handle_stop(Id(1));
        exchange.handle_rate(Id(1), Rate::from_mbps(3));
        assert_eq!((exchange.rate(Id(1)), exchange.s_cr), (None, 0.0));
    }

    #[test]
    fn sum_does_not_grow_beyond_the_desired_rates() {
        let desired = Rate::from_mbps(2);
        let mut exchange = exchange(&[(1.0, desired), (1.0, desired)]);
        for _ in 0..100 {
            exchange.handle_rate(Id(0), MANY);
        }
        assert_eq!(rates(&exchange), [2.0, 2.0]);
        // At once below, not after a hundred updates.
        exchange.handle_rate(Id(0), Rate::from_mbps(1));
        assert_eq!(rates(&exchange), [1.5, 1.5]);
    }

    #[test]
    fn priority_and_rates_of_zero_are_refused() {
        let (zero, one) = (Rate::from_bps(0), Rate::from_mbps(1));
        for (priority, desired, initial) in [(0.0, one, one), (f64::NAN, one, one), (1.0, zero, one), (1.0, one, zero)]
        {
            assert!(Exchange::default().handle_start(Id(0), priority, desired, initial).is_err());
        }
    }

    proptest! {
        #[test]
        fn rates_are_within_the_desired_and_sum_to_s_cr(
            flows in prop::collection::vec((0.01f64..100.0, 1u64..100), 1..8),
            updates in prop::collection::vec((0u32..8, 1u64..200), 0..40),
        ) {
            let flows: Vec<_> = flows.into_iter().map(|(priority, mbps)| (priority, Rate::from_mbps(mbps))).collect();
            let mut exchange = exchange(&flows);
            for (id, mbps) in updates {
                exchange.handle_rate(Id(id), Rate::from_mbps(mbps));
                let sum: f64 = exchange.flows.iter().map(|flow| flow.rate).sum();
                prop_assert!((sum - exchange.s_cr).abs() <= 1e-6 * exchange.s_cr.max(1.0), "{sum}, {}", exchange.s_cr);
                prop_assert!(exchange.flows.iter().all(|flow| (0.0..=flow.desired).contains(&flow.rate)));
            }
        }
    }
}
