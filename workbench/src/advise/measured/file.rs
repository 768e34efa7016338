//! The path file: TOML for `thalweg emulate` and a hop of `thalweg lab`, and its recording as CSV.

use std::fmt::Write as _;

use thalweg_core::time::Span;
use thalweg_lab::scenario::Scenario;

use super::Measured;
use crate::Error;

/// The name of the recording inside [`Measured::scenario`].
const HERE: &str = "recording.csv";

impl Measured {
    /// The recording: a header, and a line for each packet.
    pub fn csv(&self) -> String {
        let mut text = "sent_ms,forward_ms,forward_lost,reverse_ms,reverse_lost\n".to_owned();
        for row in &self.rows {
            let [forward, reverse] = [row.delay, row.back].map(column);
            let _ = writeln!(text, "{:.3},{forward},{reverse}", row.sent.as_millis_f64());
        }
        text
    }

    /// The path file, whose recording is in the file `csv` beside it, with `about` as its first lines.
    pub fn toml(&self, csv: &str, about: &str) -> String {
        let about: String = about.lines().map(|line| format!("# {line}\n")).collect();
        let element = |way: &str, index: &str, keep_order: bool| {
            format!(
                "[{way}]\n\n[[{way}.element]]\nkind = \"recorded\"\nfile = {csv:?}\nindex = \"{index}\"\n\
                 sent = \"sent_ms\"\ndelay = \"{way}_ms\"\nlost = \"{way}_lost\"\nkeep_order = {keep_order}\n"
            )
        };
        let (forward, reverse) = (element("forward", "near", self.keeps_order), element("reverse", "time", true));
        format!("{about}seed = 1\n\n{forward}\n{reverse}")
    }

    /// Both directions of the path.
    pub(in crate::advise) fn scenario(&self) -> Result<Scenario, Error> {
        let scenario = Scenario::parse("path", &self.toml(HERE, ""), None, &mut |_| Ok(self.csv()));
        scenario.map_err(|error| Error::Scenario(error.to_string()))
    }
}

/// The delay in milliseconds, and 1 for a loss.
fn column(delay: Option<Span>) -> String {
    delay.map_or_else(|| "0,1".to_owned(), |delay| format!("{:.3},0", delay.as_millis_f64()))
}
