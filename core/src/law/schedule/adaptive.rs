//! Thalweg's own law: the cost-based choice with what the paper's sender leaves lying.
//!
//! It differs from [`super::cost_based`] in eight points, and has one set of parameters for all paths:
//!
//! 1. *A loss is inferred when its acknowledgement is overdue* by the reordering that was measured
//!    ([`super::overdue::Overdue`]), not after a timeout. That is the sender's part.
//! 2. *An original that is not decodable costs a round trip.* Eq. (6) counts one packet time for it; but what is lost and
//!    not repaired ahead waits for its acknowledgement to be overdue, so it counts rtt / T + `slack`.
//! 3. *Age.* What has waited longer counts for more, w_l = ((age_l + rtt) / (rtt + 4.5 T))^3: it is the late that make the
//!    tail of the delays, and they all become late together behind one gap.
//! 4. *Useless packets have a price*, so that of two equal packets the one is sent that is more likely to be needed.
//! 5. *Idle.* Where nothing new waits, nothing is sent if all of B..D is nearly sure to be decodable. On a fast line a burst
//!    is one flight and its repair the most of what is wasted, so the doubt that is left there is more: (1 - `sure`)
//!    times r / 20, but at most three times. Doubt counts for less the more packets it would take to remove it.
//! 6. *A crowd.* Where more than 16 originals wait, and until the line has had 64 opportunities to spare, nothing goes before
//!    what waits that is likelier to be useless than to be lost; above 20 packet times a round trip than r / 20 times that, at
//!    most one in 20. What is lost holds up a flight there, and a useless packet still costs one packet time.
//! 7. *Losses in a row.* What is in flight, and what would leave now, is lost as a channel of two states says that was fitted to
//!    the outcomes ([`super::channel::Channel`]): behind a run of losses that has ended nothing is repaired that is not lost.
//! 8. *What is known to be missing* goes before what waits, and uncoded: it is no longer than it was, and known by itself.
//!
//! Windows above 256 originals are reckoned as often as bounded work allows: see `adaptive/effort.rs`.
//!
//! With r = rtt / T, at most m + 400 T / rtt, w the weights, and p and Q after the packet:
//!
//! C_FEC(e) = (r + slack) sum over B..D of w_l (1 - p_l) + waiting (W + o) (Q + 1) / (1 - eps) + price u_e;
//! C_ORIG = (r + slack) sum over B..=D of w_l (1 - p_l) + waiting (W - w_D + o) Q / (1 - eps);
//!
//! W being the sum of the weights of what waits, o the weight of the newest times `offset`, u_e the probability that the packet is
//! useless if it arrives: p_e where losses are independent.

mod effort;
mod worth;

use self::effort::Effort;
use self::worth::{LIKELY, LONG, doubt, lack, round_trip, useless_in_crowd, weight};
use super::decodability::{self, Decodability};
use super::{Decision, ParameterError, Schedule, View, parameter};
use crate::probe::{Probe, Visitor};

/// What the choice is made by; the defaults are for all paths.
#[derive(Clone, PartialEq, Debug)]
pub struct Parameters {
    /// What an undecodable original costs besides the round trip, packet times.
    pub slack: f64,
    /// The weight of what waits, packet times.
    pub waiting: f64,
    /// One more original that is thought to wait, and its share.
    pub offset: f64,
    /// What a useless packet costs, packet times.
    pub price: f64,
    /// Nothing is repaired in a free opportunity if all is decodable with this probability, on a line with up to 20 packet
    /// times a round trip; on a faster one, up to three times the doubt is left.
    pub sure: f64,
    /// U_MAX: useless packets for each one that is needed, at least 0.
    pub u_max: f64,
}

impl Default for Parameters {
    /// Chosen on seeds 21 and 22 of the paper's workload, after a first short search on seed 5 and a look at seed 1.
    fn default() -> Parameters {
        Parameters { slack: 2.0, waiting: 7.8, offset: 0.3, price: 4.0, sure: 0.993, u_max: 0.5 }
    }
}

impl Parameters {
    /// Whether the values fit together.
    ///
    /// # Errors
    /// One of them is outside its range.
    pub fn check(&self) -> Result<(), ParameterError> {
        for (name, value) in
            [("slack", self.slack), ("waiting", self.waiting), ("offset", self.offset), ("price", self.price)]
        {
            parameter::within(name, value, 0.0..=1e6)?;
        }
        parameter::within("sure", self.sure, 0.0..=1.0)?;
        parameter::within("u_max", self.u_max, 0.0..=1e6)
    }
}

/// The law.
#[derive(Clone, PartialEq, Debug)]
pub struct Adaptive {
    parameters: Parameters,
    now: Decodability,
    /// w_l of B..=E.
    weights: Vec<f64>,
    /// Free opportunities until a crowd is forgotten.
    crowded: u32,
    effort: Effort,
}

/// Costs that differ by less are equal.
const TIE: f64 = 1e-12;
/// Packets that are useless with no more than this probability never raise the overhead: §III-A.
const HARMLESS: f64 = 1e-12;

/// So many times the doubt is left on the fastest lines.
const DOUBT: f64 = 3.0;
/// W of §IV: where more waits, the line has had no time to spare.
const CROWD: usize = 16;
/// As long as free opportunities since then are fewer, what is likelier to be useless than to be lost waits for one.
const RELIEF: u32 = 64;

/// What an original takes by itself, beside the values of its deficiencies and as many of these.
const AN_ORIGINAL: usize = 8;

/// The most originals that a combination covers (RFC 8681 §4.1.3, NSS).
pub const LARGEST: usize = 4095;
/// The largest window, B..D, that is reckoned at every opportunity.
const EXACT: usize = 256;

impl Adaptive {
    /// The law with these parameters.
    ///
    /// # Errors
    /// They do not pass [`Parameters::check`].
    pub fn new(parameters: Parameters) -> Result<Adaptive, ParameterError> {
        parameters.check()?;
        Ok(Adaptive {
            parameters,
            now: Decodability::default(),
            weights: Vec::new(),
            crowded: 0,
            effort: Effort::default(),
        })
    }

    /// The same law that reckons every window, however large and long it takes: what the bound on its work costs is measured so.
    #[must_use]
    pub fn tireless(self) -> Adaptive {
        Adaptive { effort: Effort::BOUNDLESS, ..self }
    }

    /// Sets another bound on the overhead.
    ///
    /// # Errors
    /// It is negative, or not finite.
    pub fn set_u_max(&mut self, u_max: f64) -> Result<(), ParameterError> {
        parameter::within("u_max", u_max, 0.0..=1e6)?;
        self.parameters.u_max = u_max;
        Ok(())
    }

    /// Returns whether what waits is certain to go first, by a bound that needs no recursion. With nothing lost and no
    /// combination about, each of n packets in flight being lost with eps at most, n of them leave (i + 1) eps of the
    /// i-th at most, and 1 - (n + 1) eps of all of them and the next at least.
    fn is_surely_new(&self, view: &View<'_>) -> bool {
        let (queue, eps) = (view.queue, view.path.channel.eps_at_most());
        let (n, m) = (queue.n() as f64, queue.m() as f64);
        if queue.m() == 0 || queue.missing() > 0 || queue.coded_in_flight() > 0 || queue.coded_arrived() > 0 {
            return false;
        }
        // In a crowd only what is likelier to be lost than useless may go first, and the last of n is useless with that much.
        if self.crowded > 0 && libm::pow(1.0 - eps, n.min(LARGEST as f64) + 1.0) > useless_in_crowd(view, eps) {
            return true;
        }
        let Parameters { slack, waiting, offset, .. } = self.parameters;
        // An original that entered earlier weighs no less.
        let weight = weight(view);
        let [first, next, last] = [queue.b(), queue.d(), queue.e()].map(|original| weight(queue.place(original)));
        let gain = first * n.min(eps * n * (n + 1.0) / 2.0) + next * (eps * (n + 1.0)).min(1.0);
        waiting * (m + offset) * last * (1.0 - (n + 1.0) * eps) > lack(view, slack) * gain + TIE
    }

    fn weigh(&mut self, view: &View<'_>) {
        self.weights.clear();
        let weight = weight(view);
        self.weights.extend(view.queue.in_doubt().map(&weight));
        self.weights.extend(view.queue.waiting().map(&weight));
    }

    /// The cost of D, and of each combination without what they share.
    fn costs(&self, view: &View<'_>) -> (f64, impl Fn(usize) -> f64) {
        let Parameters { slack, waiting, offset, price, .. } = self.parameters;
        let (weights, now, n) = (&self.weights, &self.now, view.queue.n());
        let lack = lack(view, slack);
        let newest = weights.last().copied().unwrap_or(0.0);
        let all = weights[n..].iter().sum::<f64>() + offset * newest;
        let first = weights.get(n).copied().unwrap_or(0.0);
        let share = waiting / (1.0 - view.path.channel.eps());
        let new = lack * first * (1.0 - now.p_new()) + share * (all - first) * now.q_new();
        let repair = move |nth: usize| {
            share * all * (now.q_repaired(nth) + 1.0) - lack * now.gain(nth) + price * now.p_useless(nth)
        };
        (new, repair)
    }

    /// The probability above which nothing is repaired in a free opportunity.
    fn sure(&self, view: &View<'_>) -> f64 {
        1.0 - (1.0 - self.parameters.sure) * (round_trip(view) / LONG).clamp(1.0, DOUBT)
    }

    fn is_allowed(&self, view: &View<'_>, p_useless: f64) -> bool {
        // Deviation(FEC-ARQ §III-A): as in the cost-based law, what cannot be useless is sent whatever the overhead is.
        let is_crowded =
            self.crowded > 0 && view.queue.m() > 0 && p_useless > useless_in_crowd(view, view.path.channel.eps_next());
        p_useless <= HARMLESS || view.queue.overhead().with(p_useless) <= self.parameters.u_max && !is_crowded
    }
}

impl Schedule for Adaptive {
    fn choose(&mut self, view: &View<'_>) -> Decision {
        let queue = view.queue;
        if queue.is_empty() {
            return Decision::IDLE;
        }
        self.crowded = match queue.m() {
            0 => self.crowded.saturating_sub(1),
            m if m > CROWD => RELIEF,
            _ => self.crowded,
        };
        if self.is_surely_new(view) {
            return Decision::NEW;
        }
        if queue.n() <= EXACT {
            return self.reckoned(view);
        }
        let decision = if self.effort.suffices(view) {
            let decision = self.reckoned(view);
            self.effort.spent(self.now.work() + AN_ORIGINAL * self.weights.len(), view, &self.now);
            decision
        } else {
            self.effort.stands(view, self.sure(view), |p_useless| self.is_allowed(view, p_useless))
        };
        self.effort.took(&decision, view.path.channel.eps_next());
        decision
    }

    fn rest(&mut self) {
        self.now.rest();
        self.weights.clear();
        self.weights.shrink_to(decodability::IDLE);
    }
}

impl Adaptive {
    /// The choice, reckoned exactly.
    fn reckoned(&mut self, view: &View<'_>) -> Decision {
        let queue = view.queue;
        self.weigh(view);
        let weights = &self.weights;
        self.now.reckon(queue, &view.path.channel, |l| weights[l]);
        let (new, repair) = self.costs(view);
        let mut best: Option<(usize, f64)> = None;
        for nth in 0..self.now.candidates().min(LARGEST) {
            let cost = repair(nth);
            if best.is_none_or(|best| cost < best.1 - TIE) && self.is_allowed(view, self.now.p_useless(nth)) {
                best = Some((nth, cost));
            }
        }
        let is_idle = queue.m() == 0;
        let goes = |nth: usize, cost: f64| match self.now.p_useless(nth) {
            // What is missing for certain has to leave at some time, and until then nothing behind it can be decoded.
            p_useless if p_useless <= HARMLESS => true,
            p_useless if is_idle => {
                p_useless < LIKELY || doubt(self.now.p_all(), self.now.q()) >= 1.0 - self.sure(view)
            }
            _ => cost < new - TIE,
        };
        match best {
            Some((nth, cost)) if goes(nth, cost) => {
                let (last, p_useless) = (queue.b() + nth as u64, self.now.p_useless(nth));
                // The last original that is missing up to there closes all that a combination would, and is known by itself.
                match queue.last_missing(last).filter(|_| p_useless <= HARMLESS) {
                    Some(original) => Decision::resend(original),
                    None => Decision::repair(queue, last, p_useless),
                }
            }
            _ if is_idle => Decision::IDLE,
            _ => Decision::NEW,
        }
    }
}

impl Probe for Adaptive {
    /// Shows `q` (Q of what is in flight) and `p_all` (that all that was sent will be decodable) at the last choice.
    fn probe(&self, visit: &mut Visitor<'_>) {
        visit("q", self.now.q());
        visit("p_all", self.now.p_all());
    }
}

#[cfg(test)]
mod tests;
