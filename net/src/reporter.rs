//! Events and figures on standard error: as JSON for programs, or as lines for people.

mod figures;
mod line;

pub use figures::amount;
pub use line::{Line, is_live};

use std::fmt::Debug;
use std::io;

use thalweg_core::time::{Span, Time};

use crate::figures::Figures;
use crate::report::Report;
use crate::spool::Spool;
use crate::terminal::escaped;

/// Interval between lines where standard error is a log rather than a terminal.
const LOG_INTERVAL: Span = Span::from_secs(10);
/// Events that are reported even with `--quiet`: a fault, or the end of one.
const TROUBLES: [&str; 18] = [
    "warning",
    "waiting",
    "busy",
    "silent",
    "retry",
    "interrupted",
    "law_lost",
    "too_short",
    "few_packets",
    "over_rate",
    "lower_rate",
    "early",
    "other_version",
    "other_key",
    "encrypted",
    "unencrypted",
    "unreadable",
    "broken_off",
];
/// Events that recur while their cause lasts: people read each of them once per [`LOG_INTERVAL`].
const LASTING: [&str; 2] = ["over_rate", "lower_rate"];
/// Carriage return and erasure of the line.
const ERASE: &str = "\r\x1b[K";
/// Erasure of the line above, at which the cursor then is.
const ERASE_ABOVE: &str = "\x1b[A\x1b[K";

/// Values that are reported every second.
pub trait Readings {
    /// The values as one JSON object, on one line without its newline.
    fn json(&self, at: Time) -> String;

    /// The most important values for people; empty if there are none yet.
    fn line(&self, at: Time) -> Line;

    /// The final summary for people; empty if there is nothing to sum up.
    fn last(&self, at: Time) -> String;

    /// True if there is a fault that can still be corrected.
    fn is_alarming(&self) -> bool {
        false
    }
}

/// The receiver of an endpoint's events.
pub trait Audience: Debug + Send {
    /// Receives an event.
    fn on_report(&mut self, now: Time, report: &Report);

    /// Receives the figures of each second, one per stream of the endpoint.
    fn on_figures(&mut self, now: Time, figures: &[Figures]);

    /// Receives the final figures, one per stream of the endpoint.
    fn on_end(&mut self, now: Time, figures: &[Figures]);
}

/// Reports on standard error.
#[derive(Debug)]
pub struct Reporter {
    side: &'static str,
    form: Form,
    /// Times from which on each of [`LASTING`] is reported again.
    again: [Time; LASTING.len()],
    stderr: Option<Spool>,
}

#[derive(Debug)]
enum Form {
    Json,
    /// Lines that are overwritten every second.
    Terminal {
        colour: bool,
        lines_shown: usize,
    },
    /// The same lines once per [`LOG_INTERVAL`].
    Log {
        next: Time,
    },
    /// Only [`TROUBLES`].
    Quiet,
}

impl Reporter {
    fn new(side: &'static str, form: Form, stderr: Option<Spool>) -> Reporter {
        Reporter { side, form, again: [Time::ZERO; LASTING.len()], stderr }
    }

    /// Reports as JSON: one object a second and one for every event.
    pub fn json(side: &'static str) -> Reporter {
        Reporter::new(side, Form::Json, Spool::stderr().ok())
    }

    /// Reports for people: a live line on a terminal, otherwise periodic lines. Colors follow <https://no-color.org>.
    pub fn human(side: &'static str) -> Reporter {
        let colour = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        let form = match is_live(&io::stderr()) {
            true => Form::Terminal { colour, lines_shown: 0 },
            false => Form::Log { next: Time::ZERO + LOG_INTERVAL },
        };
        Reporter::new(side, form, Spool::stderr().ok())
    }

    /// Reports for people who want only warnings and other troubles.
    pub fn quiet(side: &'static str) -> Reporter {
        Reporter::new(side, Form::Quiet, Spool::stderr().ok())
    }

    /// Reports as JSON, into a file that a test reads.
    #[cfg(test)]
    pub(crate) fn to_file(side: &'static str, path: &std::path::Path) -> Reporter {
        Reporter::new(side, Form::Json, Some(Spool::file(path).expect("a file")))
    }

    /// Reports an event.
    pub fn report(&mut self, now: Time, report: &Report) {
        let is_for_people = !matches!(self.form, Form::Json);
        if is_for_people && (report.text.is_empty() || self.is_repeated(now, report.event)) {
            return;
        }
        let text = match &mut self.form {
            Form::Json => report.to_json(now, self.side),
            // The text may contain names of files and contents of files.
            Form::Terminal { lines_shown, .. } => erased(lines_shown) + &escaped(&report.text),
            Form::Quiet if !TROUBLES.contains(&report.event) => return,
            Form::Log { .. } | Form::Quiet => escaped(&report.text).into_owned(),
        };
        self.put(&text, "\n");
    }

    /// True if an event of [`LASTING`] was reported within [`LOG_INTERVAL`]; otherwise notes that it is reported now.
    fn is_repeated(&mut self, now: Time, event: &str) -> bool {
        let Some(nth) = LASTING.iter().position(|lasting| *lasting == event) else { return false };
        let is_repeated = now < self.again[nth];
        if !is_repeated {
            self.again[nth] = now + LOG_INTERVAL;
        }
        is_repeated
    }

    /// Reports the figures of the last second, each on a line of its own.
    pub fn tick(&mut self, now: Time, readings: &[impl Readings]) {
        if let Some((text, end)) = self.form.tick(now, readings) {
            self.put(&text, end);
        }
    }

    /// Reports the final figures, and removes the live lines from the terminal.
    pub fn end(&mut self, now: Time, readings: &[impl Readings]) {
        let text = self.form.end(now, readings);
        if !text.is_empty() {
            self.put(&text, "\n");
        }
    }

    /// Writes to standard error, which may be gone or full; the stream continues without it.
    fn put(&mut self, text: &str, end: &str) {
        if let Some(stderr) = &mut self.stderr {
            stderr.put(text.as_bytes());
            stderr.put(end.as_bytes());
            let _ = stderr.flush();
        }
    }
}

impl Audience for Reporter {
    fn on_report(&mut self, now: Time, report: &Report) {
        self.report(now, report);
    }

    fn on_figures(&mut self, now: Time, figures: &[Figures]) {
        self.tick(now, figures);
    }

    fn on_end(&mut self, now: Time, figures: &[Figures]) {
        self.end(now, figures);
    }
}

impl Form {
    /// The text of each second, and its terminator.
    fn tick(&mut self, now: Time, readings: &[impl Readings]) -> Option<(String, &'static str)> {
        if matches!(self, Form::Json) {
            return Some((joined(readings.iter().map(|readings| readings.json(now))), "\n"));
        }
        let lines =
            || readings.iter().map(|readings| (readings, readings.line(now))).filter(|(_, line)| !line.is_empty());
        match self {
            _ if lines().next().is_none() => None,
            Form::Terminal { colour, lines_shown } => {
                let erased = erased(lines_shown);
                let text = joined(lines().map(|(readings, line)| {
                    // The last column stays free: terminals would wrap there.
                    let line = line.fit(line::columns().saturating_sub(1));
                    let red = *colour && readings.is_alarming();
                    if red { format!("{ERASE}\x1b[31m{line}\x1b[0m") } else { format!("{ERASE}{line}") }
                }));
                *lines_shown = lines().count();
                Some((erased + &text, ""))
            }
            Form::Log { next } if now >= *next => {
                *next = now + LOG_INTERVAL;
                Some((joined(lines().map(|(_, line)| line.to_string())), "\n"))
            }
            Form::Log { .. } | Form::Quiet | Form::Json => None,
        }
    }

    /// The final text.
    fn end(&mut self, now: Time, readings: &[impl Readings]) -> String {
        let last = || joined(readings.iter().map(|readings| readings.last(now)).filter(|last| !last.is_empty()));
        match self {
            Form::Json => joined(readings.iter().map(|readings| readings.json(now))),
            Form::Terminal { lines_shown, .. } => erased(lines_shown) + &last(),
            Form::Log { .. } => last(),
            Form::Quiet => String::new(),
        }
    }
}

fn joined(lines: impl Iterator<Item = String>) -> String {
    lines.collect::<Vec<_>>().join("\n")
}

/// The sequence that erases the shown lines; empty if none is shown.
fn erased(lines_shown: &mut usize) -> String {
    match std::mem::take(lines_shown) {
        0 => String::new(),
        lines => ERASE.to_owned() + &ERASE_ABOVE.repeat(lines - 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_core::session::live::sender::Sender;

    const FORM: Form = Form::Log { next: Time::from_nanos(LOG_INTERVAL.as_nanos()) };

    /// Reports a stream of `millis`, and returns the lines.
    fn lines(mut form: Form, millis: u64) -> Vec<String> {
        let at = |millis| Time::ZERO + Span::from_millis(millis);
        let figures = || Figures::of("send", vec![(&Sender::METRICS[0], 7.0)]);
        let ticks =
            (1..=millis / 1000).filter_map(|second| form.tick(at(second * 1000), &[figures()])).map(|(text, _)| text);
        let mut lines: Vec<String> = ticks.collect();
        lines.push(form.end(at(millis), &[figures()]));
        lines.retain(|line| !line.is_empty());
        lines
    }

    #[test]
    fn log_has_a_line_every_ten_seconds_and_a_summary() {
        assert_eq!(lines(FORM, 5000), ["00:00:05 in all"]);
        assert_eq!(lines(FORM, 10_040), ["00:00:10", "00:00:10 in all"]);
        assert_eq!(lines(FORM, 25_000), ["00:00:10", "00:00:20", "00:00:25 in all"]);
    }

    #[test]
    fn lasting_fault_is_reported_every_ten_seconds() {
        let mut reporter = Reporter::new("send", Form::Quiet, None);
        let seconds =
            (0..25).filter(|second| !reporter.is_repeated(Time::ZERO + Span::from_secs(*second), "over_rate"));
        assert_eq!(seconds.collect::<Vec<_>>(), [0, 10, 20]);
        assert!([0, 1].iter().all(|second| !reporter.is_repeated(Time::ZERO + Span::from_secs(*second), "silent")));
    }

    #[test]
    fn quiet_has_no_line_and_no_summary() {
        assert_eq!(lines(Form::Quiet, 25_000), [""; 0]);
    }

    #[test]
    fn several_streams_have_a_live_line_each_which_are_erased_together() {
        let mut form = Form::Terminal { colour: false, lines_shown: 0 };
        let stream = |name| Figures::of("share", vec![(&Sender::METRICS[0], 7.0)]).of_stream("share", name, []);
        let at = |second| Time::ZERO + Span::from_secs(second);
        let first = form.tick(at(1), &[stream("tv"), stream("phone")]);
        assert_eq!(first, Some(("\r\x1b[K00:00:01  tv\n\r\x1b[K00:00:01  phone".to_owned(), "")));
        let (second, _) = form.tick(at(2), &[stream("tv")]).expect("a line");
        assert_eq!(second, "\r\x1b[K\x1b[A\x1b[K\r\x1b[K00:00:02  tv");
        assert_eq!(form.end(at(3), &[stream("tv")]), "\r\x1b[Ktv: 00:00:03 in all");
    }
}
