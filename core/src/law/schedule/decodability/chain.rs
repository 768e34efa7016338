//! The chain of rank deficiencies, one original a step, forward on distributions and backward on values.

use super::super::Place;

/// What happens to the deficiency from l - 1 to l.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Step {
    /// Probability that no copy of l arrives.
    pub(super) missing: f64,
    /// Combinations that arrived and end here.
    arrived: u32,
    /// Combinations in flight that end here.
    coded: u32,
    /// The largest deficiency after this step that matters, for one more combination than there are.
    top: usize,
}

/// A value for each deficiency, a row for each original.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Chain {
    /// Where each row begins.
    starts: Vec<usize>,
    values: Vec<f64>,
    scratch: Vec<f64>,
}

/// A deficiency that is reached with less is left out.
const NEVER: f64 = 1e-13;

impl Step {
    pub(super) fn of(place: &Place, eps: f64) -> Step {
        let missing = match (place.arrived, place.copies) {
            (true, _) => 0.0,
            (false, 0) => 1.0,
            (false, 1) => eps,
            (false, copies) => libm::pow(eps, f64::from(copies)),
        };
        Step { missing, arrived: place.coded_arrived, coded: place.coded, top: 0 }
    }

    /// Takes the distribution of d_{l-1} to that of d_l. Tells `closed` of each combination: the probability that there is
    /// nothing left to close, and the probability that the combination arrives.
    pub(super) fn forward(&self, at: &mut Vec<f64>, eps: f64, mut closed: impl FnMut(f64, f64)) {
        if self.missing == 1.0 {
            at.insert(0, 0.0);
        } else if self.missing > 0.0 {
            at.push(0.0);
            let (mut below, stay) = (0.0, 1.0 - self.missing);
            for value in at.iter_mut() {
                let here = *value;
                *value = here * stay + below * self.missing;
                below = here;
            }
        }
        let known = (0..self.arrived).map(|_| 1.0);
        for share in known.chain((0..self.coded).map(|_| 1.0 - eps)) {
            let (nothing, above, stay) = (at[0], at.get(1).copied().unwrap_or(0.0), 1.0 - share);
            closed(nothing, share);
            for d in 1..at.len() {
                at[d - 1] = at[d - 1] * stay + at[d] * share;
            }
            if let Some(last) = at.last_mut() {
                *last *= stay;
            }
            at[0] = nothing + share * above;
        }
        at.truncate(self.top + 1);
    }
}

/// Sets [`Step::top`]: no more than the originals so far, and one more than the combinations to come.
pub(super) fn bound(steps: &mut [Step]) {
    let mut to_come = 0;
    for (l, step) in steps.iter_mut().enumerate().rev() {
        step.top = (l + 1).min(to_come + 1);
        to_come += step.arrived as usize + step.coded as usize;
    }
}

/// Lowers [`Step::top`] to what is reached with more than [`NEVER`]: of many originals nearly all deficiencies are out of reach.
pub(super) fn trim(steps: &mut [Step], eps: f64, reached: &mut Vec<f64>) {
    reached.clear();
    reached.push(1.0);
    for step in steps {
        step.forward(reached, eps, |_, _| ());
        let mut beyond = 0.0;
        while reached.len() > 2 && beyond + reached[reached.len() - 1] < NEVER {
            beyond += reached.pop().unwrap_or(0.0);
        }
        step.top = step.top.min(reached.len() - 1);
    }
}

impl Chain {
    /// Makes room for a row a step.
    pub(super) fn prepare(&mut self, steps: &[Step]) {
        self.starts.clear();
        self.values.clear();
        let mut end = 0;
        self.starts.push(end);
        self.starts.extend(steps.iter().map(|step| {
            end += step.top + 1;
            end
        }));
        self.values.resize(end, 0.0);
    }

    /// Keeps places for no more than so many of each.
    pub(super) fn rest(&mut self, most: usize) {
        self.starts.clear();
        self.starts.shrink_to(most);
        for values in [&mut self.values, &mut self.scratch] {
            values.clear();
            values.shrink_to(most);
        }
    }

    /// How many values there are.
    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    pub(super) fn row(&self, l: usize) -> &[f64] {
        &self.values[self.starts[l]..self.starts[l + 1]]
    }

    /// Fills row l with what row l + 1 is worth before its step, `later`; with zeros if there is none.
    pub(super) fn before(&mut self, l: usize, later: Option<Step>, eps: f64) -> &mut [f64] {
        let (start, end) = (self.starts[l], self.starts[l + 1]);
        let Some(step) = later else { return &mut self.values[start..end] };
        let worth = &mut self.scratch;
        worth.clear();
        worth.extend_from_slice(&self.values[end..self.starts[l + 2]]);
        let width = (end - start + 1).max(worth.len());
        worth.resize(width, 0.0);
        let known = (0..step.arrived).map(|_| 1.0);
        for share in known.chain((0..step.coded).map(|_| 1.0 - eps)) {
            let (mut below, stay) = (worth[0], 1.0 - share);
            for value in &mut worth[1..] {
                let here = *value;
                *value = below * share + here * stay;
                below = here;
            }
        }
        let row = &mut self.values[start..end];
        let stay = 1.0 - step.missing;
        for (value, pair) in row.iter_mut().zip(worth.windows(2)) {
            *value = pair[0] * stay + pair[1] * step.missing;
        }
        row
    }
}

/// `sum += weight * added`, as far as both go.
pub(super) fn add(sum: &mut [f64], added: &[f64], weight: f64) {
    sum.iter_mut().zip(added).for_each(|(sum, added)| *sum += weight * added);
}
