//! Figs. 10, 11 and 12: the first seed over time.

use thalweg_core::law::redundancy::geneva::State;
use thalweg_lab::node::drop_tail::Offered;

use super::super::condition::{Arrivals, Condition, Scheme};
use super::super::results::Results;
use super::super::trace::{STEP, Trace};
use super::{Axis, Figure, Panel, Series};

/// The number of stretches of a line, each of which is drawn with its smallest and its largest value.
const STRETCHES: usize = 400;

pub(super) fn all(results: &Results) -> [Figure; 3] {
    let of = |name, caption: &str, conditions: &[Condition]| Figure {
        name,
        caption: format!(
            "{caption} The first seed, from the beginning of measuring; of each stretch of time the least and the largest \
             value are drawn."
        ),
        panels: conditions.iter().flat_map(|at| panels(results, *at)).collect(),
    };
    let short = Condition::ShortTcp { rtt_ms: 10, arrivals: Arrivals::Frequent };
    [
        of(
            "Fig. 10",
            "FEC window size of three selected GENEVA flows, and the packet loss rate of the link averaged over RTTmin: 200 \
             long-lived TCP flows at 10 ms, 700 at 100 ms.",
            &[Condition::long(10, 200), Condition::long(100, 700)],
        ),
        of("Fig. 11", "The same beside short-lived TCP, 25 transfers a second, RTTmin 10 ms.", &[short]),
        of("Fig. 12", "The same with flows of 30, 60 and 90 Mb/s beside 200 TCP flows.", &[Condition::MixedRates]),
    ]
}

fn panels(results: &Results, at: Condition) -> Vec<Panel> {
    let of = |state: State| {
        let scheme = Scheme::geneva(state);
        let trace = results.record(at, scheme, 1)?.trace.as_ref()?;
        let title = |what: &str| format!("{at}: {what}, {}", scheme.name());
        let windows = Panel {
            title: title("FEC window size"),
            x: Axis::new("time", "s"),
            y: Axis::new("Fwnd", "packets"),
            series: windows(trace),
        };
        let loss = Panel {
            title: title("link loss"),
            x: Axis::new("time", "s"),
            y: Axis::new("loss", "%"),
            series: losses(trace),
        };
        Some([windows, loss])
    };
    [State::Integer, State::Real].into_iter().filter_map(of).flatten().collect()
}

fn windows(trace: &Trace) -> Vec<Series> {
    let lines = trace.windows.iter().enumerate().map(|(nth, (rate, windows))| {
        let values: Vec<f64> = windows.iter().map(|window| f64::from(*window)).collect();
        Series::curve(format!("flow {}, {rate} Mb/s", nth + 1), envelope(&values, STEP.as_secs_f64()))
    });
    lines.collect()
}

fn losses(trace: &Trace) -> Vec<Series> {
    let share = |Offered { packets, dropped }| if packets > 0 { dropped as f64 / packets as f64 * 100.0 } else { 0.0 };
    let values: Vec<f64> = trace.link.iter().copied().map(share).collect();
    let (step, total) = (trace.interval.as_secs_f64(), trace.loss(0.0, 1.0) * 100.0);
    let end = step * values.len() as f64;
    vec![
        Series::curve(format!("over {} ms", trace.interval.as_millis_f64()), envelope(&values, step)),
        Series::curve(format!("total, {total:.2} %"), vec![(0.0, total), (end, total)]),
    ]
}

/// A line through the smallest and the largest value of each of [`STRETCHES`] stretches.
fn envelope(values: &[f64], step: f64) -> Vec<(f64, f64)> {
    let stretch = values.len().div_ceil(STRETCHES).max(1);
    let mut points = Vec::new();
    for (nth, part) in values.chunks(stretch).enumerate() {
        let at = |place: usize| (nth * stretch + place) as f64 * step;
        let by_value = |a: &(usize, &f64), b: &(usize, &f64)| a.1.total_cmp(b.1);
        let least = part.iter().enumerate().min_by(by_value);
        let largest = part.iter().enumerate().max_by(by_value);
        let mut ends: Vec<(usize, f64)> =
            least.into_iter().chain(largest).map(|(place, value)| (place, *value)).collect();
        ends.sort_by_key(|end| end.0);
        ends.dedup();
        points.extend(ends.into_iter().map(|(place, value)| (at(place), value)));
    }
    points
}
