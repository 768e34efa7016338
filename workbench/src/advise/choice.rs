//! The recommendation.

use super::{Candidate, Outcome};

/// The recommended candidate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Choice {
    /// Its place in the list.
    pub nth: usize,
    /// False if no candidate keeps the loss: then it is the one that loses least.
    pub keeps_loss: bool,
}

/// The share of the media's bytes that another candidate has to save beyond the intervals. Ours: repair that follows the path
/// is worth more than less.
const SAVING: f64 = 0.01;

/// The factor by which another candidate has to lose less than the default, where none keeps the loss. Ours: all have met the
/// same losses, so that their differences are smaller than the intervals.
const BETTER: f64 = 2.0;

/// The candidate of least bytes that keeps the loss, or, if none does, the one that loses least; `most` is the share of packets
/// that may be lost after repair.
///
/// The first candidate, which is the default, is preferred to others unless its interval is above the loss, another one saves
/// bytes beyond the intervals, or, where none keeps the loss, another one loses less than half as much.
///
/// # Panics
/// Without candidates.
pub fn choose(tried: &[(Candidate, Outcome)], most: f64) -> Choice {
    let loss = |outcome: &Outcome| outcome.loss.interval();
    let default = &tried[0].1;
    let keeps = |outcome: &Outcome| loss(outcome).value <= most || (outcome == default && loss(outcome).low <= most);
    let keeps_loss = tried.iter().any(|(_, outcome)| keeps(outcome));
    // Bytes count among those that keep the loss.
    let cost = |outcome: &Outcome| if keeps_loss { outcome.overhead.value } else { loss(outcome).value };
    let allowed = tried.iter().enumerate().filter(|(_, (_, outcome))| keeps(outcome) || !keeps_loss);
    let order = |(candidate, outcome): &(Candidate, Outcome)| (cost(outcome), candidate.latency);
    let best = allowed.min_by(|(_, one), (_, other)| {
        let ((one, first), (other, second)) = (order(one), order(other));
        one.total_cmp(&other).then(first.cmp(&second))
    });
    let (nth, (_, best)) = best.expect("a candidate");
    let is_better = match keeps_loss {
        true => !keeps(default) || best.overhead.high + SAVING < default.overhead.low,
        false => loss(best).value * BETTER < loss(default).value,
    };
    Choice { nth: if is_better { nth } else { 0 }, keeps_loss }
}

#[cfg(test)]
mod tests {
    use thalweg_core::time::Span;

    use super::*;
    use crate::advise::{Interval, Loss};

    /// Candidates of this loss and these bytes, of which the second measurement differs by .01.
    fn tried(all: &[(f64, f64)]) -> Vec<(Candidate, Outcome)> {
        let outcome = |(loss, overhead): &(f64, f64)| Outcome {
            packets: 10_000,
            lost: (loss * 1e4) as u64,
            loss: Loss::Rate(Interval { value: *loss, low: loss / 2.0, high: loss * 2.0 }),
            overhead: Interval { value: *overhead, low: overhead - 0.01, high: overhead + 0.01 },
            p99: Interval { value: 0.1, low: 0.1, high: 0.1 },
        };
        let candidate = Candidate { repair: "auto".to_owned(), latency: Span::from_millis(100), block: None };
        all.iter().map(|one| (candidate.clone(), outcome(one))).collect()
    }

    #[test]
    fn the_default_is_recommended_unless_another_is_better() {
        for (all, nth, keeps_loss, why) in [
            (&[(1e-5, 0.20), (2e-5, 0.175)][..], 0, true, "within the intervals"),
            (&[(1e-5, 0.20), (2e-5, 0.10)], 1, true, "it saves bytes"),
            (&[(1e-5, 0.20), (1e-3, 0.10)], 0, true, "it loses too much"),
            (&[(1.5e-4, 0.20), (1e-5, 0.30)], 0, true, "the default may keep the loss"),
            (&[(1e-3, 0.10), (1e-5, 0.30), (5e-5, 0.25)], 2, true, "least bytes of those that keep the loss"),
            (&[(4e-3, 0.10), (3e-3, 0.30)], 0, false, "none keeps the loss, and none is much better"),
            (&[(4e-3, 0.10), (1e-3, 0.30)], 1, false, "least loss"),
        ] {
            assert_eq!(choose(&tried(all), 1e-4), Choice { nth, keeps_loss }, "{why}");
        }
    }
}
