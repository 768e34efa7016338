//! Claims that must hold exactly, computed with the law itself.

use thalweg_core::law::redundancy::geneva::{Geneva, Parameters};
use thalweg_core::law::redundancy::{LossReport, Redundancy};
use thalweg_core::probe::Probe;
use thalweg_core::time::Span;
use thalweg_core::units::{Rate, Seconds};
use thalweg_lab::stream::scheme::Scheme;
use thalweg_lab::stream::sender::{Config, Sender};

use super::{Evaluator, Part, Wanted};
use crate::geneva::figures::half_a_tcp_window;

/// The probed value with this name.
fn shown(of: &impl Probe, name: &str) -> f64 {
    let mut found = f64::NAN;
    of.probe(&mut |shown, value| {
        if shown == name {
            found = value;
        }
    });
    found
}

/// Checks k of a stream, computed from the gap between its packets: IPG = SYN / (Fwnd + k).
pub(super) fn packets_of_a_block(_: &Evaluator<'_>) -> Vec<Part> {
    let sender = Geneva::new(Parameters::default()).and_then(|law| {
        Sender::new(Config { rate: Rate::from_mbps(25), scheme: Scheme::blocks(law), ..Config::default() })
    });
    let k = sender.map_or(f64::NAN, |sender| 0.01 / shown(&sender, "ipg") - shown(&sender, "repair"));
    vec![Part::exact("k", k, 125.0 / 6.0)]
}

/// W_tot by Eq. (1), for a law that has measured only a round-trip time.
fn total_window(f: f64, ertt: f64) -> f64 {
    let parameters = Parameters { k: 21.0, fwnd_min: 0.0, f, ..Parameters::default() };
    let Ok(mut law) = Geneva::new(parameters) else { return f64::NAN };
    law.on_report(&LossReport { srtt: Some(Seconds(ertt)), ..LossReport::default() });
    shown(&law, "w")
}

pub(super) fn least_window(_: &Evaluator<'_>) -> Vec<Part> {
    vec![Part::exact("W_tot", total_window(0.0, 0.01), 42.0)]
}

pub(super) fn largest_window(_: &Evaluator<'_>) -> Vec<Part> {
    vec![Part::exact("W_tot", total_window(60.0, 0.2), 1701.0)]
}

pub(super) fn products(_: &Evaluator<'_>) -> Vec<Part> {
    let packets = |mbps, span| Rate::from_mbps(mbps).bytes_in(span).0 as f64 / 1500.0;
    vec![
        Part::exact("BDP, 100 Mb/s and 1 ms", packets(100, Span::from_millis(1)), 25.0 / 3.0),
        Part::exact("BDP, 1 Gb/s and 100 ms", packets(1000, Span::from_millis(100)), 25_000.0 / 3.0),
    ]
}

/// The W at which Eq. (8) falls below half a TCP window, by bisection.
fn crossing(b: f64) -> f64 {
    let parameters = Parameters { b, ..Parameters::default() };
    let (mut low, mut high) = (70.0, 1700.0);
    for _ in 0..100 {
        let w = f64::midpoint(low, high);
        let is_above = parameters.increment(w, 0.0) > half_a_tcp_window(&parameters, w);
        if is_above { low = w } else { high = w }
    }
    low
}

pub(super) fn crossings(_: &Evaluator<'_>) -> Vec<Part> {
    let closed = |b: f64| 2.0 / (0.03 - 1.5 * b * b);
    vec![
        Part::exact("crossing for b = .04", crossing(0.04), closed(0.04)),
        Part::exact("crossing for b = .06", crossing(0.06), closed(0.06)),
        Part::exact("W0 of the law", Parameters::default().w0(), 73.0),
    ]
}

pub(super) fn limit(_: &Evaluator<'_>) -> Vec<Part> {
    let parameters = Parameters::default();
    let i = |w: f64| parameters.increment(w, parameters.w0());
    let steepest = (73..2000).map(|w| i(f64::from(w + 1)) - i(f64::from(w))).fold(f64::NEG_INFINITY, f64::max);
    vec![
        Part::exact("i(W), W = 10^12", i(1e12), 4.0 / 3.0),
        Part::new("largest i(W + 1) - i(W), W from 73 to 2000", vec![steepest; 2], Wanted::Below(0.0)),
    ]
}
