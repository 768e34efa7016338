//! Figs. 8 and 9: losses, windows and TCP's share as functions of the number of TCP flows.

use super::super::condition::{Condition, Scheme};
use super::super::results::Results;
use super::{Axis, Figure, Panel, Series};

type Values<'a> = dyn Fn(Condition, Scheme) -> Vec<f64> + 'a;

pub(super) fn competition(results: &Results, rtt_ms: u32, name: &'static str) -> Figure {
    let conditions: Vec<Condition> = results.plan().long(rtt_ms).collect();
    let series = |scheme: Scheme, values: &Values<'_>| {
        let points = conditions.iter().map(|at| (f64::from(at.n_tcp().unwrap_or(0)), values(*at, scheme)));
        Series::measured(scheme, points)
    };
    let panel = |title: &str, y: Axis, schemes: &[Scheme], values: &Values<'_>| Panel {
        title: title.to_owned(),
        x: Axis::new("number of TCP flows", ""),
        y,
        series: schemes.iter().map(|scheme| series(*scheme, values)).collect(),
    };
    let all = &results.compared()[..];
    let residual = |at, scheme| results.streams(at, scheme, |stream| stream.residual_loss * 100.0);
    let bursts = |at, scheme| results.streams(at, scheme, |stream| stream.bursty_events);
    let fwnd = |at, scheme| results.streams(at, scheme, |stream| stream.fwnd);
    let tpindex = |at, scheme| results.tpindex(at, scheme);
    let link = |at, scheme| results.values(at, scheme, |record| record.link_loss * 100.0);
    let with_tfrc: Vec<Scheme> = all.iter().copied().chain([Scheme::Tfrc]).collect();
    Figure {
        name,
        caption: format!(
            "Ten streams of 30 Mb/s under RTTmin {rtt_ms} ms in competition with long-lived TCP flows. Link loss is not part \
             of the paper's figure."
        ),
        panels: vec![
            panel("(a) Residual data loss rate", Axis::new("loss", "%"), all, &residual),
            panel("(b) Bursty packet loss events", Axis::new("events a flow in 180 s", ""), all, &bursts),
            panel("(c) Average FEC window size", Axis::new("Fwnd", "packets"), all, &fwnd),
            panel("(d) TCP performance index", Axis::new("TPindex", ""), all, &tpindex),
            panel("Link loss rate", Axis::new("loss", "%"), &with_tfrc, &link),
        ],
    }
}
