//! The figures: curves and axes.

mod law;
mod losses;
mod traces;

pub(super) use self::law::half_a_tcp_window;
use super::condition::{Condition, Scheme};
use super::plan::FIG2_RTTS;
use super::results::Results;
use crate::figure;
use crate::page::Axis;

/// A figure of the paper.
pub type Figure = figure::Figure<Scheme>;
/// One plot.
pub type Panel = figure::Panel<Scheme>;
/// Points drawn as one series.
pub type Series = figure::Series<Scheme>;

/// All figures, from the jobs that have been run.
pub fn all(results: &Results) -> Vec<Figure> {
    let mut figures = vec![fig_2(results), law::fig_5(), law::fig_6()];
    figures.extend(competition(results));
    figures.extend(traces::all(results));
    figures
}

/// Figs. 8 and 9.
pub fn competition(results: &Results) -> [Figure; 2] {
    [losses::competition(results, 10, "Fig. 8"), losses::competition(results, 100, "Fig. 9")]
}

fn fig_2(results: &Results) -> Figure {
    let over_rtt = |scheme: Scheme, values: &dyn Fn(Condition, Scheme) -> Vec<f64>| {
        let points = FIG2_RTTS.map(|rtt_ms| (f64::from(rtt_ms), values(Condition::OneStream { rtt_ms }, scheme)));
        Series::measured(scheme, points.into_iter())
    };
    let panel = |title: &str, y: Axis, series: Vec<Series>| Panel {
        title: title.to_owned(),
        x: Axis::new("minimum RTT", "ms").logarithmic(),
        y,
        series,
    };
    let goodput = |at, scheme| results.streams(at, scheme, |stream| stream.goodput_mbps);
    let loss = |at, scheme| results.streams(at, scheme, |stream| stream.residual_loss * 100.0);
    let tcp = |at, scheme| results.values(at, scheme, |record| record.tcp_mbps);
    Figure {
        name: "Fig. 2",
        caption: "One stream of 30 Mb/s under TFRC, or as plain UDP, beside short-lived TCP on a link of 100 Mb/s."
            .into(),
        panels: vec![
            panel(
                "(a) Average TFRC throughput",
                Axis::new("throughput", "Mb/s"),
                vec![over_rtt(Scheme::Tfrc, &goodput)],
            ),
            panel(
                "(b) Average data loss rate of the TFRC flow",
                Axis::new("loss", "%"),
                vec![over_rtt(Scheme::Tfrc, &loss)],
            ),
            panel(
                "(c) Average TCP throughput",
                Axis::new("throughput", "Mb/s"),
                vec![over_rtt(Scheme::Tfrc, &tcp), over_rtt(Scheme::Udp, &tcp)],
            ),
        ],
    }
}
