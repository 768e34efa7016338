//! The originals that the receiver will be able to decode in order: p_l and Q, exactly, and the effect of each repair
//! packet.
//!
//! p_l and Q are those of FEC-ARQ: S. Mehrotra, J. Li, Y. Huang, "Optimizing FEC Transmission Strategy for Minimizing
//! Delay in Lossless Sequential Streaming", §II-A (combinations that begin with B), §II-B (sequential decodability, Q of
//! Eqs. (5) and (6)) and §III-A (p_e, with which a packet is useless). The paper refers to its reference \[21\] for the
//! computation of p_l, and assumes independent losses. **The recursion below, its adjoints and the channel of two states
//! are ours**; the tests compare them with an enumeration of all outcomes. Q is the expected rank deficiency, the
//! reading under which the worked example of §II-E is true.
//!
//! Original l is *sequentially decodable* if it and all before it are known. With generic coefficients the rank
//! deficiency of B..=l is d_l = max(0, d_{l-1} + 1 - x_l - c_l), where x_l is 1 if l arrived uncoded and c_l counts the
//! combinations that arrived and end with l; and l is decodable if d_m = 0 for some m in l..D. Packets in flight are
//! lost according to a [`Channel`] of two states, s being that of the last packet in flight up to l: with independent
//! losses both states lose the same. That makes (d, s) a Markov chain over l, exactly so if packets left in the order
//! of the originals that they end with; others are linked to the one before them in that order by the number of packets
//! sent between the two. With [`Delivery::Any`], combinations that left later than packets behind their last original do not
//! change s: it would hide from these packets that they are in one burst.
//!
//! | symbol | here | |
//! |---|---|---|
//! | a_l(d, s) | `reached` | probability that d_l = d and the state is s |
//! | r_l(d, s) | `closing` | probability that d_m = 0 for some m >= l, given d_l = d and s |
//! | p_l | [`Decodability::p`] | sum of a_l(d) r_l(d) |
//! | Q | [`Decodability::q`] | expected d_{D-1}: originals that are still needed |
//! | R_l(d, s) | `onward` | expected weight decoded from l on, given d_l = d and s |
//! | A_l(d, s) | `backward` | weight of the originals before l that wait for l to close them, at d_l = d and s |
//!
//! One more combination that ends with e reduces d_e by one if it arrives, which depends on s. Its gain is linear in
//! a_e for l >= e, and in r_e for l < e, so that the two adjoint vectors R and A give the gain of every candidate
//! without running the chain again for any.
//!
//! With [`Delivery::Any`] an original that arrived is there whatever is missing before it. Then only the lost part of each
//! original waits: A_l has the weight of l itself, where l is lost, and R_l that of the originals behind l.
//!
//! A deficiency above the number of combinations still to come can never close, so d is followed only up to there: with
//! N originals and K combinations all candidates together cost O(N (K + 2)), and behind the last combination next to
//! nothing. Above 256 originals a first pass finds the d reached with more than 10⁻¹³; larger ones are omitted.

mod chain;
mod step;
#[cfg(test)]
mod tests;

use self::chain::{Chain, Distribution};
use self::step::Step;
use super::Queue;
use super::channel::{Channel, Link};

/// Places that stay allocated when the queue is empty.
pub(super) const IDLE: usize = 64;

/// The size up to which a separate pass for unreachable deficiencies gains little.
const MANY: usize = 256;

/// The distance in packets beyond which knowledge of a packet is omitted.
const MOST: usize = 4096;

/// The originals that a gap keeps from the receiver's application.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Delivery {
    /// All from the first missing one on, as in a lossless stream.
    InOrder,
    /// The missing ones alone, as in live media.
    Any,
}

/// The decodability of a queue at its receiver, and the memory for its computation.
#[derive(Clone, PartialEq, Debug)]
pub struct Decodability {
    delivery: Delivery,
    /// The number of originals above which unreachable deficiencies are omitted.
    many: usize,
    steps: Vec<Step>,
    fading: Vec<f64>,
    /// r_l and R_l, with a row for each l.
    closing: Chain,
    onward: Chain,
    p: Vec<f64>,
    candidates: Vec<Candidate>,
    /// The chain after the last original, a_{D-1}, and the link from there to a packet sent now.
    end: Distribution,
    next: Link,
}

/// The effect of one more combination.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Candidate {
    gain: f64,
    /// The probabilities that it arrives, and that it is innovative.
    arrives: f64,
    helps: f64,
    /// The correlation of its loss and that of the packets next to its last original.
    correlation: f64,
}

impl Default for Decodability {
    /// That of a lossless stream.
    fn default() -> Decodability {
        Decodability::new(Delivery::InOrder)
    }
}

impl Decodability {
    /// No packets yet.
    pub fn new(delivery: Delivery) -> Decodability {
        Decodability {
            delivery,
            many: MANY,
            steps: Vec::new(),
            fading: Vec::new(),
            closing: Chain::default(),
            onward: Chain::default(),
            p: Vec::new(),
            candidates: Vec::new(),
            end: Distribution::new([1.0, 0.0]),
            next: [0.0; 2],
        }
    }

    /// Evaluates `queue`, whose packets in flight are lost according to `channel`. The gain of repair is weighted with
    /// `weight`, called with the place of an original after B.
    pub fn evaluate(&mut self, queue: &Queue, channel: &Channel, weight: impl Fn(usize) -> f64) {
        channel.fading(MOST, &mut self.fading);
        self.next = step::steps(self.delivery, queue, channel, &self.fading, &mut self.steps);
        chain::bound(&mut self.steps);
        if self.steps.len() > self.many {
            chain::trim(&mut self.steps, &mut Distribution::new(channel.state()));
        }
        self.backward(&weight);
        self.forward(Distribution::new(channel.state()), &weight);
    }

    /// Frees the memory that large windows took, and discards the results.
    pub(super) fn rest(&mut self) {
        self.p.clear();
        self.p.shrink_to(IDLE);
        self.candidates.clear();
        self.candidates.shrink_to(IDLE);
        self.steps.clear();
        self.steps.shrink_to(IDLE);
        [&mut self.closing, &mut self.onward].into_iter().for_each(|chain| chain.rest(IDLE));
    }

    /// The work of the last evaluation: the number of values of r and R, a few nanoseconds each.
    pub fn work(&self) -> usize {
        self.closing.len()
    }

    /// The number of combinations evaluated: those that end with B, and so on.
    pub fn candidates(&self) -> usize {
        self.candidates.len()
    }

    /// p_l from B on, for each candidate: the probability that l will be there, from the packets in flight; with
    /// [`Delivery::InOrder`], that all before it will be there, too.
    pub fn p(&self) -> &[f64] {
        &self.p
    }

    /// The probability that one more combination of B..=B + `nth` is not innovative if it arrives. That is p_l if
    /// losses are independent; with bursts, its arrival makes the arrival of those before it more likely.
    pub fn p_useless(&self, nth: usize) -> f64 {
        let Candidate { arrives, helps, .. } = self.candidates[nth];
        (1.0 - helps / arrives.max(f64::MIN_POSITIVE)).clamp(0.0, 1.0)
    }

    /// Q: the expected number of originals that are still needed to decode all of B..D.
    pub fn q(&self) -> f64 {
        self.end.mean
    }

    /// The sum of 1 - p_l: the expected number of undecodable originals in B..D.
    pub fn undecoded(&self) -> f64 {
        self.p.iter().map(|p| 1.0 - p).sum()
    }

    /// The probability that all of B..D will be decodable.
    pub fn p_all(&self) -> f64 {
        self.end.shares[0].iter().sum()
    }

    /// The probability that all of B..D will be decodable with one more combination of all of them.
    pub fn p_all_repaired(&self) -> f64 {
        self.p_all() + self.end.shares.get(1).map_or(0.0, |almost| arriving(*almost, self.next))
    }

    /// p_D if D were sent now; the other p_l do not change.
    pub fn p_new(&self) -> f64 {
        arriving(self.end.shares[0], self.next)
    }

    /// Q if D were sent now.
    pub fn q_new(&self) -> f64 {
        self.q() + self.end.states[0] * self.next[0] + self.end.states[1] * self.next[1]
    }

    /// The weighted sum by which p_l, l = B..D, would grow with one more combination of B..=B + `nth`.
    pub fn gain(&self, nth: usize) -> f64 {
        self.candidates[nth].gain
    }

    /// The correlation of the loss of one more combination and that of the packets next to original B + `nth`, 0 to 1.
    pub(super) fn correlation(&self, nth: usize) -> f64 {
        self.candidates[nth].correlation
    }

    /// Q with one more combination of B..=B + `nth`: it is reduced by one unless the packet is lost, or useless.
    pub fn q_repaired(&self, nth: usize) -> f64 {
        self.q() - self.candidates[nth].helps
    }

    /// Computes r and R, from the last original to the first.
    fn backward(&mut self, weight: &impl Fn(usize) -> f64) {
        self.closing.prepare(&self.steps);
        self.onward.prepare(&self.steps);
        for l in (0..self.steps.len()).rev() {
            let later = self.steps.get(l + 1).copied();
            let (closing, onward) = (self.closing.before(l, later), self.onward.before(l, later));
            closing[0] = [1.0; 2];
            match (self.delivery, &later) {
                (Delivery::InOrder, _) => chain::add(onward, closing, weight(l)),
                (Delivery::Any, Some(step)) => self.onward.add_lost(l, step, &self.closing, weight(l + 1)),
                (Delivery::Any, None) => {}
            }
        }
    }

    /// Computes a and A, from the first to the last, and from them all results.
    fn forward(&mut self, mut reached: Distribution, weight: &impl Fn(usize) -> f64) {
        let mut backward = Distribution::new([0.0; 2]);
        let mut lost = Distribution::new([0.0; 2]);
        self.p.clear();
        self.candidates.clear();
        for (l, step) in self.steps.iter().enumerate() {
            // Decoded originals wait for nothing.
            backward.shares[0] = [0.0; 2];
            if l > 0 && self.delivery == Delivery::InOrder {
                chain::add(&mut backward.shares[1..], &reached.shares[1..], weight(l - 1));
            }
            step.pass(&mut backward);
            let missing = step.missing(reached.states);
            if self.delivery == Delivery::Any {
                step.lose(&reached, &mut lost);
                chain::add(&mut backward.shares, &lost.shares, weight(l));
            }
            step.pass(&mut reached);
            [&mut reached, &mut backward].into_iter().for_each(|at| step.combine(at));
            let (closing, onward) = (self.closing.row(l), self.onward.row(l));
            let known = reached.closes(closing);
            let p = match self.delivery {
                Delivery::InOrder => known[0] + known[1],
                Delivery::Any => {
                    step.combine(&mut lost);
                    let [good, bad] = lost.closes(closing);
                    1.0 - missing + good + bad
                }
            };
            let [here, before] = [chain::falls(&reached.shares, onward), chain::falls(&backward.shares, closing)];
            let arrives = arriving(reached.states, step.next);
            self.p.push(p);
            self.candidates.push(Candidate {
                gain: arriving([here[0] + before[0], here[1] + before[1]], step.next),
                arrives,
                helps: arrives - arriving(known, step.next),
                correlation: f64::abs(step.next[1] - step.next[0]),
            });
        }
        self.end = reached;
    }
}

/// The part of `shares` with which the packet of `link` arrives.
fn arriving(shares: [f64; 2], link: Link) -> f64 {
    shares[0] * (1.0 - link[0]) + shares[1] * (1.0 - link[1])
}
