//! The output of a campaign: a line of JSON for each run, and in a folder summaries and flows, each as CSV and as JSON
//! lines, and files for each run.

mod capture;
mod csv;
mod earlier;
pub(crate) mod flows;
mod json;
pub(crate) mod stations;
mod table;
mod watch;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use serde_json::Value;
use thalweg_core::time::Span;
use thalweg_lab::experiment::Run;

use self::csv::{cell, quoted};
use self::table::Table;
use self::watch::file_name;
use crate::campaign::{CPU, Campaign, Finished, quantities, reproducible_quantities};
use crate::error::{Error, FileError};
use crate::intervals::LEAST_INTERVAL;

pub(crate) use self::json::{object, object_of};
pub(crate) use self::watch::Watch;

/// The files to be written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Files {
    /// The folder for results: summary.csv, flows.csv and, of a Wi-Fi cell, stations.csv, the same as .jsonl, and
    /// timing.csv.
    pub folder: PathBuf,
    /// The interval, 1 ms or more, at which the state and the counters of flows and hops are written, into
    /// intervals-SEED and hops-SEED, .csv and .jsonl; none writes no such files.
    pub interval: Option<Span>,
    /// True to write every packet at one hop into packets-SEED.csv.
    pub trace: bool,
    /// True to write the headers of the packets that leave that hop into packets-SEED.pcap.
    pub pcap: bool,
    /// The hop that `trace` and `pcap` watch, from 0.
    pub hop: usize,
}

impl Files {
    /// The names of the files of single runs that `campaign` writes.
    fn written(&self, campaign: &Campaign) -> BTreeSet<String> {
        let intervals = self.interval.is_some();
        let both = |what| [(what, "csv", intervals), (what, "jsonl", intervals)];
        let all = both("intervals").into_iter().chain(both("hops"));
        let all = all.chain([("packets", "csv", self.trace), ("packets", "pcap", self.pcap)]);
        let asked = all.filter(|(.., asked)| *asked);
        let runs =
            campaign.variants.iter().flat_map(|(scheme, _)| campaign.seeds.iter().map(move |seed| (scheme, *seed)));
        runs.flat_map(|(scheme, seed)| {
            asked.clone().map(move |(what, ending, _)| file_name(what, scheme, seed, ending))
        })
        .collect()
    }

    fn check(&self, campaign: &Campaign) -> Result<(), Error> {
        let hops = campaign.experiments()?.iter().map(|experiment| experiment.hops.len()).min().unwrap_or(0);
        if self.hop >= hops {
            return Err(Error::Parameter(format!("hop {}: the scenario has only {hops}", self.hop + 1)));
        }
        if self.interval.is_some_and(|interval| interval < LEAST_INTERVAL) {
            return Err(Error::Parameter(format!("interval: must be at least {LEAST_INTERVAL}")));
        }
        Ok(())
    }
}

/// The destinations of the results of runs, written as the runs end.
#[derive(Debug)]
pub struct Output<'a> {
    files: Option<Files>,
    /// The number of files of an earlier campaign that were removed.
    removed: usize,
    /// The content of each file with rows for each run, in the order of the queue's tables.
    contents: Vec<RowsOf>,
    queue: Mutex<Queue<'a>>,
}

/// The destination of a line of JSON for each run. Returns whether somebody still reads.
pub type Lines<'a> = Box<dyn FnMut(&str) -> Result<bool, Error> + Send + 'a>;

/// Results in the order of the runs, whichever ends first: each is written as soon as all runs before it are over.
struct Queue<'a> {
    /// The destination of a line for each run, as long as somebody reads it.
    lines: Option<Lines<'a>>,
    /// Files with rows for each run.
    tables: Vec<Table>,
    waiting: BTreeMap<usize, Rows>,
    next: usize,
}

/// The rows of one run in a file, for the run of a scheme.
type RowsOf = fn(&str, &Finished) -> String;

struct Rows {
    /// The line of JSON, with the processor time.
    line: String,
    /// The rows of each file, in the order of the files.
    of_files: Vec<String>,
}

impl<'a> Output<'a> {
    /// An output that writes nothing.
    pub fn none() -> Output<'a> {
        let queue = Mutex::new(Queue { lines: None, tables: Vec::new(), waiting: BTreeMap::new(), next: 0 });
        Output { files: None, removed: 0, contents: Vec::new(), queue }
    }

    /// Makes the folder and its files for `campaign`, so that a failure shows before anything runs. Each run is a line
    /// of `lines`, too.
    ///
    /// # Errors
    /// The files do not fit the campaign, or cannot be made.
    pub fn open(files: Option<Files>, campaign: &Campaign, lines: Option<Lines<'a>>) -> Result<Output<'a>, Error> {
        let mut removed = 0;
        let mut of_folder = Vec::new();
        if let Some(files) = &files {
            files.check(campaign)?;
            fs::create_dir_all(&files.folder).map_err(FileError::writing(&files.folder))?;
            removed = earlier::remove(&files.folder, &files.written(campaign))?;
            of_folder = tables(&files.folder, campaign)?;
        }
        let (tables, contents) = of_folder.into_iter().unzip();
        let queue = Mutex::new(Queue { lines, tables, waiting: BTreeMap::new(), next: 0 });
        Ok(Output { files, removed, contents, queue })
    }

    /// The number of files of single runs of an earlier campaign that were removed and are not written anew.
    pub fn removed(&self) -> usize {
        self.removed
    }

    /// Begins to observe the run of `scheme` with `seed`, as far as files are to be written of it.
    pub(crate) fn watch(&self, scheme: &str, seed: u64, run: &mut Run) -> Result<Watch, Error> {
        Watch::new(self.files.as_ref(), scheme, seed, run)
    }

    /// Takes the run of the variant `scheme` that is the `number`th of the campaign.
    pub(crate) fn take(&self, number: usize, scheme: &str, run: &Finished) -> Result<(), Error> {
        if !self.queue.lock().expect("no thread panics with it").is_wanted() {
            return Ok(());
        }
        let rows = Rows {
            line: format!("{}\n", object(scheme, run, quantities().map(|(name, _)| name))),
            of_files: self.contents.iter().map(|rows| rows(scheme, run)).collect(),
        };
        let mut queue = self.queue.lock().expect("no thread panics with it");
        queue.waiting.insert(number, rows);
        queue.settle(false)
    }

    /// Writes the results that wait for runs that never ended.
    pub(crate) fn finish(&self) -> Result<(), Error> {
        self.queue.lock().expect("no thread panics with it").settle(true)
    }
}

/// Creates the files with rows for each run in a folder, each with its content.
fn tables(folder: &Path, campaign: &Campaign) -> Result<Vec<(Table, RowsOf)>, Error> {
    let names: Vec<&str> = reproducible_quantities().collect();
    let summary = format!("scheme,seed,{}\n", names.join(","));
    let timing = format!("scheme,seed,{CPU}\n");
    let mut files: Vec<(&str, &str, RowsOf)> = vec![
        ("summary.csv", &summary, summary_row),
        ("summary.jsonl", "", |scheme, run| format!("{}\n", object(scheme, run, reproducible_quantities()))),
        ("timing.csv", &timing, |scheme, run| format!("{},{},{}\n", quoted(scheme), run.seed, cell(run.value(CPU)))),
        ("flows.csv", flows::HEADER, flows::rows),
        ("flows.jsonl", "", |scheme, run| lines(flows::objects(scheme, run))),
    ];
    if campaign.experiments()?.iter().any(|experiment| experiment.hops.iter().any(|hop| hop.cell().is_some())) {
        files.extend([
            ("stations.csv", stations::HEADER, stations::rows as RowsOf),
            ("stations.jsonl", "", |scheme, run| lines(stations::objects(scheme, run))),
        ]);
    }
    let create = |(name, header, rows)| Ok((Table::create(folder.join(name), header)?, rows));
    files.into_iter().map(create).collect()
}

/// Objects, one a line.
fn lines(objects: impl Iterator<Item = Value>) -> String {
    objects.map(|object| format!("{object}\n")).collect()
}

/// The quantities of a run, as CSV.
fn summary_row(scheme: &str, run: &Finished) -> String {
    let values: Vec<String> = reproducible_quantities().map(|name| cell(run.value(name))).collect();
    format!("{},{},{}\n", quoted(scheme), run.seed, values.join(","))
}

impl Queue<'_> {
    /// True if anybody takes the rows; nothing does in a campaign whose results are only kept in memory.
    fn is_wanted(&self) -> bool {
        self.lines.is_some() || !self.tables.is_empty()
    }

    fn settle(&mut self, all: bool) -> Result<(), Error> {
        while let Some((number, rows)) = self.waiting.pop_first() {
            if number != self.next && !all {
                self.waiting.insert(number, rows);
                break;
            }
            self.next = number + 1;
            self.print(&rows.line)?;
            for (table, text) in self.tables.iter_mut().zip(&rows.of_files) {
                table.write(text)?;
                table.flush()?;
            }
        }
        Ok(())
    }

    /// Writes a line. Once its reader is gone, the runs go on for the files alone, or stop if there are none.
    fn print(&mut self, line: &str) -> Result<(), Error> {
        let Some(lines) = &mut self.lines else { return Ok(()) };
        if !lines(line)? {
            self.lines = None;
        }
        if self.is_wanted() { Ok(()) } else { Err(Error::Unread) }
    }
}

impl fmt::Debug for Queue<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue").field("waiting", &self.waiting.len()).field("next", &self.next).finish_non_exhaustive()
    }
}
