//! What a campaign leaves in a folder: summaries and flows, each as CSV and as JSON lines, and files for each run.

mod capture;
mod flows;
mod watch;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use serde_json::{Map, Value};
use thalweg_core::time::Span;
use thalweg_net::error::plain;

use super::campaign::{Finished, quantities};
use super::failed;
use crate::Failure;

pub(super) use self::watch::Watch;

/// What is to be left.
#[derive(clap::Args, Default)]
pub(super) struct Files {
    /// Write results into this folder: summary.csv and flows.csv, and the same as .jsonl.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// With --out: write what the ends of every flow show every so often, 1ms or more, into intervals-SEED.csv and .jsonl,
    /// too.
    #[arg(long, value_name = "TIME", requires = "out")]
    interval: Option<Span>,
    /// With --out: write every packet at the first hop into packets-SEED.csv, too.
    #[arg(long, requires = "out")]
    trace: bool,
    /// With --out: write the headers of the packets that leave the first hop into packets-SEED.pcap, too.
    #[arg(long, requires = "out")]
    pcap: bool,
}

/// The folder of a campaign, or none.
pub(super) struct Output {
    folder: Option<Folder>,
}

struct Folder {
    path: PathBuf,
    interval: Option<Span>,
    trace: bool,
    pcap: bool,
    tables: Mutex<Tables>,
}

/// Files with rows for each run, in the order of the runs, whichever ends first.
struct Tables {
    summary: Table,
    lines: Table,
    flows: Table,
    flow_lines: Table,
    waiting: BTreeMap<usize, Rows>,
    next: usize,
}

struct Rows {
    summary: String,
    line: String,
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
    /// Makes the folder and its files, so that it is known before anything runs if that cannot be.
    pub(super) fn open(args: &Files) -> Result<Output, Failure> {
        let Some(path) = args.out.clone() else { return Ok(Output { folder: None }) };
        if args.interval.is_some_and(|interval| interval < LEAST_INTERVAL) {
            return Err(Failure::Usage(format!("lab: --interval is {LEAST_INTERVAL} or more")));
        }
        fs::create_dir_all(&path).map_err(|error| refusal(&path, &error))?;
        let names: Vec<&str> = quantities().map(|(name, _)| name).collect();
        let tables = Tables {
            summary: Table::create(path.join("summary.csv"), format!("scheme,seed,{}\n", names.join(",")))?,
            lines: Table::create(path.join("summary.jsonl"), "")?,
            flows: Table::create(path.join("flows.csv"), flows::HEADER)?,
            flow_lines: Table::create(path.join("flows.jsonl"), "")?,
            waiting: BTreeMap::new(),
            next: 0,
        };
        Ok(Output {
            folder: Some(Folder {
                path,
                interval: args.interval,
                trace: args.trace,
                pcap: args.pcap,
                tables: Mutex::new(tables),
            }),
        })
    }

    /// Takes the run of the variant `scheme` that is the `number`th of the campaign.
    pub(super) fn take(&self, number: usize, scheme: &str, run: &Finished) -> Result<(), Failure> {
        let Some(folder) = &self.folder else { return Ok(()) };
        let values: Vec<String> = quantities().map(|(name, _)| cell(run.value(name))).collect();
        let rows = Rows {
            summary: format!("{},{},{}\n", quoted(scheme), run.seed, values.join(",")),
            line: format!("{}\n", object(scheme, run)),
            flows: flows::rows(scheme, run),
            flow_lines: flows::lines(scheme, run),
        };
        let mut tables = folder.tables.lock().expect("no thread panics with it");
        tables.waiting.insert(number, rows);
        tables.settle(false)
    }

    /// Writes what waits for runs that never ended.
    pub(super) fn finish(&self) -> Result<(), Failure> {
        let Some(folder) = &self.folder else { return Ok(()) };
        folder.tables.lock().expect("no thread panics with it").settle(true)
    }
}

impl Tables {
    fn settle(&mut self, all: bool) -> Result<(), Failure> {
        while let Some((number, rows)) = self.waiting.pop_first() {
            if number != self.next && !all {
                self.waiting.insert(number, rows);
                break;
            }
            self.next = number + 1;
            self.summary.write(&rows.summary)?;
            self.lines.write(&rows.line)?;
            self.flows.write(&rows.flows)?;
            self.flow_lines.write(&rows.flow_lines)?;
        }
        [&mut self.summary, &mut self.lines, &mut self.flows, &mut self.flow_lines]
            .into_iter()
            .try_for_each(Table::flush)
    }
}

/// A run as one line of JSON.
pub(super) fn object(scheme: &str, run: &Finished) -> Value {
    let mut object = Map::new();
    object.insert("scheme".to_owned(), scheme.into());
    object.insert("seed".to_owned(), run.seed.into());
    object.extend(quantities().map(|(name, _)| (name.to_owned(), run.value(name).into())));
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
