//! What happens, on standard error: JSON for programs, or a line for people.

use std::fmt::{Debug, Write as _};
use std::io::{self, IsTerminal};

use thalweg_core::time::{Span, Time};

use crate::figures::Figures;
use crate::report::Report;
use crate::spool::Spool;
use crate::terminal::escaped;

/// How often somebody who keeps a log, rather than watches a terminal, is told.
const LOG_INTERVAL: Span = Span::from_secs(10);
/// A line that is no older is the last one: its figures are of whole seconds.
const FRESH: Span = Span::from_secs(1);
/// Back to the start of the line, and away with it.
const ERASE: &str = "\r\x1b[K";

/// What is told again and again.
pub trait Readings {
    /// One JSON object, on one line without its end.
    fn json(&self, at: Time) -> String;

    /// What a person wants to know at a glance; empty if that is nothing yet.
    fn line(&self, at: Time) -> String;

    /// What a person is left with at the end.
    fn last(&self, at: Time) -> String {
        self.line(at)
    }

    /// Whether something is wrong that can still be mended.
    fn is_alarming(&self) -> bool {
        false
    }
}

/// Who is told what happens at a station.
pub trait Audience: Debug + Send {
    /// Something has happened.
    fn hear(&mut self, now: Time, report: &Report);

    /// A second has passed.
    fn see(&mut self, now: Time, figures: &Figures);

    /// It is over.
    fn leave(&mut self, now: Time, figures: &Figures);
}

/// Tells on standard error what happens.
#[derive(Debug)]
pub struct Reporter {
    side: &'static str,
    form: Form,
    stderr: Option<Spool>,
}

#[derive(Debug)]
enum Form {
    Json,
    /// One line that is written over and over.
    Terminal {
        colour: bool,
        line_shown: bool,
    },
    /// A line now and then: the next, and the last that was.
    Log {
        next: Time,
        last: Option<Time>,
    },
}

impl Reporter {
    /// One JSON object a second and one for every event.
    pub fn json(side: &'static str) -> Reporter {
        Reporter { side, form: Form::Json, stderr: Spool::stderr().ok() }
    }

    /// For people: a live line on a terminal, otherwise a line now and then. Colours as <https://no-color.org> says.
    pub fn human(side: &'static str) -> Reporter {
        let colour = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        let form = match io::stderr().is_terminal() {
            true => Form::Terminal { colour, line_shown: false },
            false => Form::Log { next: Time::ZERO + LOG_INTERVAL, last: None },
        };
        Reporter { side, form, stderr: Spool::stderr().ok() }
    }

    /// As JSON, into a file that a test reads.
    #[cfg(test)]
    pub(crate) fn to_file(side: &'static str, path: &std::path::Path) -> Reporter {
        Reporter { side, form: Form::Json, stderr: Some(Spool::file(path).expect("a file")) }
    }

    /// Tells what has happened.
    pub fn report(&mut self, now: Time, report: &Report) {
        if report.text.is_empty() && !matches!(self.form, Form::Json) {
            return;
        }
        let text = match &mut self.form {
            Form::Json => report.to_json(now, self.side),
            // Names of files and what stands in them may be among it.
            Form::Terminal { line_shown, .. } => format!("{}{}", erased(line_shown), escaped(&report.text)),
            Form::Log { .. } => escaped(&report.text).into_owned(),
        };
        self.put(&text, "\n");
    }

    /// Tells the figures of the last second.
    pub fn tick(&mut self, now: Time, readings: &impl Readings) {
        if let Some((text, end)) = self.form.tick(now, readings) {
            self.put(&text, end);
        }
    }

    /// Tells the last figures, and leaves the terminal in order.
    pub fn end(&mut self, now: Time, readings: &impl Readings) {
        let text = self.form.end(now, readings);
        if !text.is_empty() {
            self.put(&text, "\n");
        }
    }

    /// Standard error may be gone, or its reader may have stopped; a stream goes on without it.
    fn put(&mut self, text: &str, end: &str) {
        if let Some(stderr) = &mut self.stderr {
            stderr.put(text.as_bytes());
            stderr.put(end.as_bytes());
            let _ = stderr.flush();
        }
    }
}

impl Audience for Reporter {
    fn hear(&mut self, now: Time, report: &Report) {
        self.report(now, report);
    }

    fn see(&mut self, now: Time, figures: &Figures) {
        self.tick(now, figures);
    }

    fn leave(&mut self, now: Time, figures: &Figures) {
        self.end(now, figures);
    }
}

impl Form {
    /// What is told every second, and what ends it.
    fn tick(&mut self, now: Time, readings: &impl Readings) -> Option<(String, &'static str)> {
        if matches!(self, Form::Json) {
            return Some((readings.json(now), "\n"));
        }
        let line = readings.line(now);
        match self {
            _ if line.is_empty() => None,
            Form::Terminal { colour, line_shown } => {
                *line_shown = true;
                let red = *colour && readings.is_alarming();
                let line = cut(&line);
                let text = if red { format!("{ERASE}\x1b[31m{line}\x1b[0m") } else { format!("{ERASE}{line}") };
                Some((text, ""))
            }
            Form::Log { next, last } if now >= *next => {
                (*next, *last) = (now + LOG_INTERVAL, Some(now));
                Some((line, "\n"))
            }
            Form::Log { .. } | Form::Json => None,
        }
    }

    /// What is told at the end; nothing if it has just been.
    fn end(&mut self, now: Time, readings: &impl Readings) -> String {
        match self {
            Form::Json => readings.json(now),
            Form::Terminal { line_shown, .. } => format!("{}{}", erased(line_shown), readings.last(now)),
            Form::Log { last: Some(last), .. }
                if now.since(*last) < FRESH && readings.last(now) == readings.line(now) =>
            {
                String::new()
            }
            Form::Log { .. } => readings.last(now),
        }
    }
}

/// What takes away a line that is shown.
fn erased(line_shown: &mut bool) -> &'static str {
    if std::mem::take(line_shown) { ERASE } else { "" }
}

impl Readings for Figures {
    fn json(&self, at: Time) -> String {
        self.to_json(at)
    }

    fn line(&self, at: Time) -> String {
        if !self.has_begun() {
            return String::new();
        }
        let get = |name| self.get(name);
        let seconds = at.as_secs_f64() as u64;
        let mut line = format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
        let mut add = |label: &str, value: f64, scale: f64, digits: usize, unit: &str| {
            if value.is_finite() {
                let _ = write!(line, "  {label} {:.digits$}{unit}", value * scale);
            }
        };
        add("connections", get("connections"), 1.0, 0, "");
        add("out", get("carried_out_rate_bps"), 1e-6, 2, " Mb/s");
        add("in", get("carried_in_rate_bps"), 1e-6, 2, " Mb/s");
        add("media", get("media_rate_bps"), 1e-6, 2, " Mb/s");
        add("wire", get("wire_rate_bps"), 1e-6, 2, " Mb/s");
        add("loss", get("loss_before_repair_ratio"), 100.0, 2, "%");
        add("loss", get("loss_ratio"), 100.0, 2, "%");
        add("RTT", get("rtt_seconds"), 1e3, 1, " ms");
        add("after repair", get("loss_after_repair_ratio"), 100.0, 4, "%");
        for (label, name) in [("unsent", "unsent_packets_total"), ("rejected", "rejected_datagrams_total")] {
            add(label, above_zero(get(name)), 1.0, 0, "");
        }
        // Below zero it only says that media waits, or does not leave at all.
        add("overhead", above_zero(get("overhead_ratio")), 100.0, 1, "%");
        add("useless", above_zero(get("useless_ratio")), 100.0, 1, "%");
        add("window", get("repair_window_packets"), 1.0, 0, "");
        add("W", get("w_packets"), 1.0, 0, "");
        add("ERTT", get("ertt_seconds"), 1e3, 1, " ms");
        add("latency p50", get("latency_p50_seconds"), 1e3, 1, " ms");
        add("p99", get("latency_p99_seconds"), 1e3, 1, " ms");
        add("delay p50", get("delay_p50_seconds"), 1e3, 1, " ms");
        add("p99", get("delay_p99_seconds"), 1e3, 1, " ms");
        line
    }

    fn is_alarming(&self) -> bool {
        self.get("loss_after_repair_ratio") > 0.0 || self.get("breaker_open") > 0.0
    }
}

/// The value, if it is worth a word.
fn above_zero(value: f64) -> f64 {
    if value > 0.0 { value } else { f64::NAN }
}

/// The line cut to the width of the terminal on standard error, so that it can be written over.
fn cut(line: &str) -> String {
    let columns = rustix::termios::tcgetwinsize(io::stderr()).map_or(80, |size| usize::from(size.ws_col));
    line.chars().take(columns.saturating_sub(1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_core::session::live::sender::Sender;

    fn shown(values: &[(&str, f64)]) -> String {
        let value = |name| values.iter().find(|(known, _)| *known == name).map_or(f64::NAN, |(_, value)| *value);
        let rows = Sender::METRICS.iter().map(|metric| (metric, value(metric.name))).collect();
        Figures::of("send", rows).line(Time::ZERO + Span::from_secs(3661))
    }

    #[test]
    fn a_line_has_what_is_known_and_the_counts_of_what_went_wrong() {
        let wrong = [("unsent_packets_total", 7.0), ("rejected_datagrams_total", 0.0), ("overhead_ratio", 0.4)];
        assert_eq!(shown(&wrong), "01:01:01  unsent 7  overhead 40.0%");
        // Nobody there: media comes and nothing but hellos leaves.
        assert_eq!(shown(&[("media_rate_bps", 25e6), ("overhead_ratio", -0.99)]), "01:01:01  media 25.00 Mb/s");
    }

    /// Ends a stream of so many milliseconds whose figures a log is told, and counts the lines.
    fn logged(millis: u64) -> Vec<String> {
        let at = |millis| Time::ZERO + Span::from_millis(millis);
        let figures = || Figures::of("send", vec![(&Sender::METRICS[0], 7.0)]);
        let mut form = Form::Log { next: Time::ZERO + LOG_INTERVAL, last: None };
        let ticks =
            (1..=millis / 1000).filter_map(|second| form.tick(at(second * 1000), &figures())).map(|(text, _)| text);
        let mut lines: Vec<String> = ticks.collect();
        lines.push(form.end(at(millis), &figures()));
        lines.retain(|line| !line.is_empty());
        lines.iter().map(|line| line[..8].to_owned()).collect()
    }

    #[test]
    fn a_log_has_a_line_in_ten_seconds_and_the_last_one_once() {
        assert_eq!(logged(5000), ["00:00:05"]);
        assert_eq!(logged(10_040), ["00:00:10"], "the end comes with the tick, or just behind it");
        assert_eq!(logged(11_000), ["00:00:10", "00:00:11"]);
        assert_eq!(logged(25_000), ["00:00:10", "00:00:20", "00:00:25"]);
    }
}
