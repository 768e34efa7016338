//! Repair of live media with a deadline: the packet that leaves next is the one that saves most media in time.
//!
//! The law is the choice of FEC-ARQ ([`super::cost`]) with a deadline in the place of a delay. Media is a sequence of
//! *originals*, each of which is of use until a time of its own. Beside media, a sender may send an original again, or a
//! random linear combination of those that are still of use. Such a packet is worth
//!
//! V = sum over l of w_l (p_l with the packet - p_l without it),
//!
//! p_l being the probability that original l arrives, or can be decoded, from all that has been sent
//! ([`super::decodability`]). The best packet leaves if V exceeds the *price*, in originals, which rises with the combinations that
//! have left of late: the more repair there is, the more a byte has to save. The weight w_l is the
//! probability that nothing that is sent later saves l, so that the law waits with what can wait:
//!
//! | original l | w_l |
//! |---|---|
//! | is too late for a packet that leaves now | 0 |
//! | is known to be lost, and no copy is in flight | 1: its packet must leave at some time |
//! | is in flight | (f_k + price n_k + c^j) exp(-1.3 theta m / v) |
//!
//! - k is the number of retransmissions that are possible, one after the other, once the loss of the newest copy is
//!   known. Without any, f = 1 and n = 0. Each is lost with probability eps. The last one is repeated as long as that is
//!   worth the price, n copies in all, each of them lost with probability c2 if the one before it was: f_k = eps^k
//!   c2^(n - 1). A packet that saves l saves these copies as well, hence the price.
//! - c^j is the probability that the loss is known too late for any of them: each loss after it, which follows a loss with
//!   probability c, delays that by a slot, and j slots are left. It is 0 where there is no retransmission.
//! - m is the number of originals that leave until l is too late, and theta the rate at which later combinations make up
//!   for a loss: Chernoff's exponent of a walk which rises by one with probability eps, and falls by one with
//!   probability r (1 - eps), per original. r is the number of combinations per original of late.
//! - v corrects the exponent for losses in a row: the variance of their number over that of as many independent ones.

mod effort;
mod window;

use effort::Effort;
pub use window::Window;

use super::channel::Channel;
use super::decodability::{Decodability, Delivery};
use super::{Backlog, Decision, LARGEST, Next, ParameterError, Place, Queue, Schedule, View, parameter};
use crate::law::registry;
use crate::probe::{Probe, Visitor};
use crate::time::{Span, Time};

/// The measurements of the path of live media.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Path {
    /// The losses of the packets in flight and of the next one.
    pub channel: Channel,
    /// The time from the departure of a packet until its loss is known if the next packet arrives: a round trip, a slot, and
    /// the patience for reordering.
    pub notice: Span,
    /// The same for a retransmission: if no other repair leaves soon, the reports alone show that it is lost.
    pub again: Span,
    /// The time from the production of an original to its last useful departure.
    pub budget: Span,
    /// The time from one original to the next.
    pub slot: Span,
}

impl Backlog for Window {
    type Path = Path;
}

/// The parameter of the law.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Parameters {
    /// The least worth of a packet while hardly any combinations leave, in originals, 10⁻⁶ to 1.
    pub price: f64,
}

impl Parameters {
    /// Checks the price.
    ///
    /// # Errors
    /// It is outside its range.
    pub fn check(&self) -> Result<(), ParameterError> {
        parameter::within("price", self.price, 1e-6..=1.0)
    }
}

impl Default for Parameters {
    /// A price that meets the bars of `lab/tests/live/auto.rs` and `benches/run live`.
    fn default() -> Parameters {
        Parameters { price: 1.0 / 600.0 }
    }
}

impl registry::Parameters for Parameters {
    const NAMES: &'static [&'static str] = &["price"];

    fn set(&mut self, name: &str, value: &str) -> Result<(), ParameterError> {
        let name = parameter::known(name, Parameters::NAMES)?;
        self.price = parameter::number(name, value)?;
        Ok(())
    }
}

/// The state of the law.
#[derive(Clone, PartialEq, Debug)]
pub struct Deadline {
    parameters: Parameters,
    /// The factor on the price, and the price of the next choice.
    scarcity: f64,
    price: f64,
    now: Decodability,
    weights: Vec<f64>,
    /// For each original of the window, the probability that its loss, if it is lost, is not known in time to send it again.
    unnoticed: Vec<f64>,
    /// r: combinations per original of late.
    rate: f64,
    /// The first original of the window at the last choice, and the first one that had not been sent.
    first: u64,
    next: u64,
    /// V of the best packet at the last choice.
    worth: f64,
    effort: Effort,
}

/// Originals over which r is averaged. Ours: some windows of 40 ms at 10 Mb/s; fewer follow single bursts of losses,
/// more adapt later to another path.
const MEMORY: f64 = 200.0;

/// Combinations per original, beyond two for each loss, at which the price is twice as high, and the power of their number with
/// which it rises. Ours: with a price that does not rise, 4.4 % of loss in bursts costs more bytes than the bars of
/// `lab/tests/live/auto.rs` allow, or rare bursts leave more losses than these bars.
const DEAR: (f64, f64) = (0.23, 8.0);
/// The greatest factor on the price. Ours: that of .30 such combinations. With 16 a latency that is too short for most repair
/// leaves four times the losses.
const DEAREST: f64 = 10.0;

/// The correlation of losses that counts as none. Ours: a packet in a hundred.
const NO_CORRELATION: f64 = 0.01;

/// The factor on the exponent of later repair. Chernoff's bound is too high by a factor of its own; and a combination
/// later repairs a whole window, not one original. Ours: with 1, 5 % of independent losses cost more bytes than the bars of
/// `deadline/model.rs` allow, for no gain; with 1.6, bursts of losses leave more than these.
const HASTE: f64 = 1.3;

/// The most copies of the last retransmission. Ours: more are worth their price at losses above 40 % alone.
const COPIES: f64 = 8.0;

/// The distance of two copies of the last retransmission, in packets: one of media is between.
const APART: i32 = 2;

/// The work for an original beside the recursion, in values of it: measured, 75 ns.
const PLACE: usize = 25;

/// The number of retransmissions beyond which another makes no difference.
const ROUNDS: usize = 3;

/// Values that differ by less are equal.
const TIE: f64 = 1e-12;

impl Deadline {
    /// A law with these parameters.
    ///
    /// # Errors
    /// The price is outside its range.
    pub fn new(parameters: Parameters) -> Result<Deadline, ParameterError> {
        parameters.check()?;
        let now = Decodability::new(Delivery::Any);
        Ok(Deadline {
            parameters,
            scarcity: 1.0,
            price: parameters.price,
            now,
            weights: Vec::new(),
            unnoticed: Vec::new(),
            rate: 0.0,
            first: 0,
            next: 0,
            worth: 0.0,
            effort: Effort::new(),
        })
    }

    /// V of the best packet at the last choice, in originals.
    pub fn worth(&self) -> f64 {
        self.worth
    }

    /// The probability, as of the last choice, that original l stays lost; none for one that was not in the window then.
    /// A loss that would have been known in time, and is not, is one only if its notice is late.
    pub fn expected_loss(&self, l: u64) -> Option<f64> {
        let place = usize::try_from(l.checked_sub(self.first)?).ok()?;
        Some((1.0 - self.now.p().get(place)?) * self.unnoticed.get(place)?)
    }

    /// Multiplies the price by `factor` from the next choice on, because only so much less repair may leave.
    pub fn set_scarcity(&mut self, factor: f64) {
        self.scarcity = factor;
    }

    /// The weights w_l of the window at the last choice, from its first original on.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The factor on the price, if so many packets are lost.
    fn dearness(&self, eps: f64) -> f64 {
        let beyond = (self.rate - 2.0 * eps / (1.0 - eps)).max(0.0);
        (1.0 + libm::pow(beyond / DEAR.0, DEAR.1)).min(DEAREST)
    }

    /// f_k + price n_k.
    fn fails(&self, k: usize, channel: &Channel) -> f64 {
        if k == 0 {
            return 1.0;
        }
        let (eps, again) = (channel.eps(), channel.eps_after_loss(APART));
        let (mut last, mut copies) = (eps, 1.0);
        while last * (1.0 - again) > self.price && copies < COPIES {
            (last, copies) = (last * again, copies + 1.0);
        }
        last * libm::pow(eps, (k - 1) as f64) + self.price * copies
    }

    /// theta, per original; 0 if combinations do not make up for the losses.
    fn exponent(&self, eps: f64) -> f64 {
        let (up, down) = (eps, (self.rate * (1.0 - eps)).min(1.0 - TIE));
        if down <= up {
            return 0.0;
        }
        // x minimizes the mean of x^step.
        let x = libm::sqrt((1.0 - up) * down / (up * (1.0 - down)));
        -libm::log((1.0 - up + up * x) * (1.0 - down + down / x))
    }

    fn weigh(&mut self, now: Time, window: &Window, path: &Path) {
        let &Path { channel, notice, again, budget, slot } = path;
        let fails = core::array::from_fn::<_, { ROUNDS + 1 }, _>(|k| self.fails(k, &channel));
        let (eps, ln_c) = (channel.eps(), libm::log(channel.eps_after_loss(1)));
        let decay = HASTE * self.exponent(eps) / channel.in_a_row() / slot.max(Span::from_nanos(1)).as_secs_f64();
        self.weights.clear();
        self.unnoticed.clear();
        let (slot, round) = (slot.as_nanos().max(1), again.as_nanos().max(1));
        for (place, departed) in window.in_doubt() {
            let until = place.entered + budget;
            let known = departed.at + if departed.is_first { notice } else { again };
            let (fails, unnoticed) = if until >= known && !place.is_missing() {
                let spare = until.since(known).as_nanos();
                // The loss of each packet after it delays the notice by a slot.
                let unnoticed = exp((1 + spare / slot) as f64 * ln_c);
                (fails[ROUNDS.min(1 + (spare / round) as usize)] + unnoticed, unnoticed)
            } else {
                (fails[0], 1.0)
            };
            self.unnoticed.push(if now < known { (unnoticed + eps).min(1.0) } else { unnoticed });
            self.weights.push(match place.is_missing() {
                _ if until < now => 0.0,
                true => 1.0,
                false => fails * exp(-decay * until.since(now).as_secs_f64()),
            });
        }
    }

    /// The best packet, as the place of its last original, and its worth.
    ///
    /// Of the packets that share a burst with the next one, the newest is the only end at which the chain has the next one in its
    /// place between them. At others it would appear to survive their burst.
    fn best(&self, queue: &Queue) -> Option<(usize, f64)> {
        let newest = self.now.candidates().min(LARGEST).checked_sub(1)?;
        let is_apart = |nth: usize| self.now.correlation(nth) < NO_CORRELATION;
        let is_end = |nth: usize, place: &Place| nth == newest || place.is_missing() || is_apart(nth);
        let ends = queue.in_doubt().take(newest + 1).enumerate().filter(|(nth, place)| is_end(*nth, place));
        let all = ends.map(|(nth, _)| (nth, self.now.gain(nth)));
        all.reduce(|best, next| if next.1 > best.1 + TIE { next } else { best })
    }

    /// Averages r over the originals up to `next`.
    fn forget(&mut self, next: u64) {
        let originals = next.saturating_sub(self.next);
        self.rate *= libm::pow(1.0 - 1.0 / MEMORY, originals as f64);
        self.next = next;
    }
}

/// e^x; 0 where that is far below any price, as for most originals.
fn exp(x: f64) -> f64 {
    if x < -25.0 { 0.0 } else { libm::exp(x) }
}

impl Schedule<Window> for Deadline {
    fn choose(&mut self, view: &View<'_, Window>) -> Decision {
        let queue = view.queue.queue();
        self.forget(queue.d());
        if !self.effort.suffices(queue, view.path.slot) {
            return self.effort.decide(queue);
        }
        self.first = queue.b();
        self.price = self.scarcity * self.parameters.price * self.dearness(view.path.channel.eps());
        self.weigh(view.now, view.queue, &view.path);
        let weights = &self.weights;
        self.now.evaluate(queue, &view.path.channel, |l| weights[l]);
        let best = self.best(queue);
        self.worth = best.map_or(0.0, |(_, worth)| worth);
        self.effort.spent(self.now.work() + PLACE * queue.n(), self.worth / self.price, view.path.budget);
        let Some((nth, _)) = best.filter(|(_, worth)| *worth > self.price) else { return Decision::IDLE };
        let (last, p_useless) = (queue.b() + nth as u64, self.now.p_useless(nth));
        // The last missing original up to there closes all that a combination would, and needs no decoding.
        let decision = match queue.last_missing(last).filter(|_| p_useless <= TIE) {
            Some(original) => Decision::resend(original),
            None => Decision::repair(queue, last, p_useless),
        };
        self.rate += if matches!(decision.next, Next::Repair { .. }) { 1.0 / MEMORY } else { 0.0 };
        decision
    }

    fn rest(&mut self) {
        self.now.rest();
        (self.weights, self.unnoticed) = (Vec::new(), Vec::new());
    }
}

impl Probe for Deadline {
    /// Shows `worth` (V of the best packet of the last choice, originals) and `ahead` (r).
    fn probe(&self, visit: &mut Visitor<'_>) {
        visit("worth", self.worth);
        visit("ahead", self.rate);
    }
}

#[cfg(test)]
mod model;
#[cfg(test)]
mod tests;
