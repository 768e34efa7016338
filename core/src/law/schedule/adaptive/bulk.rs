//! Windows too large to be reckoned original by original, with bounded work: one look at each, no recursion.
//!
//! Where something waits, what is known to be lost and nothing replaces goes first, as it is and so never in vain, else
//! what waits. The exact law does the same with a loss by itself; where many are known or expected it puts them off, since
//! mending one changes little, and it sends combinations ahead of what waits, which is left out here: they are for bursts.
//! Where nothing waits, combinations are taken to end with the newest original. Then all is decodable if no more packets are lost
//! than combinations are to spare: of n originals and c combinations in flight, with x known losses and a combinations
//! that arrived,
//!
//! P(all decodable) = P(Bin(n + c, eps) <= a + c - x),
//!
//! which is what the exact law reckons. A combination that ends before the newest may replace less: with such the
//! probability is too high, and less is repaired than by the exact law, never more.

use super::super::{Decision, Place, Queue, View};
use super::LARGEST;

/// Decides about `view`, in which nothing is done where all is decodable with more than `sure`.
pub(super) fn choose(view: &View<'_>, sure: f64, is_allowed: impl Fn(f64) -> bool) -> Decision {
    let queue = view.queue;
    if queue.m() > 0 {
        return uncovered(queue).map_or(Decision::NEW, Decision::resend);
    }
    if let Some(original) = uncovered(queue) {
        return Decision::resend(original);
    }
    // No combination covers all of more than that: the first will soon be known.
    if queue.n() > LARGEST {
        return Decision::IDLE;
    }
    let p_all = whole(queue, view.path.eps);
    if p_all <= sure && is_allowed(p_all) { Decision::repair(queue, queue.d() - 1, p_all) } else { Decision::IDLE }
}

/// The first original that was lost and that stays unknown though all arrive that is in flight.
fn uncovered(queue: &Queue) -> Option<u64> {
    let covered = queue.coded_in_flight() + queue.coded_arrived();
    if queue.missing() == 0 || covered >= queue.missing() as u64 {
        return None;
    }
    // Combinations that end later can replace any that are missing before, and the first are waited for the longest.
    queue.first_missing()
}

/// The probability that everything sent will be decodable.
fn whole(queue: &Queue, eps: f64) -> f64 {
    let in_flight = queue.in_doubt().filter(|place: &&Place| !place.arrived && place.copies > 0).count() as u64;
    let coded = queue.coded_in_flight();
    match (queue.coded_arrived() + coded).checked_sub(queue.missing() as u64) {
        Some(spare) => at_most(spare, in_flight + coded, eps),
        None => 0.0,
    }
}

/// P(Bin(n, eps) <= most), from the smaller tail: as many terms as count, some standard deviations of them.
fn at_most(most: u64, n: u64, eps: f64) -> f64 {
    if most >= n {
        return 1.0;
    }
    let odds = eps / (1.0 - eps);
    let chances = |i: u64| (n - i) as f64 / (i + 1) as f64 * odds;
    if (most as f64) < n as f64 * eps {
        tail(mass(most, n, eps), (0..most).rev().map(|i| 1.0 / chances(i)))
    } else {
        1.0 - tail(mass(most + 1, n, eps), (most + 1..n).map(chances))
    }
}

/// The sum of `first` and what follows by these ratios, which fall.
fn tail(first: f64, ratios: impl Iterator<Item = f64>) -> f64 {
    let (mut term, mut sum) = (first, first);
    for ratio in ratios {
        term *= ratio;
        sum += term;
        if term <= sum * f64::EPSILON {
            break;
        }
    }
    sum
}

/// P(Bin(n, eps) = i).
fn mass(i: u64, n: u64, eps: f64) -> f64 {
    let ln_factorial = |count: u64| libm::lgamma(count as f64 + 1.0);
    let ways = ln_factorial(n) - ln_factorial(i) - ln_factorial(n - i);
    libm::exp(ways + i as f64 * libm::log(eps) + (n - i) as f64 * libm::log1p(-eps))
}
