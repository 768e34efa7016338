//! The options of `lab run` and `lab compare` that name the files of their results.

use std::path::PathBuf;

use thalweg_core::time::Span;
use thalweg_net::terminal::escaped;
use thalweg_workbench::Error;
use thalweg_workbench::campaign::Campaign;
use thalweg_workbench::output::{self, Lines, Output};

use super::{print_to_reader, refused};
use crate::failure::Failure;
use crate::progress::wipe;

/// The files to be written.
#[derive(clap::Args)]
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
    /// Makes the folder and its files. With `json` each run is a line on standard output, too.
    pub(super) fn open(&self, campaign: &Campaign, json: bool) -> Result<Output<'static>, Failure> {
        if self.hop.is_some() && !(self.trace || self.pcap) {
            return Err(Failure::Usage("lab: --hop: needs --trace or --pcap".to_owned()));
        }
        let hop = self.hop.unwrap_or(1) as usize - 1;
        let Files { interval, trace, pcap, .. } = *self;
        let files = self.out.clone().map(|folder| output::Files { folder, interval, trace, pcap, hop });
        let output = Output::open(files, campaign, json.then(lines)).map_err(|error| match error {
            Error::Parameter(why) => Failure::Usage(format!("lab: --{why}")),
            error => refused(error),
        })?;
        if let (1.., Some(folder)) = (output.removed(), &self.out) {
            let files = if output.removed() == 1 { "file" } else { "files" };
            eprintln!(
                "thalweg: lab: removed {} {files} of single runs of an earlier command from {}",
                output.removed(),
                escaped(&folder.display().to_string())
            );
        }
        Ok(output)
    }
}

/// Prints lines on standard output, above the progress.
fn lines() -> Lines<'static> {
    Box::new(|line| {
        wipe();
        print_to_reader(line)
    })
}
