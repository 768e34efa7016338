//! The reports of one process over time: the rows of `--json`.

use serde_json::Value;
use thalweg_core::time::Time;

/// Rows in the order of arrival, timed by the reader's clock.
#[derive(Clone, Default, Debug)]
pub(super) struct Series {
    rows: Vec<(Time, Value)>,
}

impl Series {
    pub(super) fn push(&mut self, at: Time, row: Value) {
        self.rows.push((at, row));
    }

    /// All rows, with the time of arrival of each.
    pub(super) fn rows(&self) -> impl Iterator<Item = (Time, &Value)> {
        self.rows.iter().map(|(at, row)| (*at, row))
    }

    /// The latest known value of a metric.
    pub(super) fn last(&self, metric: &str) -> Option<f64> {
        self.rows.iter().rev().find_map(|(_, row)| row.get(metric)?.as_f64())
    }

    /// A metric between two moments, its time counted in seconds from the first; NaN where it is unknown. Empty if
    /// it is never known.
    pub(super) fn points(&self, metric: &str, from: Time, to: Time) -> Vec<(f64, f64)> {
        let within = self.rows.iter().filter(|(at, _)| (from..=to).contains(at));
        let points: Vec<_> = within
            .filter_map(|(at, row)| Some((at.since(from).as_secs_f64(), row.get(metric)?.as_f64().unwrap_or(f64::NAN))))
            .collect();
        if points.iter().all(|point| point.1.is_nan()) { Vec::new() } else { points }
    }

    /// The rows of the stream `name`, of a process that has several.
    pub(super) fn of_stream(&self, name: &str) -> Series {
        let is_of = |(_, row): &&(Time, Value)| row.get("stream").and_then(Value::as_str) == Some(name);
        Series { rows: self.rows.iter().filter(is_of).cloned().collect() }
    }

    /// The events of this name.
    pub(super) fn events(&self, event: &str) -> impl Iterator<Item = &Value> {
        let is_named = move |row: &&Value| row.get("event").and_then(Value::as_str) == Some(event);
        self.rows.iter().map(|(_, row)| row).filter(is_named)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn null_values_are_nan_and_events_are_not_metric_rows() {
        let at = |secs: u64| Time::from_nanos(secs * 1_000_000_000);
        let mut series = Series::default();
        series.push(at(5), json!({ "t": 0.1, "side": "send", "event": "connected" }));
        series.push(at(6), json!({ "t": 1.0, "side": "send", "w_packets": null }));
        series.push(at(7), json!({ "t": 2.0, "side": "send", "w_packets": 120.5 }));
        let points = series.points("w_packets", at(5), at(9));
        assert_eq!((points.len(), points[1]), (2, (2.0, 120.5)));
        assert!(points[0].1.is_nan());
        assert_eq!(series.last("w_packets"), Some(120.5));
        assert!(series.points("nothing", at(5), at(9)).is_empty());
        assert_eq!((series.events("connected").count(), series.events("ended").count()), (1, 0));
        series.push(at(8), json!({ "t": 3.0, "stream": "tv", "alpha": 2.25 }));
        series.push(at(8), json!({ "t": 3.0, "stream": "phone", "alpha": 0.25 }));
        assert_eq!(series.of_stream("tv").last("alpha"), Some(2.25));
    }
}
