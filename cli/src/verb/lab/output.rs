//! The output of a campaign: a line of JSON for each run on standard output, and in a folder summaries and flows, each
//! as CSV and as JSON lines, and files for each run.

mod capture;
mod csv;
mod earlier;
mod flows;
mod folder;
mod stations;
mod table;
mod watch;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use serde_json::{Map, Value};
use thalweg_core::time::Span;
use thalweg_lab::experiment::Run;

use self::csv::{cell, quoted};
use self::folder::Folder;
use self::table::{Table, refusal};
use self::watch::file_name;
use super::campaign::{CPU, Campaign, Finished, quantities};
use super::print_to_reader;
use super::progress::wipe;
use crate::failure::Failure;

pub(super) use self::watch::Watch;

/// The files to be written.
#[derive(clap::Args, Default)]
pub(super) struct Files {
    /// Folder for results: summary.csv, flows.csv and, of a Wi-Fi cell, stations.csv, the same as .jsonl, and timing.csv.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// With --out: also write the state and counters of flows and hops at this interval, 1ms or more, into
    /// intervals-SEED and hops-SEED, .csv and .jsonl.
    #[arg(long, value_name = "TIME", requires = "out")]
    interval: Option<Span>,
    /// With --out: also write every packet at one hop into packets-SEED.csv.
    #[arg(long, requires = "out")]
    trace: bool,
    /// With --out: also write the headers of the packets that leave that hop into packets-SEED.pcap.
    #[arg(long, requires = "out")]
    pcap: bool,
    /// With --trace or --pcap: number of the hop to observe, instead of 1, the first.
    #[arg(long, value_name = "N", requires = "out", value_parser = clap::value_parser!(u32).range(1..))]
    hop: Option<u32>,
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
}

/// The destinations of the results of runs, written as the runs end.
pub(super) struct Output {
    folder: Option<Folder>,
    /// The content of each file with rows for each run, in the order of the queue's tables.
    contents: Vec<RowsOf>,
    queue: Mutex<Queue>,
}

/// Results in the order of the runs, whichever ends first: each is written as soon as all runs before it are over.
struct Queue {
    /// True if standard output gets a line for each run.
    json: bool,
    /// Files with rows for each run.
    tables: Vec<Table>,
    waiting: BTreeMap<usize, Rows>,
    next: usize,
}

/// The rows of one run in a file, for the run of a scheme.
type RowsOf = fn(&str, &Finished) -> String;

struct Rows {
    /// The line of standard output, with the processor time.
    printed: String,
    /// The rows of each file, in the order of the files.
    of_files: Vec<String>,
}

/// The shortest interval: no value changes more often than packets arrive.
const LEAST_INTERVAL: Span = Span::from_millis(1);

impl Output {
    /// Makes the folder and its files for `campaign`, so that a failure shows before anything runs. With `json` each
    /// run is a line on standard output, too.
    pub(super) fn open(args: &Files, campaign: &Campaign, json: bool) -> Result<Output, Failure> {
        let hop = args.watched(campaign)?;
        let folder = args.out.as_ref().map(|path| args.folder(path, hop, campaign)).transpose()?;
        let files = folder.as_ref().map_or(Ok(Vec::new()), |folder| tables(&folder.path, campaign))?;
        let (tables, contents) = files.into_iter().unzip();
        let queue = Mutex::new(Queue { json, tables, waiting: BTreeMap::new(), next: 0 });
        Ok(Output { folder, contents, queue })
    }

    /// Begins to observe the run of `scheme` with `seed`, as far as files are to be written of it.
    pub(super) fn watch(&self, scheme: &str, seed: u64, run: &mut Run) -> Result<Watch, Failure> {
        Watch::new(self.folder.as_ref(), scheme, seed, run)
    }

    /// Takes the run of the variant `scheme` that is the `number`th of the campaign.
    pub(super) fn take(&self, number: usize, scheme: &str, run: &Finished) -> Result<(), Failure> {
        if !self.queue.lock().expect("no thread panics with it").is_wanted() {
            return Ok(());
        }
        let rows = Rows {
            printed: format!("{}\n", object(scheme, run, quantities().map(|(name, _)| name))),
            of_files: self.contents.iter().map(|rows| rows(scheme, run)).collect(),
        };
        let mut queue = self.queue.lock().expect("no thread panics with it");
        queue.waiting.insert(number, rows);
        queue.settle(false)
    }

    /// Writes the results that wait for runs that never ended.
    pub(super) fn finish(&self) -> Result<(), Failure> {
        self.queue.lock().expect("no thread panics with it").settle(true)
    }
}

impl Files {
    /// The hop that --trace and --pcap watch, from 0.
    fn watched(&self, campaign: &Campaign) -> Result<usize, Failure> {
        if self.hop.is_some() && !(self.trace || self.pcap) {
            return Err(Failure::Usage("lab: --hop: needs --trace or --pcap".to_owned()));
        }
        let hop = self.hop.unwrap_or(1) as usize;
        let hops = campaign.experiments()?.iter().map(|experiment| experiment.hops.len()).min().unwrap_or(0);
        match hop <= hops {
            true => Ok(hop - 1),
            false => Err(Failure::Usage(format!("lab: --hop {hop}: the scenario has only {hops}"))),
        }
    }

    fn folder(&self, path: &Path, hop: usize, campaign: &Campaign) -> Result<Folder, Failure> {
        if self.interval.is_some_and(|interval| interval < LEAST_INTERVAL) {
            return Err(Failure::Usage(format!("lab: --interval: must be at least {LEAST_INTERVAL}")));
        }
        fs::create_dir_all(path).map_err(|error| refusal(path, &error))?;
        earlier::remove(path, &self.written(campaign))?;
        let Files { interval, trace, pcap, .. } = *self;
        Ok(Folder { path: path.to_owned(), interval, trace, pcap, hop })
    }
}

/// Creates the files with rows for each run in a folder, each with its content.
fn tables(folder: &Path, campaign: &Campaign) -> Result<Vec<(Table, RowsOf)>, Failure> {
    let names: Vec<&str> = reproducible_quantities().collect();
    let summary = format!("scheme,seed,{}\n", names.join(","));
    let timing = format!("scheme,seed,{CPU}\n");
    let mut files: Vec<(&str, &str, RowsOf)> = vec![
        ("summary.csv", &summary, summary_row),
        ("summary.jsonl", "", |scheme, run| format!("{}\n", object(scheme, run, reproducible_quantities()))),
        ("timing.csv", &timing, |scheme, run| format!("{},{},{}\n", quoted(scheme), run.seed, cell(run.value(CPU)))),
        ("flows.csv", flows::HEADER, flows::rows),
        ("flows.jsonl", "", flows::lines),
    ];
    if campaign.experiments()?.iter().any(|experiment| experiment.hops.iter().any(|hop| hop.cell().is_some())) {
        files.extend([
            ("stations.csv", stations::HEADER, stations::rows as RowsOf),
            ("stations.jsonl", "", stations::lines),
        ]);
    }
    let create = |(name, header, rows)| Ok((Table::create(folder.join(name), header)?, rows));
    files.into_iter().map(create).collect()
}

/// The quantities of a run, as CSV.
fn summary_row(scheme: &str, run: &Finished) -> String {
    let values: Vec<String> = reproducible_quantities().map(|name| cell(run.value(name))).collect();
    format!("{},{},{}\n", quoted(scheme), run.seed, values.join(","))
}

impl Queue {
    fn is_wanted(&self) -> bool {
        self.json || !self.tables.is_empty()
    }

    fn settle(&mut self, all: bool) -> Result<(), Failure> {
        while let Some((number, rows)) = self.waiting.pop_first() {
            if number != self.next && !all {
                self.waiting.insert(number, rows);
                break;
            }
            self.next = number + 1;
            self.print(&rows.printed)?;
            for (table, text) in self.tables.iter_mut().zip(&rows.of_files) {
                table.write(text)?;
                table.flush()?;
            }
        }
        Ok(())
    }

    /// Prints a line. Once the pipe is closed, the runs go on for the files alone, or stop if there are none.
    fn print(&mut self, line: &str) -> Result<(), Failure> {
        if self.json {
            wipe();
            self.json = print_to_reader(line)?;
        }
        if self.is_wanted() { Ok(()) } else { Err(Failure::Unread) }
    }
}

/// The names of all quantities that the seed determines: the same seeds give the same bytes.
fn reproducible_quantities() -> impl Iterator<Item = &'static str> {
    quantities().map(|(name, _)| name).filter(|name| *name != CPU)
}

/// A run as one line of JSON.
fn object(scheme: &str, run: &Finished, names: impl Iterator<Item = &'static str>) -> Value {
    let mut object = Map::new();
    object.insert("scheme".to_owned(), scheme.into());
    object.insert("seed".to_owned(), run.seed.into());
    object.extend(names.map(|name| (name.to_owned(), run.value(name).into())));
    Value::Object(object)
}
