//! The advice, as a table or as JSON, on standard output.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Value, json};
use thalweg_core::time::Span;
use thalweg_net::figures::Figures;
use thalweg_net::terminal::escaped;
use thalweg_workbench::advise::{Interval, Loss, Measured, Outcome, Setting};

use super::failed;
use super::wanted::Tried;
use crate::failure::Failure;
use crate::standard_output;
use crate::table::Table;

/// The path that the advice is for.
pub(super) struct Subject {
    text: String,
    json: Value,
    /// The time at which the command of the receiver can start, if not at once.
    starts: &'static str,
}

/// The result of all trials.
pub(super) struct Advice<'a> {
    pub(super) subject: Subject,
    /// The share of packets that may be lost.
    pub(super) loss: f64,
    pub(super) tried: &'a Tried,
    /// The commands that are recommended: `recv` and `send`.
    pub(super) commands: [String; 2],
}

/// The form of the output.
pub(super) struct Page {
    pub(super) is_json: bool,
}

/// The result of the second measurement.
struct Found {
    packets: f64,
    lost: f64,
    overhead: f64,
    p99: f64,
}

impl Page {
    pub(super) fn print(&self, advice: &Advice<'_>) -> Result<(), Failure> {
        put(&if self.is_json { advice.json() } else { advice.text() })
    }

    /// Prints what was predicted beside what was measured.
    pub(super) fn print_verified(&self, predicted: &Outcome, figures: &Figures) -> Result<(), Failure> {
        let found = Found::of(figures);
        put(&if self.is_json { found.json(predicted) } else { found.text(predicted) })
    }
}

fn put(text: &str) -> Result<(), Failure> {
    standard_output::write(text).map(|_| ()).map_err(failed)
}

impl Subject {
    /// A path that was measured now.
    pub(super) fn measured(path: &Measured) -> Subject {
        let (packets, round_trip) = (path.packets(), path.round_trip());
        let lost = path.lost() as f64 / packets as f64 * 100.0;
        let groups = if path.lost() > 0 { format!(", mean burst {:.1} packets", path.group()) } else { String::new() };
        let (time, millis) = (path.duration().as_secs_f64(), round_trip.as_millis_f64());
        Subject {
            text: format!("{packets} packets in {time:.0} s, round trip {millis:.1} ms, {lost:.2} % lost{groups}"),
            json: json!({"event": "measured", "packets": packets, "lost": path.lost(), "seconds": time,
                "round_trip_seconds": round_trip.as_secs_f64(), "mean_burst_packets": path.group()}),
            starts: " (once `advise serve` has stopped, which has the port)",
        }
    }

    /// The path of a file.
    pub(super) fn file(file: &Path, setting: &Setting) -> Subject {
        let (time, round_trip) = (setting.time().as_secs_f64(), setting.round_trip());
        let file = file.display().to_string();
        Subject {
            text: format!("{} for {time:.0} s, round trip {:.1} ms", escaped(&file), round_trip.as_millis_f64()),
            json: json!({"event": "path", "file": file, "seconds": time,
                "round_trip_seconds": round_trip.as_secs_f64()}),
            starts: "",
        }
    }
}

impl Advice<'_> {
    fn text(&self) -> String {
        let mut text = format!("\n{}\n\n", self.subject.text);
        let mut table = Table::default();
        table.row(["", "latency", "lost after repair", "overhead, %", "p99, ms"].map(str::to_owned).to_vec());
        for (nth, (candidate, outcome)) in self.tried.candidates.iter().enumerate() {
            let mark = if nth == self.tried.choice.nth { "> " } else { "  " };
            table.row(vec![
                format!("{mark}{candidate}"),
                candidate.latency.to_string(),
                loss(&outcome.loss),
                with_interval(&outcome.overhead, 100.0),
                with_interval(&outcome.p99, 1e3),
            ]);
        }
        let [recv, send] = &self.commands;
        let _ = write!(
            text,
            "{table}\nIn brackets: the result of a second measurement of the same length, 19 times in 20.\n\n{}\n\n\
             where the media arrives{}:\n  {recv}\nwhere it is sent:\n  {send}\n",
            self.verdict(),
            self.subject.starts
        );
        text
    }

    fn verdict(&self) -> String {
        let (candidate, outcome) = self.tried.chosen();
        let (latency, asked) = (candidate.latency, share(self.loss));
        let (is_first, is_doubtful) = (self.tried.choice.nth == 0, outcome.loss.interval().high > self.loss);
        let stays = if is_doubtful { "may stay" } else { "stays" };
        let why = match (self.tried.choice.keeps_loss, is_first) {
            (true, true) => format!("{stays} below a loss of {asked}"),
            (true, false) => format!("least overhead of those below a loss of {asked}"),
            (false, true) => format!("no setting stays below a loss of {asked}, and none loses less than half as much"),
            (false, false) => format!("no setting stays below a loss of {asked}; this one loses least"),
        };
        let next = match (self.tried.choice.keeps_loss, is_doubtful) {
            (false, _) => "\nA longer --latency, less --media or a greater --loss would help.",
            (true, true) => "\nThe losses are too few to be sure; a longer --time tells more.",
            (true, false) => "",
        };
        format!("Recommended: {candidate}, latency {latency}: {why}.{next}")
    }

    /// A line for the path, one for each candidate, and one for the advice.
    fn json(&self) -> String {
        let candidates = self.tried.candidates.iter().map(|(candidate, outcome)| {
            json!({"event": "candidate", "repair": candidate.repair, "latency_seconds": candidate.latency.as_secs_f64(),
                "block_seconds": candidate.block.map(Span::as_secs_f64), "packets": outcome.packets, "lost": outcome.lost,
                "loss": loss_json(&outcome.loss), "overhead": interval_json(&outcome.overhead),
                "p99_seconds": interval_json(&outcome.p99)})
        });
        let (candidate, _) = self.tried.chosen();
        let advice = json!({"event": "advice", "repair": candidate.repair,
            "latency_seconds": candidate.latency.as_secs_f64(),
            "block_seconds": candidate.block.map(Span::as_secs_f64), "keeps_loss": self.tried.choice.keeps_loss,
            "trials_seconds": self.tried.seconds,
            "commands": self.commands});
        lines([self.subject.json.clone()].into_iter().chain(candidates).chain([advice]))
    }
}

impl Found {
    fn of(figures: &Figures) -> Found {
        let get = |name| figures.get(name);
        Found {
            packets: get("media_packets_total"),
            lost: get("residual_lost_packets_total") + get("unsent_packets_total"),
            overhead: get("wire_bytes_total") / get("media_bytes_total") - 1.0,
            p99: get("latency_p99_seconds"),
        }
    }

    fn text(&self, predicted: &Outcome) -> String {
        let mut table = Table::default();
        let mut row = |cells: [&str; 3]| table.row(cells.map(str::to_owned).to_vec());
        row(["", "predicted", "measured"]);
        let lost = format!("{} ({} of {})", share(self.lost / self.packets), self.lost, self.packets);
        row(["lost after repair", &loss(&predicted.loss), &lost]);
        row(["overhead, %", &with_interval(&predicted.overhead, 100.0), &number(self.overhead * 100.0)]);
        row(["p99, ms", &with_interval(&predicted.p99, 1e3), &number(self.p99 * 1e3)]);
        format!("\n{table}")
    }

    fn json(&self, predicted: &Outcome) -> String {
        let verified = json!({"event": "verified", "packets": self.packets, "lost": self.lost,
            "loss": {"predicted": loss_json(&predicted.loss), "measured": self.lost / self.packets},
            "overhead": {"predicted": interval_json(&predicted.overhead), "measured": self.overhead},
            "p99_seconds": {"predicted": interval_json(&predicted.p99), "measured": self.p99}});
        lines([verified])
    }
}

fn lines(values: impl IntoIterator<Item = Value>) -> String {
    values.into_iter().map(|value| format!("{value}\n")).collect()
}

fn interval_json(interval: &Interval) -> Value {
    json!({"value": interval.value, "low": interval.low, "high": interval.high})
}

/// A rate with its interval, or its upper bound alone.
fn loss_json(loss: &Loss) -> Value {
    match loss {
        Loss::Rate(interval) => interval_json(interval),
        Loss::FewerThan(interval) => json!({"fewer_than": interval.high}),
    }
}

fn loss(loss: &Loss) -> String {
    match loss {
        Loss::Rate(Interval { value, low, high }) => format!("{} ({} to {})", share(*value), share(*low), share(*high)),
        Loss::FewerThan(interval) => format!("fewer than {}", share(interval.high)),
    }
}

fn share(share: f64) -> String {
    if share == 0.0 { "0".to_owned() } else { format!("{share:.1e}") }
}

fn with_interval(interval: &Interval, scale: f64) -> String {
    let [value, low, high] = [interval.value, interval.low, interval.high].map(|value| number(value * scale));
    format!("{value} ({low} to {high})")
}

fn number(value: f64) -> String {
    format!("{value:.1}")
}
