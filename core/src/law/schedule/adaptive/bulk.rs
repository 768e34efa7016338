//! Windows too large to be reckoned original by original, with bounded work: one look at each, no recursion.
//!
//! Where something waits, what is known to be lost and nothing replaces goes first, as it is and so never in vain, else
//! what waits. The exact law does the same with a loss by itself; where many are known or expected it puts them off, since
//! mending one changes little, and it sends combinations ahead of what waits, which is left out here: they are for bursts.
//! Where nothing waits, the rank deficiency of all that was sent is taken for normal, which for hundreds of packets it
//! nearly is: with c combinations and x known losses uncovered among n packets in flight,
//!
//! mean = x + n eps - c (1 - eps), variance = (n + c) eps (1 - eps), P(all decodable) = Phi((1/2 - mean) / deviation).

use super::super::{Decision, Place, Queue, View};

/// Decides about `view`, in which nothing is done where all is decodable with more than `sure`.
pub(super) fn choose(view: &View<'_>, sure: f64, is_allowed: impl Fn(f64) -> bool) -> Decision {
    let queue = view.queue;
    if queue.m() > 0 {
        return uncovered(queue).map_or(Decision::NEW, Decision::resend);
    }
    let p_all = whole(queue, view.path.eps);
    match uncovered(queue) {
        Some(original) => Decision::resend(original),
        None if p_all <= sure && is_allowed(p_all) => Decision::repair(queue, queue.d() - 1, p_all),
        None => Decision::IDLE,
    }
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
    let in_flight = queue.in_doubt().filter(|place: &&Place| !place.arrived && place.copies > 0).count() as f64;
    let coded = queue.coded_in_flight() as f64;
    let mean = queue.missing() as f64 + in_flight * eps - queue.coded_arrived() as f64 - coded * (1.0 - eps);
    let deviation = ((in_flight + coded) * eps * (1.0 - eps)).sqrt().max(f64::MIN_POSITIVE);
    0.5 * libm::erfc((mean - 0.5) / deviation / core::f64::consts::SQRT_2)
}
