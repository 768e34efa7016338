//! What the receiver will be able to decode in order: p_l and Q, exactly, and what each repair packet would change.
//!
//! Original l is *sequentially decodable* if it and all before it are known. With generic coefficients the rank
//! deficiency of B..=l is d_l = max(0, d_{l-1} + 1 - x_l - c_l), where x_l says whether l arrived uncoded and c_l counts the
//! combinations that arrived and end with l; and l is decodable if d_m = 0 for some m in l..D. What is in flight is lost
//! with probability eps, each packet independently, which makes d a Markov chain over l.
//!
//! | symbol | here | |
//! |---|---|---|
//! | a_l(d) | `reached` | probability that d_l = d |
//! | r_l(d) | `closing` | probability that d_m = 0 for some m >= l, given d_l = d |
//! | p_l | [`Decodability::p`] | sum of a_l(d) r_l(d) |
//! | Q | [`Decodability::q`] | expected d_{D-1}: originals that are still needed |
//! | R_l(d) | `onward` | expected weight decoded from l on, given d_l = d |
//! | A_l(d) | `backward` | weight of what lies before l and waits for l to close it, at d_l = d |
//!
//! One more combination that ends with e moves d_e down by one, with probability 1 - eps. What that gains is linear in
//! a_e for l >= e, and in r_e for l < e, so that the two adjoint vectors R and A give the gain of every candidate without
//! running the chain again for any.
//!
//! A deficiency above the number of combinations that are still to come can never close, so d need only be followed up to
//! there: with N originals and K combinations all candidates together cost O(N (K + 2)), and behind the last combination
//! next to nothing. Above 256 originals a pass ahead finds how far d gets with more than 10⁻¹³, and what lies beyond is left out.

mod chain;
#[cfg(test)]
mod tests;

use self::chain::{Chain, Step};
use super::Queue;

/// Places that stay allocated when none is needed.
pub(super) const IDLE: usize = 64;

/// Looking for what is out of reach takes a pass of its own, and below this gains little.
const MANY: usize = 256;

/// What a queue's receiver will be able to decode, and the memory that reckoning takes.
#[derive(Clone, PartialEq, Debug)]
pub struct Decodability {
    /// Originals above which deficiencies that are out of reach are left out.
    many: usize,
    eps: f64,
    steps: Vec<Step>,
    /// r_l and R_l, a row for each l.
    closing: Chain,
    onward: Chain,
    p: Vec<f64>,
    gain: Vec<f64>,
    q: f64,
    undecoded: f64,
    /// a_{D-1}(0): that everything sent can be decoded.
    whole: f64,
    /// a_{D-1}(1): that one equation will be missing.
    almost: f64,
}

impl Default for Decodability {
    fn default() -> Decodability {
        let (steps, closing, onward) = (Vec::new(), Chain::default(), Chain::default());
        let (p, gain) = (Vec::new(), Vec::new());
        Decodability {
            many: MANY,
            eps: 0.0,
            steps,
            closing,
            onward,
            p,
            gain,
            q: 0.0,
            undecoded: 0.0,
            whole: 0.0,
            almost: 0.0,
        }
    }
}

impl Decodability {
    /// Reckons for `queue`, whose packets in flight are lost with probability `eps`. The gain of repair is weighed with
    /// `weight`, which is given the place of an original after B.
    pub fn reckon(&mut self, queue: &Queue, eps: f64, weight: impl Fn(usize) -> f64) {
        self.eps = eps;
        self.steps.clear();
        self.steps.extend(queue.in_doubt().map(|place| Step::of(place, eps)));
        chain::bound(&mut self.steps);
        if self.steps.len() > self.many {
            chain::trim(&mut self.steps, eps, &mut self.p);
        }
        self.look_back(&weight);
        self.look_on(&weight);
    }

    /// Gives memory back that large windows took; what was reckoned is no more.
    pub(super) fn rest(&mut self) {
        for values in [&mut self.p, &mut self.gain] {
            values.clear();
            values.shrink_to(IDLE);
        }
        self.steps.clear();
        self.steps.shrink_to(IDLE);
        [&mut self.closing, &mut self.onward].into_iter().for_each(|chain| chain.rest(IDLE));
    }

    /// What the last reckoning took: values of r and R that it went through, a few nanoseconds each.
    pub fn work(&self) -> usize {
        self.closing.len()
    }

    /// How many combinations are weighed: those that end with B, and so on.
    pub fn candidates(&self) -> usize {
        self.gain.len()
    }

    /// p_l from B on, for each candidate: the probability that l will be decodable from what is in flight.
    pub fn p(&self) -> &[f64] {
        &self.p
    }

    /// Q: the expected number of originals that are still needed to decode all of B..D.
    pub fn q(&self) -> f64 {
        self.q
    }

    /// The sum of 1 - p_l: how many of B..D are expected not to be decodable.
    pub fn undecoded(&self) -> f64 {
        self.undecoded
    }

    /// The probability that all of B..D will be decodable.
    pub fn p_all(&self) -> f64 {
        self.whole
    }

    /// The probability that all of B..D will be decodable with one more combination of all of them.
    pub fn p_all_repaired(&self) -> f64 {
        self.whole + (1.0 - self.eps) * self.almost
    }

    /// p_D if D were sent now; the others stay as they are.
    pub fn p_new(&self) -> f64 {
        (1.0 - self.eps) * self.whole
    }

    /// Q if D were sent now.
    pub fn q_new(&self) -> f64 {
        self.q + self.eps
    }

    /// The weighted sum by which p_l, l = B..D, would grow with one more combination of B..=B + `nth`.
    pub fn gain(&self, nth: usize) -> f64 {
        self.gain[nth]
    }

    /// Q with one more combination of B..=B + `nth`: it takes one off unless it is lost, or useless.
    pub fn q_repaired(&self, nth: usize) -> f64 {
        self.q - (1.0 - self.eps) * (1.0 - self.p[nth])
    }

    /// From the last original to the first: r and R.
    fn look_back(&mut self, weight: &impl Fn(usize) -> f64) {
        self.closing.prepare(&self.steps);
        self.onward.prepare(&self.steps);
        for l in (0..self.steps.len()).rev() {
            let later = self.steps.get(l + 1).copied();
            let (closing, onward) = (self.closing.before(l, later, self.eps), self.onward.before(l, later, self.eps));
            closing[0] = 1.0;
            for (onward, closing) in onward.iter_mut().zip(closing) {
                *onward += weight(l) * *closing;
            }
        }
    }

    /// From the first to the last: a and A, and with them everything that is asked for.
    fn look_on(&mut self, weight: &impl Fn(usize) -> f64) {
        let keep = 1.0 - self.eps;
        let (mut reached, mut backward) = (vec![1.0], vec![0.0]);
        self.p.clear();
        self.gain.clear();
        self.q = 0.0;
        for (l, step) in self.steps.iter().enumerate() {
            // What is decoded already waits for nothing.
            backward[0] = 0.0;
            if l > 0 {
                chain::add(&mut backward[1..], &reached[1..], weight(l - 1));
            }
            self.q += step.missing;
            step.forward(&mut reached, self.eps, |closed, share| self.q -= share * (1.0 - closed));
            step.forward(&mut backward, self.eps, |_, _| ());
            let (closing, onward) = (self.closing.row(l), self.onward.row(l));
            self.p.push(reached.iter().zip(closing).map(|(a, r)| a * r).sum());
            self.gain.push(keep * (falls(&reached, onward) + falls(&backward, closing)));
        }
        self.undecoded = self.p.iter().map(|p| 1.0 - p).sum();
        (self.whole, self.almost) = (reached[0], reached.get(1).copied().unwrap_or(0.0));
    }
}

/// What `value` gains where the deficiency falls by one, over its distribution.
fn falls(distribution: &[f64], value: &[f64]) -> f64 {
    distribution[1..].iter().zip(value.windows(2)).map(|(share, value)| share * (value[0] - value[1])).sum()
}
