//! Claims about Tables II, III and IV and the figures that belong to them.

use super::super::case::Case;
use super::super::contender::Strategy::{Arq, Bound, Cost, Opportunistic};
use super::super::outcome::Outcome;
use super::super::tables::printed;
use super::{Evaluator, Part, Wanted};

/// The row of the cost policy in a block of the paper's tables.
const COST: usize = 2;

pub(super) fn order(evaluator: &Evaluator<'_>) -> Vec<Part> {
    let mut parts = Vec::new();
    for (case, printed) in Case::TABLE_2.into_iter().zip(printed::TABLE_2) {
        for share in [0.9, 0.95] {
            parts.push(evaluator.sooner(case, share, Cost, Opportunistic));
            parts.push(evaluator.sooner(case, share, Opportunistic, Arq));
        }
        for (share, paper) in [0.9, 0.95, 0.99].into_iter().zip(printed[COST]) {
            let ratio = evaluator.delay(case, Cost, share).iter().map(|delay| delay / paper).collect();
            let what = format!("{case}: {} %, cost, lab / paper", share * 100.0);
            parts.push(Part::new(what, ratio, Wanted::Within(0.92, 1.08)));
        }
    }
    parts
}

pub(super) fn close_to_the_bound(evaluator: &Evaluator<'_>) -> Vec<Part> {
    [0.9, 0.95].map(|share| evaluator.ratio(Case::TABLE_2[2], share, Cost, Bound, Wanted::Below(1.1))).to_vec()
}

pub(super) fn rates(evaluator: &Evaluator<'_>) -> Vec<Part> {
    let case = Case::TABLE_2[0];
    let part = |strategy, packets: usize, wanted| {
        let share = evaluator.values(case, strategy, |outcome| outcome.share_of_bursts(packets));
        let what = format!("share of bursts at {} kb/s or more, {}", case.kbps(packets as f64), strategy.name());
        Part::new(what, share, wanted)
    };
    vec![
        part(Arq, 10, Wanted::Within(0.15, 0.25)),
        part(Opportunistic, 10, Wanted::Within(0.15, 0.25)),
        part(Cost, 10, Wanted::Within(0.05, 0.11)),
        part(Cost, 6, Wanted::Within(0.85, 0.95)),
        part(Opportunistic, 6, Wanted::Within(0.65, 0.78)),
    ]
}

pub(super) fn wide(evaluator: &Evaluator<'_>) -> Vec<Part> {
    let part = |strategy| {
        let share = evaluator.values(Case::WIDE, strategy, Outcome::share_of_repair);
        Part::new(format!("combinations among all packets, {}", strategy.name()), share, Wanted::Below(0.1))
    };
    [Cost, Opportunistic].map(part).to_vec()
}

pub(super) fn no_advantage(evaluator: &Evaluator<'_>) -> Vec<Part> {
    let even = Case::TABLE_3.map(|case| evaluator.ratio(case, 0.9, Cost, Opportunistic, Wanted::Above(0.93)));
    let near = [Cost, Opportunistic]
        .map(|strategy| evaluator.ratio(Case::TABLE_3[2], 0.9, strategy, Bound, Wanted::Below(1.15)));
    even.into_iter().chain(near).collect()
}

pub(super) fn recorded(evaluator: &Evaluator<'_>) -> Vec<Part> {
    let cases = (0..evaluator.results.plan().recordings.len()).map(Case::recorded);
    let pairs = [(Opportunistic, Arq), (Cost, Opportunistic), (Bound, Cost)];
    cases.flat_map(|case| pairs.map(|(low, high)| evaluator.sooner(case, 0.99, low, high))).collect()
}
