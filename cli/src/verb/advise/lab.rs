//! `thalweg advise lab`.

use std::path::PathBuf;

use thalweg_core::time::Span;
use thalweg_net::error::Error;
use thalweg_net::signal::Stop;
use thalweg_workbench::advise::Setting;

use super::failed;
use super::page::{Advice, Page, Subject};
use super::wanted::{Wanted, duration};
use crate::built_in;
use crate::failure::Failure;

/// Find the settings of `send` and `recv` for a path file: one that `connect --path` has written, or any of
/// `thalweg emulate`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  thalweg advise lab line.toml --media 8mbit --latency 400ms
  thalweg advise lab gilbert --media 8mbit --time 60s --seed 2")]
pub(super) struct Args {
    /// Path file, or one of the built-in scenarios of `thalweg emulate`
    #[arg(value_name = "PATH.toml")]
    path: PathBuf,
    #[command(flatten)]
    wanted: Wanted,
    /// Simulated time of each trial, 5s to 10min
    #[arg(long, value_name = "TIME", default_value = "20s", value_parser = duration)]
    time: Span,
    /// Seed of all random decisions, instead of the file's
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Print JSON: one object for the path, one for each setting, and one for the advice
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: Args) -> Result<(), Failure> {
    let media = args.wanted.media()?;
    let scenario = built_in::scenario(&args.path, args.seed);
    let scenario = scenario.map_err(|why| failed(format!("{why}{}", built_in::hint(&args.path))))?;
    if scenario.cell.is_some() {
        return Err(failed(format!("{} has a Wi-Fi cell, for which there is no advice", args.path.display())));
    }
    let setting = Setting::of(scenario, args.time, media);
    let stop = Stop::on_signal().map_err(Error::io("handling signals"))?;
    let tried = args.wanted.try_all(&setting, &stop)?;
    let commands = args.wanted.commands([":6000", "HOST:6000"], "--key-file k", &tried.chosen().0);
    let subject = Subject::file(&args.path, &setting);
    Page { is_json: args.json }.print(&Advice { subject, loss: args.wanted.loss, tried: &tried, commands })
}
