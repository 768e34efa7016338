//! What a campaign leaves: a line of JSON for each run on standard output, and in a folder summaries and flows, each as CSV and
//! as JSON lines, and files for each run.

mod capture;
mod earlier;
mod flows;
mod watch;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use serde_json::{Map, Value};
use thalweg_core::time::Span;
use thalweg_net::error::plain;

use super::campaign::{CPU, Campaign, Finished, quantities};
use super::progress::wipe;
use super::{failed, print_to_reader};
use crate::Failure;

pub(super) use self::watch::Watch;

/// What is to be left.
#[derive(clap::Args, Default)]
pub(super) struct Files {
    /// Write results into this folder: summary.csv and flows.csv, the same as .jsonl, and timing.csv.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// With --out: write what flows and hops show and count every so often, 1ms or more, into intervals-SEED and hops-SEED,
    /// .csv and .jsonl, too.
    #[arg(long, value_name = "TIME", requires = "out")]
    interval: Option<Span>,
    /// With --out: write every packet at one hop into packets-SEED.csv, too.
    #[arg(long, requires = "out")]
    trace: bool,
    /// With --out: write the headers of the packets that leave that hop into packets-SEED.pcap, too.
    #[arg(long, requires = "out")]
    pcap: bool,
    /// With --trace or --pcap: the hop that is watched, instead of the first.
    #[arg(long, value_name = "N", requires = "out", value_parser = clap::value_parser!(u32).range(1..))]
    hop: Option<u32>,
}

impl Files {
    /// The names of the files of single runs that come of `campaign`.
    fn written(&self, campaign: &Campaign) -> BTreeSet<String> {
        let intervals = self.interval.is_some();
        let both = |what| [(what, "csv", intervals), (what, "jsonl", intervals)];
        let all = both("intervals").into_iter().chain(both("hops"));
        let all = all.chain([("packets", "csv", self.trace), ("packets", "pcap", self.pcap)]);
        let asked = all.filter(|(.., asked)| *asked);
        let runs =
            campaign.variants.iter().flat_map(|(scheme, _)| campaign.seeds.iter().map(move |seed| (scheme, *seed)));
        runs.flat_map(|(scheme, seed)| {
            asked.clone().map(move |(what, ending, _)| watch::file(what, scheme, seed, ending))
        })
        .collect()
    }
}

/// Where what comes of runs goes as they end.
pub(super) struct Output {
    folder: Option<Folder>,
    queue: Mutex<Queue>,
}

/// The folder of a campaign.
struct Folder {
    path: PathBuf,
    interval: Option<Span>,
    trace: bool,
    pcap: bool,
    /// The hop that these two watch.
    hop: usize,
}

/// What comes of runs, in the order of the runs, whichever ends first: as soon as all those before it are over.
struct Queue {
    /// Whether standard output gets a line for each.
    json: bool,
    tables: Option<Tables>,
    waiting: BTreeMap<usize, Rows>,
    next: usize,
}

/// Files with rows for each run.
struct Tables {
    summary: Table,
    lines: Table,
    timing: Table,
    flows: Table,
    flow_lines: Table,
}

struct Rows {
    /// Of standard output, with what the run cost.
    told: String,
    summary: String,
    line: String,
    timing: String,
    flows: String,
    flow_lines: String,
}

/// Nothing that is shown changes more often than packets come.
const LEAST_INTERVAL: Span = Span::from_millis(1);

/// A file that is being written.
pub(super) struct Table {
    path: PathBuf,
    writer: BufWriter<File>,
}

impl Table {
    fn create(path: PathBuf, header: impl AsRef<[u8]>) -> Result<Table, Failure> {
        let file = File::create(&path).map_err(|error| refusal(&path, &error))?;
        let mut table = Table { path, writer: BufWriter::with_capacity(1 << 16, file) };
        table.write(header)?;
        table.flush()?;
        Ok(table)
    }

    fn write(&mut self, text: impl AsRef<[u8]>) -> Result<(), Failure> {
        self.writer.write_all(text.as_ref()).map_err(|error| refusal(&self.path, &error))
    }

    fn flush(&mut self) -> Result<(), Failure> {
        self.writer.flush().map_err(|error| refusal(&self.path, &error))
    }
}

fn refusal(path: &Path, error: &io::Error) -> Failure {
    failed(format!("cannot write {}: {}", path.display(), plain(error)))
}

impl Output {
    /// Makes the folder and its files for `campaign`, so that it is known before anything runs if that cannot be. With `json`
    /// each run is a line on standard output, too.
    pub(super) fn open(args: &Files, campaign: &Campaign, json: bool) -> Result<Output, Failure> {
        let hop = args.watched(campaign)?;
        let (folder, tables) = args.out.as_ref().map(|path| args.folder(path, hop, campaign)).transpose()?.unzip();
        Ok(Output { folder, queue: Mutex::new(Queue { json, tables, waiting: BTreeMap::new(), next: 0 }) })
    }

    /// Takes the run of the variant `scheme` that is the `number`th of the campaign.
    pub(super) fn take(&self, number: usize, scheme: &str, run: &Finished) -> Result<(), Failure> {
        if !self.queue.lock().expect("no thread panics with it").is_wanted() {
            return Ok(());
        }
        let values: Vec<String> = lasting().map(|name| cell(run.value(name))).collect();
        let rows = Rows {
            told: format!("{}\n", object(scheme, run, quantities().map(|(name, _)| name))),
            summary: format!("{},{},{}\n", quoted(scheme), run.seed, values.join(",")),
            line: format!("{}\n", object(scheme, run, lasting())),
            timing: format!("{},{},{}\n", quoted(scheme), run.seed, cell(run.value(CPU))),
            flows: flows::rows(scheme, run),
            flow_lines: flows::lines(scheme, run),
        };
        let mut queue = self.queue.lock().expect("no thread panics with it");
        queue.waiting.insert(number, rows);
        queue.settle(false)
    }

    /// Writes what waits for runs that never ended.
    pub(super) fn finish(&self) -> Result<(), Failure> {
        self.queue.lock().expect("no thread panics with it").settle(true)
    }
}

impl Files {
    /// The hop that --trace and --pcap watch, from 0.
    fn watched(&self, campaign: &Campaign) -> Result<usize, Failure> {
        if self.hop.is_some() && !(self.trace || self.pcap) {
            return Err(Failure::Usage("lab: --hop is for --trace and --pcap".to_owned()));
        }
        let hop = self.hop.unwrap_or(1) as usize;
        let hops = campaign.experiments()?.iter().map(|experiment| experiment.hops.len()).min().unwrap_or(0);
        match hop <= hops {
            true => Ok(hop - 1),
            false => Err(Failure::Usage(format!("lab: --hop is {hop}, and the scenario has {hops}"))),
        }
    }

    fn folder(&self, path: &Path, hop: usize, campaign: &Campaign) -> Result<(Folder, Tables), Failure> {
        if self.interval.is_some_and(|interval| interval < LEAST_INTERVAL) {
            return Err(Failure::Usage(format!("lab: --interval is {LEAST_INTERVAL} or more")));
        }
        fs::create_dir_all(path).map_err(|error| refusal(path, &error))?;
        earlier::remove(path, &self.written(campaign))?;
        let names: Vec<&str> = lasting().collect();
        let tables = Tables {
            summary: Table::create(path.join("summary.csv"), format!("scheme,seed,{}\n", names.join(",")))?,
            lines: Table::create(path.join("summary.jsonl"), "")?,
            timing: Table::create(path.join("timing.csv"), format!("scheme,seed,{CPU}\n"))?,
            flows: Table::create(path.join("flows.csv"), flows::HEADER)?,
            flow_lines: Table::create(path.join("flows.jsonl"), "")?,
        };
        let Files { interval, trace, pcap, .. } = *self;
        let folder = Folder { path: path.to_owned(), interval, trace, pcap, hop };
        Ok((folder, tables))
    }
}

impl Queue {
    fn is_wanted(&self) -> bool {
        self.json || self.tables.is_some()
    }

    fn settle(&mut self, all: bool) -> Result<(), Failure> {
        while let Some((number, rows)) = self.waiting.pop_first() {
            if number != self.next && !all {
                self.waiting.insert(number, rows);
                break;
            }
            self.next = number + 1;
            self.print(&rows.told)?;
            if let Some(tables) = &mut self.tables {
                tables.write(&rows)?;
            }
        }
        Ok(())
    }

    /// Where nobody reads the lines any more, the runs go on for the files alone, or not at all.
    fn print(&mut self, line: &str) -> Result<(), Failure> {
        if self.json {
            wipe();
            self.json = print_to_reader(line)?;
        }
        if self.is_wanted() { Ok(()) } else { Err(Failure::Unread) }
    }
}

impl Tables {
    fn write(&mut self, rows: &Rows) -> Result<(), Failure> {
        for (table, text) in [
            (&mut self.summary, &rows.summary),
            (&mut self.lines, &rows.line),
            (&mut self.timing, &rows.timing),
            (&mut self.flows, &rows.flows),
            (&mut self.flow_lines, &rows.flow_lines),
        ] {
            table.write(text)?;
            table.flush()?;
        }
        Ok(())
    }
}

/// The names of all quantities that a seed decides: of the same seeds come the same bytes.
fn lasting() -> impl Iterator<Item = &'static str> {
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

/// A number in CSV; nothing where there is none.
fn cell(value: f64) -> String {
    if value.is_finite() { value.to_string() } else { String::new() }
}

/// Text in CSV (RFC 4180 §2).
fn quoted(text: &str) -> String {
    match text.contains(['"', ',', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}
