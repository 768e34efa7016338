//! The figures: what is drawn, over which axis.

mod law;
mod losses;
mod traces;

pub(super) use self::law::half_a_tcp_window;
use super::condition::{Condition, Scheme};
use super::plan::FIG2_RTTS;
use super::results::Results;
use crate::statistics::Estimate;

/// A figure of the paper.
#[derive(Clone, PartialEq, Debug)]
pub struct Figure {
    /// Its name in the paper.
    pub name: &'static str,
    /// What it shows.
    pub caption: String,
    /// What it is made of, from left to right.
    pub panels: Vec<Panel>,
}

/// One plot.
#[derive(Clone, PartialEq, Debug)]
pub struct Panel {
    /// What it shows.
    pub title: String,
    /// Across.
    pub x: Axis,
    /// Up.
    pub y: Axis,
    /// What is drawn.
    pub series: Vec<Series>,
}

/// An axis.
#[derive(Clone, PartialEq, Debug)]
pub struct Axis {
    /// What it shows.
    pub label: &'static str,
    /// In which unit; empty if in none.
    pub unit: &'static str,
    /// How it is divided.
    pub scale: Scale,
}

/// How an axis is divided.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scale {
    /// Evenly, from zero.
    Linear,
    /// By powers of ten.
    Logarithmic,
}

/// Points that belong together.
#[derive(Clone, PartialEq, Debug)]
pub struct Series {
    /// What they are.
    pub name: String,
    /// Which subject they keep their colour with, if any.
    pub scheme: Option<Scheme>,
    /// From left to right.
    pub points: Points,
}

/// What is drawn of a series.
#[derive(Clone, PartialEq, Debug)]
pub enum Points {
    /// A line.
    Curve(Vec<(f64, f64)>),
    /// Means over seeds with their intervals.
    Measured(Vec<(f64, Estimate)>),
}

/// Every figure, with what has been run.
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

impl Axis {
    const fn linear(label: &'static str, unit: &'static str) -> Axis {
        Axis { label, unit, scale: Scale::Linear }
    }

    const fn logarithmic(label: &'static str, unit: &'static str) -> Axis {
        Axis { label, unit, scale: Scale::Logarithmic }
    }
}

impl Series {
    fn measured(scheme: Scheme, points: impl Iterator<Item = (f64, Vec<f64>)>) -> Series {
        let points = points.map(|(x, values)| (x, Estimate::of(values)));
        Series { name: scheme.name().to_owned(), scheme: Some(scheme), points: Points::Measured(points.collect()) }
    }

    fn curve(name: impl Into<String>, points: Vec<(f64, f64)>) -> Series {
        Series { name: name.into(), scheme: None, points: Points::Curve(points) }
    }
}

fn fig_2(results: &Results) -> Figure {
    let over_rtt = |scheme: Scheme, values: &dyn Fn(Condition, Scheme) -> Vec<f64>| {
        let points = FIG2_RTTS.map(|rtt_ms| (f64::from(rtt_ms), values(Condition::OneStream { rtt_ms }, scheme)));
        Series::measured(scheme, points.into_iter())
    };
    let panel = |title: &str, y: Axis, series: Vec<Series>| Panel {
        title: title.to_owned(),
        x: Axis::logarithmic("minimum RTT", "ms"),
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
                Axis::linear("throughput", "Mb/s"),
                vec![over_rtt(Scheme::Tfrc, &goodput)],
            ),
            panel(
                "(b) Average data loss rate of the TFRC flow",
                Axis::linear("loss", "%"),
                vec![over_rtt(Scheme::Tfrc, &loss)],
            ),
            panel(
                "(c) Average TCP throughput",
                Axis::linear("throughput", "Mb/s"),
                vec![over_rtt(Scheme::Tfrc, &tcp), over_rtt(Scheme::Udp, &tcp)],
            ),
        ],
    }
}
