//! The chain of rank deficiencies and channel states, one original per step, forward on distributions and backward on
//! values. The state is that of the last packet in flight that the chain has passed: good, or bad.

use super::super::channel::Link;
use super::step::{Original, Step};

/// Two numbers: for the good state, and for the bad one.
pub(super) type Pair = [f64; 2];

/// A distribution of deficiency and state.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Distribution {
    /// The shares by deficiency, as far as needed.
    pub(super) shares: Vec<Pair>,
    /// The shares of both states over all deficiencies.
    pub(super) states: Pair,
    /// The expected deficiency.
    pub(super) mean: f64,
}

/// A value for each deficiency and state, a row for each original.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Chain {
    /// The start of each row.
    starts: Vec<usize>,
    values: Vec<Pair>,
    scratch: Vec<Pair>,
}

/// The probability below which a deficiency is omitted.
const NEVER: f64 = 1e-13;

impl Step {
    /// Takes the distribution at l - 1 to that at l.
    pub(super) fn forward(&self, at: &mut Distribution) {
        self.pass(at);
        self.combine(at);
    }

    /// Applies the original.
    pub(super) fn pass(&self, at: &mut Distribution) {
        match self.original {
            Original::Arrived => {}
            Original::Lost => {
                at.shares.insert(0, [0.0; 2]);
                at.mean += at.states[0] + at.states[1];
            }
            Original::InFlight { all, newest } => at.doubt(all, newest),
        }
    }

    /// The probability that no copy of l arrives, if the channel is in its states with the probabilities `states`.
    pub(super) fn missing(&self, states: Pair) -> f64 {
        match self.original {
            Original::Arrived => 0.0,
            Original::Lost => states[0] + states[1],
            Original::InFlight { all, .. } => states[0] * all[0] + states[1] * all[1],
        }
    }

    /// Fills `part` with the part of the distribution at l - 1 in which l is lost, once l has been applied.
    pub(super) fn lose(&self, before: &Distribution, part: &mut Distribution) {
        let lost = |[good, bad]: &Pair| match self.original {
            Original::Arrived => [0.0; 2],
            Original::Lost => [*good, *bad],
            Original::InFlight { all, .. } => [0.0, good * all[0] + bad * all[1]],
        };
        part.shares.clear();
        part.shares.push([0.0; 2]);
        part.shares.extend(before.shares.iter().map(lost));
    }

    /// Applies the combinations that end with the original.
    pub(super) fn combine(&self, at: &mut Distribution) {
        (0..self.arrived).for_each(|_| at.close());
        (0..self.coded).map(|nth| self.link(nth)).for_each(|link| match self.aside {
            true => at.combine_aside(link),
            false => at.combine(link),
        });
        at.shares.truncate(self.top + 1);
    }

    /// Takes the values of deficiency and state at l to those at l - 1; beyond the largest deficiency they are zero.
    fn backward(&self, worth: &mut [Pair]) {
        for nth in (0..self.coded).rev() {
            let [good, bad] = self.link(nth);
            let mut below = worth[0];
            for value in worth.iter_mut() {
                let here = *value;
                let (arrived, lost) = if self.aside { (below, here) } else { ([below[0]; 2], [here[1]; 2]) };
                *value = [arrived[0] + good * (lost[0] - arrived[0]), arrived[1] + bad * (lost[1] - arrived[1])];
                below = here;
            }
        }
        for _ in 0..self.arrived {
            worth.copy_within(..worth.len() - 1, 1);
        }
    }
}

impl Distribution {
    /// The distribution without deficiency, in the state of the newest packet of known outcome.
    pub(super) fn new(state: Pair) -> Distribution {
        Distribution { shares: vec![state], states: state, mean: 0.0 }
    }

    /// Applies an original whose copies are in flight.
    fn doubt(&mut self, all: Link, newest: Link) {
        self.shares.push([0.0; 2]);
        let some = [newest[0] - all[0], newest[1] - all[1]];
        let mut below = 0.0;
        for share in &mut self.shares {
            let [good, bad] = *share;
            let lost = good * newest[0] + bad * newest[1];
            *share = [good + bad - lost, good * some[0] + bad * some[1] + below];
            below = good * all[0] + bad * all[1];
        }
        self.mean += self.states[0] * all[0] + self.states[1] * all[1];
        self.pass(newest);
    }

    /// The part, by state, in which a deficiency closes with the probabilities `closing`.
    pub(super) fn closes(&self, closing: &[Pair]) -> Pair {
        let pairs = self.shares.iter().zip(closing);
        pairs.fold([0.0; 2], |sum, (share, closes)| [sum[0] + share[0] * closes[0], sum[1] + share[1] * closes[1]])
    }

    /// Applies a combination that arrived.
    fn close(&mut self) {
        let nothing = self.shares[0];
        self.shares.copy_within(1.., 0);
        if let Some(last) = self.shares.last_mut() {
            *last = [0.0; 2];
        }
        self.shares[0] = [self.shares[0][0] + nothing[0], self.shares[0][1] + nothing[1]];
        self.mean -= self.states[0] + self.states[1] - nothing[0] - nothing[1];
    }

    /// Applies a combination in flight.
    fn combine(&mut self, link: Link) {
        let arrives = |share: Pair| share[0] * (1.0 - link[0]) + share[1] * (1.0 - link[1]);
        let lost = |share: Pair| share[0] * link[0] + share[1] * link[1];
        let nothing = arrives(self.shares[0]);
        self.mean -= arrives(self.states) - nothing;
        for d in 0..self.shares.len() {
            let above = self.shares.get(d + 1).map_or(0.0, |share| arrives(*share));
            self.shares[d] = [above, lost(self.shares[d])];
        }
        self.shares[0][0] += nothing;
        self.pass(link);
    }

    /// Applies a combination in flight that does not change the state.
    fn combine_aside(&mut self, link: Link) {
        let nothing = self.shares[0];
        for s in 0..2 {
            let arrives = 1.0 - link[s];
            self.mean -= (self.states[s] - nothing[s]) * arrives;
            for d in 0..self.shares.len() {
                let above = self.shares.get(d + 1).map_or(0.0, |share| share[s]);
                self.shares[d][s] = self.shares[d][s] * link[s] + above * arrives;
            }
            self.shares[0][s] += nothing[s] * arrives;
        }
    }

    fn pass(&mut self, link: Link) {
        let lost = self.states[0] * link[0] + self.states[1] * link[1];
        self.states = [self.states[0] + self.states[1] - lost, lost];
    }
}

/// Sets [`Step::top`]: at most the originals so far, and one more than the combinations to come.
pub(super) fn bound(steps: &mut [Step]) {
    let mut to_come = 0;
    for (l, step) in steps.iter_mut().enumerate().rev() {
        step.top = (l + 1).min(to_come + 1);
        to_come += step.arrived as usize + step.coded as usize;
    }
}

/// Lowers [`Step::top`] to the deficiencies reached with more than [`NEVER`]: of many originals nearly all are out of
/// reach.
pub(super) fn trim(steps: &mut [Step], reached: &mut Distribution) {
    for step in steps {
        step.forward(reached);
        let (shares, mut beyond) = (&mut reached.shares, 0.0);
        while let [_, _, .., last] = shares[..]
            && beyond + last[0] + last[1] < NEVER
        {
            beyond += last[0] + last[1];
            shares.pop();
        }
        step.top = step.top.min(shares.len() - 1);
    }
}

impl Chain {
    /// Allocates a row for each step.
    pub(super) fn prepare(&mut self, steps: &[Step]) {
        self.starts.clear();
        self.values.clear();
        let mut end = 0;
        self.starts.push(end);
        self.starts.extend(steps.iter().map(|step| {
            end += step.top + 1;
            end
        }));
        self.values.resize(end, [0.0; 2]);
    }

    /// Frees the memory of all but `most` values of each kind.
    pub(super) fn rest(&mut self, most: usize) {
        self.starts.clear();
        self.starts.shrink_to(most);
        for values in [&mut self.values, &mut self.scratch] {
            values.clear();
            values.shrink_to(most);
        }
    }

    /// Adds to row l, times `weight`, the values before step l + 1, `later`, of `closing`, whose row l was filled last: the part in
    /// which the original of that step is lost.
    pub(super) fn add_lost(&mut self, l: usize, later: &Step, closing: &Chain, weight: f64) {
        let (start, end) = (self.starts[l], self.starts[l + 1]);
        for (value, [good, bad]) in self.values[start..end].iter_mut().zip(&closing.scratch[1..]) {
            let lost = match later.original {
                Original::Arrived => return,
                Original::Lost => [*good, *bad],
                Original::InFlight { all, .. } => [bad * all[0], bad * all[1]],
            };
            *value = [value[0] + weight * lost[0], value[1] + weight * lost[1]];
        }
    }

    /// The number of values.
    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    pub(super) fn row(&self, l: usize) -> &[Pair] {
        &self.values[self.starts[l]..self.starts[l + 1]]
    }

    /// Fills row l with the values of row l + 1 before its step, `later`; with zeros if there is none.
    pub(super) fn before(&mut self, l: usize, later: Option<Step>) -> &mut [Pair] {
        let (start, end) = (self.starts[l], self.starts[l + 1]);
        let Some(step) = later else { return &mut self.values[start..end] };
        let worth = &mut self.scratch;
        worth.clear();
        worth.extend_from_slice(&self.values[end..self.starts[l + 2]]);
        let width = (end - start + 1).max(worth.len());
        worth.resize(width, [0.0; 2]);
        step.backward(worth);
        let row = &mut self.values[start..end];
        match step.original {
            Original::Arrived => row.copy_from_slice(&worth[..row.len()]),
            Original::Lost => row.copy_from_slice(&worth[1..=row.len()]),
            Original::InFlight { all, newest } => {
                let some = [newest[0] - all[0], newest[1] - all[1]];
                for (value, pair) in row.iter_mut().zip(worth.windows(2)) {
                    let ([arrived, doubled], missing) = (pair[0], pair[1][1]);
                    let by = |s: usize| arrived * (1.0 - newest[s]) + doubled * some[s] + missing * all[s];
                    *value = [by(0), by(1)];
                }
            }
        }
        row
    }
}

/// `sum += weight * added`, over the shorter of both.
pub(super) fn add(sum: &mut [Pair], added: &[Pair], weight: f64) {
    for (sum, added) in sum.iter_mut().zip(added) {
        *sum = [sum[0] + weight * added[0], sum[1] + weight * added[1]];
    }
}

/// The gain of `value` in each state if the deficiency falls by one, over its distribution.
pub(super) fn falls(distribution: &[Pair], value: &[Pair]) -> Pair {
    let mut sum = [0.0; 2];
    for (share, value) in distribution[1..].iter().zip(value.windows(2)) {
        sum = [sum[0] + share[0] * (value[0][0] - value[1][0]), sum[1] + share[1] * (value[0][1] - value[1][1])];
    }
    sum
}
