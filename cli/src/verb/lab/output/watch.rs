//! `intervals-SEED.csv`: what the ends of every flow show, every so often.

use std::fmt::Write as _;
use std::fs;

use thalweg_core::time::{Span, Time};
use thalweg_lab::experiment::Run;

use super::{Output, Table, cell, quoted};
use crate::Failure;

const HEADER: &str = "t_s,flow,group,probe,value\n";

/// Whoever watches one run.
pub(in super::super) struct Watch {
    intervals: Option<(Table, Span)>,
}

impl Watch {
    /// Watches the run of `scheme` with `seed`, as far as `output` asks for it.
    pub(in super::super) fn new(output: &Output, scheme: &str, seed: u64) -> Result<Watch, Failure> {
        let Some(folder) = &output.folder else { return Ok(Watch { intervals: None }) };
        let intervals = folder.interval.map(|interval| -> Result<(Table, Span), Failure> {
            let path = folder.path.join(file("intervals", scheme, seed, "csv"));
            Ok((Table::create(path, HEADER)?, interval))
        });
        Ok(Watch { intervals: intervals.transpose()? })
    }

    /// How often it looks.
    pub(in super::super) fn interval(&self) -> Option<Span> {
        self.intervals.as_ref().map(|(_, interval)| *interval)
    }

    /// Looks at the run, which stands at `now`.
    pub(in super::super) fn look(&mut self, now: Time, run: &Run) -> Result<(), Failure> {
        let Some((table, _)) = &mut self.intervals else { return Ok(()) };
        let mut text = String::new();
        for (flow, group) in (0..).map_while(|flow| run.group_of(flow).map(|group| (flow, group))) {
            let start = format!("{},{flow},{}", now.as_secs_f64(), quoted(&run.groups()[group].name));
            run.probe(flow, &mut |name, value| {
                let _ = writeln!(text, "{start},{name},{}", cell(value));
            });
        }
        table.write(&text)
    }

    /// Leaves complete files.
    pub(in super::super) fn end(mut self) -> Result<(), Failure> {
        self.intervals.as_mut().map_or(Ok(()), |(table, _)| table.flush())
    }

    /// Leaves nothing of a run that did not reach its end.
    pub(in super::super) fn abandon(self) {
        if let Some((table, _)) = self.intervals {
            let _ = fs::remove_file(&table.path);
        }
    }
}

/// The name of a file of one run.
fn file(what: &str, scheme: &str, seed: u64, ending: &str) -> String {
    let scheme: String = scheme.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect();
    if scheme.is_empty() { format!("{what}-{seed}.{ending}") } else { format!("{what}-{scheme}-{seed}.{ending}") }
}
