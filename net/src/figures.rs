//! The values of an endpoint's metrics at one moment, as JSON and in Prometheus' text format.

use std::fmt::Write;

use thalweg_core::metric::{Kind, Metric};
use thalweg_core::time::Time;

use crate::endpoint::Endpoint;
use crate::histogram::Histogram;
use crate::report::{Fact, Report};

/// The values of all metrics, in the order of their table.
#[derive(Clone, PartialEq, Debug)]
pub struct Figures {
    side: &'static str,
    /// The name of the stream, of an endpoint that has several.
    stream: Option<String>,
    rows: Vec<(&'static Metric, f64)>,
    histogram: Option<Histogram>,
    has_begun: bool,
}

impl Figures {
    /// Reads the metrics of `endpoint`; those that it does not show are NaN.
    pub fn read<T: Endpoint>(endpoint: &T) -> Figures {
        let mut rows: Vec<_> = T::metrics().map(|metric| (metric, f64::NAN)).collect();
        endpoint.probe(&mut |name, value| {
            if let Some(row) = rows.iter_mut().find(|(metric, _)| metric.name == name) {
                row.1 = value;
            }
        });
        let (histogram, has_begun) = (endpoint.histogram(), endpoint.has_begun());
        Figures { side: T::SIDE, stream: None, rows, histogram, has_begun }
    }

    /// The same as those of the stream `name` of an endpoint `side` that has several, with further metrics.
    pub fn of_stream(
        self,
        side: &'static str,
        name: &str,
        further: impl IntoIterator<Item = (&'static Metric, f64)>,
    ) -> Figures {
        let rows = self.rows.into_iter().chain(further).collect();
        Figures { side, stream: Some(name.to_owned()), rows, ..self }
    }

    /// The name of the stream, if the endpoint has several.
    pub fn stream(&self) -> Option<&str> {
        self.stream.as_deref()
    }

    /// True if the endpoint has begun, so that its figures are worth a line.
    pub fn has_begun(&self) -> bool {
        self.has_begun
    }

    /// Figures of something other than an endpoint.
    pub fn of(side: &'static str, rows: Vec<(&'static Metric, f64)>) -> Figures {
        Figures { side, stream: None, rows, histogram: None, has_begun: true }
    }

    /// The value of a metric; NaN where it is not known.
    pub fn get(&self, name: &str) -> f64 {
        self.rows.iter().find(|(metric, _)| metric.name == name).map_or(f64::NAN, |row| row.1)
    }

    /// The present state of a metric that has states; none where it is not known.
    pub fn state(&self, name: &str) -> Option<&'static str> {
        self.rows.iter().find(|(metric, _)| metric.name == name).and_then(|(metric, value)| metric.state(*value))
    }

    /// Formats as one JSON object, on one line without its newline.
    pub fn to_json(&self, at: Time) -> String {
        let mut line = json_start(at, self.side);
        if let Some(stream) = &self.stream {
            json_text(&mut line, "stream", stream);
        }
        for (metric, value) in &self.rows {
            match metric.state(*value) {
                Some(state) => json_text(&mut line, metric.name, state),
                None => json_number(&mut line, metric.name, *value),
            }
        }
        line + "}"
    }

    /// The labels of Prometheus.
    fn labels(&self) -> String {
        let side = format!("side=\"{}\"", self.side);
        match &self.stream {
            // As the exposition format escapes.
            Some(name) => {
                format!("{side},stream=\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
            }
            None => side,
        }
    }
}

/// Formats the figures of all streams, which have the same metrics, as Prometheus' text exposition format 0.0.4.
pub fn to_prometheus(all: &[Figures]) -> String {
    let mut page = String::with_capacity(8192 * all.len());
    let Some(first) = all.first() else { return page };
    for (nth, (metric, _)) in first.rows.iter().enumerate() {
        let Metric { name, kind, help } = metric;
        let (kind, states) = match kind {
            Kind::Counter => ("counter", None),
            Kind::Gauge => ("gauge", None),
            Kind::States(states) => ("gauge", Some(states)),
        };
        let _ = write!(page, "# HELP thalweg_{name} {help}\n# TYPE thalweg_{name} {kind}\n");
        for figures in all {
            let (value, labels) = (figures.rows.get(nth).map_or(f64::NAN, |row| row.1), figures.labels());
            let _ = match states {
                Some(states) => states.iter().try_for_each(|state| {
                    let is_present = u8::from(metric.state(value) == Some(state));
                    writeln!(page, "thalweg_{name}{{{labels},state=\"{state}\"}} {is_present}")
                }),
                None => writeln!(page, "thalweg_{name}{{{labels}}} {value}"),
            };
        }
    }
    for figures in all {
        if let Some(histogram) = &figures.histogram {
            histogram.write(&mut page, figures.side);
        }
    }
    page
}

impl Report {
    /// Formats as one JSON object, on one line without its newline.
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
    // JSON has no NaN and no infinity; null says that the value is unknown.
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
    use thalweg_core::time::Span;

    use super::*;

    const COUNT: Metric = Metric { name: "media_packets_total", kind: Kind::Counter, help: "Packets" };
    const RATIO: Metric = Metric { name: "overhead_ratio", kind: Kind::Gauge, help: "Overhead" };

    const CAUSE: Metric = Metric { name: "loss_cause", kind: Kind::States(&["path", "queue"]), help: "Cause" };

    fn figures() -> Figures {
        Figures::of("send", vec![(&COUNT, 12.0), (&RATIO, f64::NAN)])
    }

    #[test]
    fn unknown_value_is_null_in_json_and_nan_in_prometheus() {
        assert_eq!(
            figures().to_json(Time::from_nanos(1_500_000_000)),
            r#"{"t":1.500,"side":"send","media_packets_total":12,"overhead_ratio":null}"#
        );
        assert_eq!(
            to_prometheus(&[figures()]),
            "# HELP thalweg_media_packets_total Packets\n# TYPE thalweg_media_packets_total counter\n\
             thalweg_media_packets_total{side=\"send\"} 12\n# HELP thalweg_overhead_ratio Overhead\n\
             # TYPE thalweg_overhead_ratio gauge\nthalweg_overhead_ratio{side=\"send\"} NaN\n"
        );
    }

    #[test]
    fn state_is_a_word_in_json_and_a_sample_of_each_state_in_prometheus() {
        for (value, json, samples) in
            [(1.0, r#""queue""#, [0, 1]), (0.0, r#""path""#, [1, 0]), (f64::NAN, "null", [0, 0])]
        {
            let figures = Figures::of("send", vec![(&CAUSE, value)]);
            assert_eq!(figures.to_json(Time::ZERO), format!(r#"{{"t":0.000,"side":"send","loss_cause":{json}}}"#));
            let page = "# HELP thalweg_loss_cause Cause\n# TYPE thalweg_loss_cause gauge\n".to_owned();
            let [path, queue] = samples;
            let page = page + &format!("thalweg_loss_cause{{side=\"send\",state=\"path\"}} {path}\n");
            let page = page + &format!("thalweg_loss_cause{{side=\"send\",state=\"queue\"}} {queue}\n");
            assert_eq!(to_prometheus(&[figures]), page);
        }
    }

    #[test]
    fn histogram_buckets_are_cumulative() {
        const BOUNDS: [Span; 2] = [Span::from_millis(5), Span::from_secs(1)];
        let (counts, sum) = (vec![2, 3, 1], Span::from_millis(2500));
        let histogram = Histogram { name: "delay_seconds", help: "Delay", bounds: &BOUNDS, counts, sum };
        let figures = Figures { histogram: Some(histogram), rows: vec![], ..figures() };
        // Exposition formats, "Histograms and summaries".
        assert_eq!(
            to_prometheus(&[figures]),
            "# HELP thalweg_delay_seconds Delay\n# TYPE thalweg_delay_seconds histogram\n\
             thalweg_delay_seconds_bucket{side=\"send\",le=\"0.005\"} 2\n\
             thalweg_delay_seconds_bucket{side=\"send\",le=\"1\"} 5\n\
             thalweg_delay_seconds_bucket{side=\"send\",le=\"+Inf\"} 6\n\
             thalweg_delay_seconds_sum{side=\"send\"} 2.5\nthalweg_delay_seconds_count{side=\"send\"} 6\n"
        );
    }

    #[test]
    fn json_strings_are_escaped_by_rfc_8259() {
        let report = Report::warning("a \"b\" \\ \n");
        assert_eq!(
            report.to_json(Time::ZERO, "recv"),
            r#"{"t":0.000,"side":"recv","event":"warning","text":"a \"b\" \\ \u000a"}"#
        );
    }
}
