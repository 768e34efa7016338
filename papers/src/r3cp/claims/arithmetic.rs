//! Claims about the equations.

use thalweg_core::law::rate::r3cp::Point;

use super::{Evaluator, Part};

/// A point with values of the paper's video: 46.9 packets per second, a window of half a second.
const POINT: Point =
    Point { q: 20.0, zeta_in_q: 1.5, zeta_next: 2.0, rho_prev: 40.0, p: 0.03, d: 0.1, mu: 46.87, p_l: 23.4 };

/// Eq. (14) is the solution of Eqs. (9) and (11) to (13).
pub(super) fn desired_rate_solves_the_equations(_: &Evaluator<'_>) -> Vec<Part> {
    let queue = POINT.queue_after(POINT.desired_rate());
    vec![Part::exact("queue two points after, packets", queue, POINT.target())]
}

/// Without loss the queue meets the target two points after a disturbance, and lambda settles at mu.
pub(super) fn queue_is_deadbeat(_: &Evaluator<'_>) -> Vec<Part> {
    let mut point = Point { q: 5.0, zeta_in_q: 0.0, zeta_next: 0.0, rho_prev: 46.87, p: 0.0, ..POINT };
    let mut rates = Vec::new();
    for _ in 0..4 {
        let lambda = point.desired_rate();
        rates.push(lambda);
        point = Point { q: point.next_queue(), rho_prev: lambda, ..point };
    }
    vec![
        Part::exact("queue from the second point on, packets", point.q, point.target()),
        Part::exact("lambda after it, packets per second", rates[3], point.mu),
    ]
}
