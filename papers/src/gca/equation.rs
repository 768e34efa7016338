//! Figs. 3 to 5: Eq. (2) against its parameters, computed by the law's own code.

use thalweg_core::law::rate::gca::Greediness;
use thalweg_core::law::rate::tfrc::Equation;
use thalweg_core::units::{Bytes, Seconds};

use super::figures::{Figure, Panel, Series};
use crate::page::Axis;

/// The packet of the paper, and a round trip of twice its delays. Figs. 3 to 5 do not state theirs: both are factors of X.
const SEGMENT: Bytes = Bytes(1024);
const RTT: Seconds = Seconds(0.046);
/// The loss event rate of Figs. 3 and 4, which is not stated: about the losses of the tables.
const P: f64 = 0.015;

/// The three pairs of alpha and beta of Fig. 5.
pub(super) const PAIRS: [(f64, f64); 3] = [(0.5, 0.25), (1.0, 0.5), (1.5, 0.75)];

/// The greediness of a pair; TFRC's for a pair outside the domain.
pub(super) fn greediness(alpha: f64, beta: f64) -> Greediness {
    Greediness::new(alpha, beta).unwrap_or_default()
}

/// X in Mb/s.
fn mbps(alpha: f64, beta: f64, p: f64) -> f64 {
    greediness(alpha, beta).rate(SEGMENT, RTT, p) * 8e-6
}

/// As many values as `steps`, equally far apart, of which the last is `most`.
fn up_to(most: f64, steps: u32) -> impl Iterator<Item = f64> {
    (1..=steps).map(move |step| most * f64::from(step) / f64::from(steps))
}

/// One plot over a parameter.
fn panel(title: &str, x: Axis, series: Vec<Series>) -> Panel {
    Panel { title: title.to_owned(), x, y: Axis::new("throughput", "Mb/s"), series }
}

/// Figs. 3 to 5.
pub fn figures() -> [Figure; 3] {
    let over_alpha = [0.25, 0.5, 0.75].map(|beta| {
        Series::curve(format!("beta = {beta}"), up_to(2.0, 40).map(|alpha| (alpha, mbps(alpha, beta, P))).collect())
    });
    let over_beta = [0.5, 1.0, 1.5].map(|alpha| {
        let betas = up_to(1.0, 40).filter(|beta| *beta < 1.0);
        Series::curve(format!("alpha = {alpha}"), betas.map(|beta| (beta, mbps(alpha, beta, P))).collect())
    });
    let over_p = PAIRS.map(|(alpha, beta)| {
        let points = up_to(0.1, 40).map(|p| (p * 100.0, mbps(alpha, beta, p)));
        Series::curve(format!("alpha = {alpha}, beta = {beta}"), points.collect())
    });
    [
        Figure {
            name: "Fig. 3",
            caption: "Eq. (2) against alpha, for 1024 bytes, 46 ms and 1.5 % of loss events; the paper states none of \
                      these. X grows with the square root of alpha."
                .into(),
            panels: vec![panel("X over alpha", Axis::new("alpha", ""), over_alpha.into())],
        },
        Figure {
            name: "Fig. 4",
            caption: "The same against beta. X grows with the square root of (1 + beta) / (1 - beta), about.".into(),
            panels: vec![panel("X over beta", Axis::new("beta", ""), over_beta.into())],
        },
        Figure {
            name: "Fig. 5",
            caption: "The same against the loss event rate, for the three pairs of the paper.".into(),
            panels: vec![panel("X over p", Axis::new("loss event rate", "%"), over_p.into())],
        },
    ]
}
