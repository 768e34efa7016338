//! Claims of arithmetic: the worked example of §II-E, and the overhead of §III.

use thalweg_core::law::schedule::channel::Channel;
use thalweg_core::law::schedule::cost::Cost;
use thalweg_core::law::schedule::decodability::Decodability;
use thalweg_core::law::schedule::{Coded, Overhead, Queue};

use super::{Evaluator, Part, Wanted};

const EPS: f64 = 0.1;

/// A queue with `n` originals in flight, each sent once, and `m` unsent ones.
fn example(n: u64, m: usize) -> Queue {
    let mut queue = Queue::standing(1, n as usize, m);
    (1..=n).for_each(|l| queue.sent(&Coded { first: l, last: l, p_useless: 0.0 }));
    queue
}

fn evaluated(queue: &Queue) -> Decodability {
    let mut now = Decodability::default();
    now.evaluate(queue, &Channel::independent(EPS), |_| 1.0);
    now
}

/// Requires agreement in all printed digits (four decimals).
fn printed(what: impl Into<String>, value: f64, expected: f64) -> Part {
    let last = (expected * 1e4).round();
    let wanted = Wanted::Within((last - 0.5) / 1e4, (last + 0.5) / 1e4);
    Part { wanted, ..Part::exact(what, value, expected) }
}

pub(super) fn decodable(_: &Evaluator<'_>) -> Vec<Part> {
    let mut queue = example(4, 2);
    queue.sent(&Coded { first: 1, last: 4, p_useless: 0.0 });
    let now = evaluated(&queue);
    let expected = [0.9656, 0.9412, 0.9258, 0.9185];
    now.p().iter().zip(expected).enumerate().map(|(l, (p, it))| printed(format!("p_{}", l + 1), *p, it)).collect()
}

pub(super) fn missing(_: &Evaluator<'_>) -> Vec<Part> {
    let now = evaluated(&example(4, 2));
    vec![
        printed("Q after the combination", now.q_repaired(3), 0.0905),
        printed("Q after a new original", now.q_new(), 0.5),
    ]
}

pub(super) fn costs(_: &Evaluator<'_>) -> Vec<Part> {
    let of = |(n, m, repair, new): (u64, usize, f64, f64)| {
        let queue = example(n, m);
        let (now, cost) = (evaluated(&queue), Cost::default());
        [
            printed(format!("C_FEC, {n} sent"), cost.of_repair(&queue, &now, EPS, n as usize - 1), repair),
            printed(format!("C_ORIG, {n} sent"), cost.of_new(&queue, &now, EPS), new),
        ]
    };
    [(4, 2, 3.8838, 2.4255), (10, 1, 5.3622, 6.0465)].into_iter().flat_map(of).collect()
}

pub(super) fn overhead(_: &Evaluator<'_>) -> Vec<Part> {
    // Of 110 received packets, 100 are needed: 95 originals, and 5 for the lost ones.
    let account = Overhead { useless: 10, received: 110, ..Overhead::default() };
    vec![Part::exact("overhead", account.u(), 0.1)]
}
