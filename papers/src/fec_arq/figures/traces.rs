//! Figs. 3 and 12: estimates of the loss rate, and properties of the recordings.

use thalweg_core::law::schedule::gilbert_elliott::GilbertElliott;
use thalweg_core::law::schedule::loss::LossRate;

use super::super::channel::Channel;
use super::super::recording::Recording;
use super::super::results::Results;
use super::{Axis, Figure, Panel, Series};

/// The consecutive loss rates of Fig. 3, and the number of packets for each.
pub(in super::super) const STEPS: [f64; 3] = [0.05, 0.15, 0.05];
const STEP: usize = 8_000;

/// The loss rate of each packet, and the estimate after the packet from a window of `window` packets.
pub(in super::super) fn followed(window: usize) -> Vec<(f64, f64)> {
    let Ok(mut rate) = LossRate::new(STEPS[0], window) else { return Vec::new() };
    let after = |(eps, lost): (f64, bool)| {
        rate.outcome(lost);
        (eps, rate.eps())
    };
    outcomes().map(after).collect()
}

/// The mean estimate over the last three quarters of a stretch, when it no longer depends on the previous rate.
pub(in super::super) fn settled(points: &[(f64, f64)], nth: usize) -> f64 {
    let stretch = &points[nth * STEP + STEP / 4..(nth + 1) * STEP];
    stretch.iter().map(|point| point.1).sum::<f64>() / stretch.len() as f64
}

fn outcomes() -> impl Iterator<Item = (f64, bool)> {
    let of = |(nth, eps): (u64, f64)| {
        let channel = Channel::Random { seed: 3, eps, rtt: 450 };
        (0..STEP as u64).map(move |slot| (eps, channel.trip(nth * STEP as u64 + slot).lost))
    };
    (0..).zip(STEPS).flat_map(of)
}

pub(super) fn fig_3() -> Figure {
    let every = |points: Vec<f64>| -> Vec<(f64, f64)> {
        points.iter().enumerate().step_by(40).map(|(nth, eps)| (nth as f64, eps * 100.0)).collect()
    };
    let estimates = |window| every(followed(window).into_iter().map(|point| point.1).collect());
    let model = GilbertElliott::new(STEPS[0], 200.0).ok().map(|mut model| {
        let after = |(_, lost)| {
            model.outcome(lost);
            model.eps()
        };
        every(outcomes().map(after).collect())
    });
    let mut series = vec![
        Series::curve("loss rate", every(followed(100).into_iter().map(|point| point.0).collect())),
        Series::curve("estimate of §II-D, 100 packets", estimates(100)),
        Series::curve("estimate of §II-D, 32 packets", estimates(32)),
    ];
    series.extend(model.map(|points| Series::curve("Gilbert's model, 200 packets", points)));
    Figure {
        name: "Fig. 3",
        caption:
            "The loss estimate beside the rate that losses are drawn with. The paper does not say how long its window \
                  is; the figures in numbers have the means."
                .into(),
        panels: vec![Panel {
            title: "Estimates of the loss rate".into(),
            x: Axis::new("packet", ""),
            y: Axis::new("loss", "%"),
            series,
        }],
    }
}

pub(super) fn fig_12(results: &Results) -> Figure {
    let recordings = &results.plan().recordings;
    let plot = |title: &str, x: Axis, y: &'static str, points: &dyn Fn(&Recording) -> Vec<(f64, f64)>| Panel {
        title: title.into(),
        x,
        y: Axis::new(y, ""),
        series: recordings.iter().map(|it| Series::curve(it.name.clone(), points(it))).collect(),
    };
    let panels = vec![
        plot("(a) round trip, in classes of 10 ms", Axis::new("round trip", "s"), "share", &|it| {
            histogram(&it.rtts().collect::<Vec<_>>(), 0.01)
        }),
        plot("(b) loss among 32 packets in a row", Axis::new("loss", ""), "share", &|it| {
            histogram(&it.losses_among(32).collect::<Vec<_>>(), 1.0 / 32.0)
        }),
    ];
    Figure {
        name: "Fig. 12",
        caption: "Properties of the recordings, which replace the paper's trace. That trace loses 5 % on average, and \
                  at times up to 12 % of 32 packets, with round trips of about 200 ms. The section with the figures in \
                  numbers has the values of the recordings."
            .into(),
        panels: if recordings.is_empty() { Vec::new() } else { panels },
    }
}

/// The share of values in each class.
fn histogram(values: &[f64], class: f64) -> Vec<(f64, f64)> {
    let mut counts: Vec<usize> = Vec::new();
    for value in values {
        let nth = (value / class + 1e-9) as usize;
        counts.resize(counts.len().max(nth + 1), 0);
        counts[nth] += 1;
    }
    let share = |(nth, count): (usize, &usize)| (nth as f64 * class, *count as f64 / values.len() as f64);
    counts.iter().enumerate().map(share).collect()
}
