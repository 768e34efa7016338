//! Every metric of a station at one moment, and the two forms in which programs read them.

use std::fmt::Write;

use thalweg_core::session::live::{Kind, Metric};
use thalweg_core::time::{Span, Time};

use crate::report::{Fact, Report};
use crate::station::Station;

/// The values of all metrics, in the order of their table.
#[derive(Clone, PartialEq, Debug)]
pub struct Figures {
    side: &'static str,
    rows: Vec<(&'static Metric, f64)>,
    histogram: Option<Histogram>,
    has_begun: bool,
}

/// Counts of times in steps, for Prometheus.
#[derive(Clone, PartialEq, Debug)]
pub struct Histogram {
    /// After `thalweg_`; its unit is seconds.
    pub name: &'static str,
    /// One line for people.
    pub help: &'static str,
    /// Where each step but the last ends, ascending.
    pub bounds: &'static [Span],
    /// How many fell into each step; one more than there are bounds.
    pub counts: Vec<u64>,
    /// Of all that was counted.
    pub sum: Span,
}

impl Figures {
    /// What `station` shows now; what it does not show is not known.
    pub fn read<T: Station>(station: &T) -> Figures {
        let mut rows: Vec<_> = T::metrics().map(|metric| (metric, f64::NAN)).collect();
        station.probe(&mut |name, value| {
            if let Some(row) = rows.iter_mut().find(|(metric, _)| metric.name == name) {
                row.1 = value;
            }
        });
        Figures { side: T::SIDE, rows, histogram: station.histogram(), has_begun: station.has_begun() }
    }

    /// Whether they are worth a line.
    pub(crate) fn has_begun(&self) -> bool {
        self.has_begun
    }

    /// Those of something that is no station.
    pub fn of(side: &'static str, rows: Vec<(&'static Metric, f64)>) -> Figures {
        Figures { side, rows, histogram: None, has_begun: true }
    }

    /// The value of a metric; NaN where it is not known.
    pub fn get(&self, name: &str) -> f64 {
        self.rows.iter().find(|(metric, _)| metric.name == name).map_or(f64::NAN, |row| row.1)
    }

    /// One JSON object, on one line without its end.
    pub fn to_json(&self, at: Time) -> String {
        let mut line = json_start(at, self.side);
        for (metric, value) in &self.rows {
            json_number(&mut line, metric.name, *value);
        }
        line + "}"
    }

    /// Prometheus' text exposition format 0.0.4.
    pub fn to_prometheus(&self) -> String {
        let mut page = String::with_capacity(8192);
        for (Metric { name, kind, help }, value) in &self.rows {
            let kind = match kind {
                Kind::Counter => "counter",
                Kind::Gauge => "gauge",
            };
            let side = self.side;
            let _ = write!(
                page,
                "# HELP thalweg_{name} {help}\n# TYPE thalweg_{name} {kind}\nthalweg_{name}{{side=\"{side}\"}} {value}\n"
            );
        }
        if let Some(histogram) = &self.histogram {
            histogram.write(&mut page, self.side);
        }
        page
    }
}

impl Histogram {
    /// As the text format has it: each bucket holds those below it, too.
    fn write(&self, page: &mut String, side: &str) {
        let Histogram { name, help, bounds, counts, sum } = self;
        let _ = writeln!(page, "# HELP thalweg_{name} {help}\n# TYPE thalweg_{name} histogram");
        let bounds = bounds.iter().map(|bound| bound.as_secs_f64().to_string()).chain(["+Inf".to_owned()]);
        let mut count = 0;
        for (bound, step) in bounds.zip(counts) {
            count += step;
            let _ = writeln!(page, "thalweg_{name}_bucket{{side=\"{side}\",le=\"{bound}\"}} {count}");
        }
        let sum = sum.as_secs_f64();
        let _ = writeln!(page, "thalweg_{name}_sum{{side=\"{side}\"}} {sum}");
        let _ = writeln!(page, "thalweg_{name}_count{{side=\"{side}\"}} {count}");
    }
}

impl Report {
    /// One JSON object, on one line without its end.
    pub fn to_json(&self, at: Time, side: &str) -> String {
        let mut line = json_start(at, side);
        json_text(&mut line, "event", self.event);
        for (name, fact) in &self.facts {
            match fact {
                Fact::Text(text) => json_text(&mut line, name, text),
                Fact::Number(number) => json_number(&mut line, name, *number),
            }
        }
        line + "}"
    }
}

fn json_start(at: Time, side: &str) -> String {
    format!("{{\"t\":{:.3},\"side\":\"{side}\"", at.as_secs_f64())
}

fn json_number(line: &mut String, name: &str, value: f64) {
    // JSON has no NaN and no infinity; both mean that nobody knows.
    let _ = match value.is_finite() {
        true => write!(line, ",\"{name}\":{value}"),
        false => write!(line, ",\"{name}\":null"),
    };
}

fn json_text(line: &mut String, name: &str, text: &str) {
    let _ = write!(line, ",\"{name}\":\"");
    for c in text.chars() {
        let _ = match c {
            '"' | '\\' => write!(line, "\\{c}"),
            c if c.is_control() => write!(line, "\\u{:04x}", u32::from(c)),
            c => write!(line, "{c}"),
        };
    }
    line.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    const COUNT: Metric = Metric { name: "media_packets_total", kind: Kind::Counter, help: "Packets" };
    const RATIO: Metric = Metric { name: "overhead_ratio", kind: Kind::Gauge, help: "Overhead" };

    fn figures() -> Figures {
        Figures::of("send", vec![(&COUNT, 12.0), (&RATIO, f64::NAN)])
    }

    #[test]
    fn what_nobody_knows_is_null_in_json_and_nan_in_prometheus() {
        assert_eq!(
            figures().to_json(Time::from_nanos(1_500_000_000)),
            r#"{"t":1.500,"side":"send","media_packets_total":12,"overhead_ratio":null}"#
        );
        assert_eq!(
            figures().to_prometheus(),
            "# HELP thalweg_media_packets_total Packets\n# TYPE thalweg_media_packets_total counter\n\
             thalweg_media_packets_total{side=\"send\"} 12\n# HELP thalweg_overhead_ratio Overhead\n\
             # TYPE thalweg_overhead_ratio gauge\nthalweg_overhead_ratio{side=\"send\"} NaN\n"
        );
    }

    #[test]
    fn buckets_of_a_histogram_hold_those_below_them() {
        const BOUNDS: [Span; 2] = [Span::from_millis(5), Span::from_secs(1)];
        let (counts, sum) = (vec![2, 3, 1], Span::from_millis(2500));
        let histogram = Histogram { name: "delay_seconds", help: "Delay", bounds: &BOUNDS, counts, sum };
        let figures = Figures { histogram: Some(histogram), rows: vec![], ..figures() };
        // Exposition formats, "Histograms and summaries".
        assert_eq!(
            figures.to_prometheus(),
            "# HELP thalweg_delay_seconds Delay\n# TYPE thalweg_delay_seconds histogram\n\
             thalweg_delay_seconds_bucket{side=\"send\",le=\"0.005\"} 2\n\
             thalweg_delay_seconds_bucket{side=\"send\",le=\"1\"} 5\n\
             thalweg_delay_seconds_bucket{side=\"send\",le=\"+Inf\"} 6\n\
             thalweg_delay_seconds_sum{side=\"send\"} 2.5\nthalweg_delay_seconds_count{side=\"send\"} 6\n"
        );
    }

    #[test]
    fn words_are_escaped_as_rfc_8259_wants() {
        let report = Report::warning("a \"b\" \\ \n");
        assert_eq!(
            report.to_json(Time::ZERO, "recv"),
            r#"{"t":0.000,"side":"recv","event":"warning","text":"a \"b\" \\ \u000a"}"#
        );
    }
}
