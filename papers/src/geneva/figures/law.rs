//! Figs. 5 and 6: curves of the law.

use thalweg_core::law::redundancy::geneva::Parameters;

use super::{Axis, Figure, Panel, Series};

/// The two loss probabilities that Fig. 5 leaves open, 0 < p1 < p2 < p_max.
const P1: f64 = 0.01;
const P2: f64 = 0.02;

/// Fig. 5: the equilibrium of W_tot, and the approach to it.
pub(super) fn fig_5() -> Figure {
    let parameters = Parameters::default();
    let rests = |p: f64| parameters.a / (parameters.p_max - p);
    let balance = (0..=250).map(|step| f64::from(step) * 1e-4).map(|p| (p * 100.0, rests(p))).collect();
    let name = |p: f64| format!("p = {p}, W* = {:.0}", rests(p));
    Figure {
        name: "Fig. 5",
        caption: format!(
            "GENEVA's scaling of W_tot. The paper draws it for some p1 < p2 < p_max; here p1 = {P1} and p2 = {P2}, at an \
             RTT of 20 ms. With more loss W_tot settles at a higher value, and both its increase per loss and its \
             approach from above are smaller in relation to it."
        ),
        panels: vec![
            Panel {
                title: "Where W_tot comes to rest, Eq. (2)".into(),
                x: Axis::new("packet loss probability p", "%"),
                y: Axis::new("W_tot", "packets"),
                series: vec![Series::curve("a / (p_max - p)", balance)],
            },
            Panel {
                title: "W_tot over time, Eq. (6)".into(),
                x: Axis::new("time", "s"),
                y: Axis::new("W_tot", "packets"),
                series: vec![
                    Series::curve(format!("{}, from below", name(P1)), approach(&parameters, P1, 75.0)),
                    Series::curve(format!("{}, from above", name(P1)), approach(&parameters, P1, 250.0)),
                    Series::curve(format!("{}, from below", name(P2)), approach(&parameters, P2, 75.0)),
                    Series::curve(format!("{}, from above", name(P2)), approach(&parameters, P2, 250.0)),
                ],
            },
        ],
    }
}

/// W over time by Eq. (6), from an initial W, in steps of a millisecond.
fn approach(parameters: &Parameters, p: f64, first: f64) -> Vec<(f64, f64)> {
    const STEP: f64 = 1e-3;
    let (rtt, w0) = (0.02, parameters.w0());
    let mut w = first;
    let mut points = Vec::new();
    for step in 0..=3000 {
        if step % 10 == 0 {
            points.push((f64::from(step) * STEP, w));
        }
        let packets = w / (rtt + parameters.syn.0);
        w += (parameters.increment(w, w0) * p - parameters.b * (1.0 - p)) * packets * STEP;
    }
    points
}

/// Fig. 6: i(W), and half the window of a TCP with the same loss.
pub(super) fn fig_6() -> Figure {
    let sizes = || (0..=600).map(|step| 70.0 * libm::pow(1700.0 / 70.0, f64::from(step) / 600.0));
    let increment = |b: f64| {
        let parameters = Parameters { b, ..Parameters::default() };
        // Eq. (8) alone, as in the paper's figure.
        sizes().map(|w| (w, parameters.increment(w, 0.0))).collect()
    };
    let parameters = Parameters::default();
    let half = sizes().map(|w| (w, half_a_tcp_window(&parameters, w))).collect();
    let in_force = sizes().map(|w| (w, parameters.increment(w, parameters.w0()))).collect();
    Figure {
        name: "Fig. 6",
        caption:
            "The increment of W_tot and the decrement of a TCP window as functions of W_tot, from 70 to 1700. The \
                  curves cross at 72.5 for b = .04 and at 81.3 for b = .06; the law in force is constant below 73."
                .into(),
        panels: vec![Panel {
            title: "i(W_tot) and W_tcp / 2".into(),
            x: Axis::new("W_tot", "packets").logarithmic(),
            y: Axis::new("increment, decrement", "packets"),
            series: vec![
                Series::curve("W_tcp / 2", half),
                Series::curve("i(W_tot), b = .06", increment(0.06)),
                Series::curve("i(W_tot), b = .04", increment(0.04)),
                Series::curve("the law in force", in_force),
            ],
        }],
    }
}

/// Half the window of a TCP by Mathis' model, with the loss at which W is in equilibrium, Eq. (2).
pub(in super::super) fn half_a_tcp_window(parameters: &Parameters, w: f64) -> f64 {
    let p = parameters.p_max - parameters.a / w;
    (8.0 / (3.0 * p)).sqrt() / 2.0
}
