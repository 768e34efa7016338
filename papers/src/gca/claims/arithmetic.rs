//! Claims about Eq. (2).

use thalweg_core::law::rate::gca::Greediness;
use thalweg_core::law::rate::tfrc::{Equation, TcpThroughput};
use thalweg_core::units::{Bytes, Seconds};

use super::{Evaluator, Part, Wanted};
use crate::gca::equation::{PAIRS, greediness};

const SEGMENT: Bytes = Bytes(1024);
const RTT: Seconds = Seconds(0.046);
/// Loss event rates from nearly none to all.
const LOSSES: [f64; 7] = [1e-9, 1e-4, 0.001, 0.01, 0.05, 0.2, 1.0];
/// The relative difference that counts as none.
const ROUNDING: Wanted = Wanted::Below(1e-12);

/// The largest relative difference of two functions of p.
fn farthest(one: impl Fn(f64) -> f64, other: impl Fn(f64) -> f64) -> f64 {
    LOSSES.map(|p| (one(p) / other(p) - 1.0).abs()).into_iter().fold(0.0, f64::max)
}

fn rate(equation: &impl Equation, p: f64) -> f64 {
    equation.rate(SEGMENT, RTT, p)
}

/// Eq. (2) at alpha = 1, beta = 1/2, and Eq. (1).
pub(super) fn default_is_tfrc(_: &Evaluator<'_>) -> Vec<Part> {
    let difference = farthest(|p| rate(&Greediness::default(), p), |p| rate(&TcpThroughput::default(), p));
    vec![Part::computed("largest relative difference of Eq. (2) and Eq. (1)", difference, ROUNDING)]
}

/// X over the square root of alpha.
pub(super) fn grows_with_the_root_of_alpha(_: &Evaluator<'_>) -> Vec<Part> {
    let part = |alpha: f64| {
        let root = |p| rate(&greediness(1.0, 0.5), p) * alpha.sqrt();
        let difference = farthest(|p| rate(&greediness(alpha, 0.5), p), root);
        Part::computed(format!("largest relative difference at alpha = {alpha}"), difference, ROUNDING)
    };
    [0.25, 0.5, 2.0, 2.25].map(part).into()
}

/// The multiplier over TFRC of a pair of Fig. 5 at some loss event rates.
fn multipliers((alpha, beta): (f64, f64), losses: &[f64], wanted: Wanted) -> Vec<Part> {
    let part = |p: &f64| {
        let what = format!("X over that of TFRC, alpha = {alpha}, beta = {beta}, p = {p}");
        Part::computed(what, greediness(alpha, beta).multiplier(*p), wanted)
    };
    losses.iter().map(part).collect()
}

pub(super) fn first_pair_is_half(_: &Evaluator<'_>) -> Vec<Part> {
    multipliers(PAIRS[0], &[1e-9, 0.005, 0.02], Wanted::Within(0.52, 0.56))
}

pub(super) fn last_pair_is_almost_double(_: &Evaluator<'_>) -> Vec<Part> {
    multipliers(PAIRS[2], &[1e-9, 0.02, 0.05], Wanted::Within(1.75, 1.875))
}

/// The smallest growth of X from one beta to the next.
pub(super) fn grows_with_beta(_: &Evaluator<'_>) -> Vec<Part> {
    let part = |p: f64| {
        let rates = (1..100).map(|percent| rate(&greediness(1.0, f64::from(percent) / 100.0), p));
        let rates: Vec<f64> = rates.collect();
        let least = rates.windows(2).map(|pair| pair[1] / pair[0]).fold(f64::INFINITY, f64::min);
        Part::computed(format!("smallest growth of X by .01 of beta, p = {p}"), least, Wanted::Above(1.0))
    };
    [1e-4, 0.01, 0.1].map(part).into()
}
