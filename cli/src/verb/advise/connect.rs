//! `thalweg advise connect`.

use std::fs::{self, File};
use std::path::PathBuf;

use thalweg_core::time::Span;
use thalweg_net::endpoint::Load;
use thalweg_net::error::Error;
use thalweg_net::media_url::Host;
use thalweg_net::report::Report;
use thalweg_workbench::FileError;
use thalweg_workbench::advise::{Measured, Setting};

use super::failed;
use super::page::{Advice, Page, Subject};
use super::session::Peer;
use super::wanted::{Wanted, duration};
use crate::encryption::read;
use crate::failure::Failure;
use crate::stream::{Reporting, Start};

/// Measure the path to `thalweg advise serve`, and find the settings of `send` and `recv` for it.
///
/// Run it where `send` will run, and `serve` where `recv` will run: losses are those of this direction. A measurement is a
/// stream of packets of 1316 bytes at the rate of the media, which loads the line. It never sends more than 1.5 times the media,
/// nor more than --max-rate, and ends like a stream if the path cannot carry it.
#[derive(clap::Args)]
#[command(mut_arg("json", |arg| arg.help("Print the advice as JSON lines on standard output, and figures and events on \
standard error")))]
#[command(after_help = "Examples:
  thalweg advise connect example.org:6000 --key-file k --media 8mbit
  thalweg advise connect example.org:6000 --key-file k --media 8mbit \\
    --latency 200ms --loss 1e-4 --path line.toml --verify
  thalweg emulate line.toml --listen 127.0.0.1:7000 --to 127.0.0.1:6000")]
pub(super) struct Args {
    /// UDP address of `thalweg advise serve`
    #[arg(value_name = "HOST:PORT")]
    server: Host,
    /// Key file, as `thalweg keygen FILE` writes it: the same for both ends, or with --static one for each
    #[arg(long, value_name = "FILE")]
    key_file: PathBuf,
    #[command(flatten)]
    wanted: Wanted,
    /// Time of the measurement, 5s to 10min; a longer one finds rarer losses
    #[arg(long, value_name = "TIME", default_value = "20s", value_parser = duration)]
    time: Span,
    /// Write the path that was measured: a file for `thalweg emulate`, `advise lab` and a hop of `thalweg lab`, and its
    /// recording beside it, as CSV
    #[arg(long, value_name = "FILE.toml", value_parser = path)]
    path: Option<PathBuf>,
    /// Send for as long again with the settings that are recommended, and compare
    #[arg(long)]
    verify: bool,
    #[command(flatten)]
    reporting: Reporting,
}

fn path(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    let is_toml = path.extension().is_some_and(|extension| extension == "toml");
    is_toml.then_some(path).ok_or_else(|| "must end with .toml".to_owned())
}

impl Args {
    /// The files of the path: TOML and CSV, opened now so that a measurement is not made in vain.
    fn files(&self) -> Result<Option<(PathBuf, PathBuf)>, Failure> {
        let Some(toml) = &self.path else { return Ok(None) };
        let csv = toml.with_extension("csv");
        for file in [toml, &csv] {
            let is_new = !file.exists();
            let opened = File::options().append(true).create(true).open(file);
            opened.map_err(|why| failed(FileError::writing(file)(why)))?;
            if is_new {
                // A measurement that fails leaves no empty file.
                let _ = fs::remove_file(file);
            }
        }
        Ok(Some((toml.clone(), csv)))
    }

    fn opening(&self) -> Report {
        let text = format!("measuring the path to {} with {} for {}", self.server, self.wanted.media, self.time);
        Report::new("measuring", text).with("to", &self.server).with_number("seconds", self.time.as_secs_f64())
    }

    /// Writes the path file and its recording.
    fn write(&self, path: &Measured, (toml, csv): &(PathBuf, PathBuf)) -> Result<(), Failure> {
        let about = format!(
            "The path to {}, measured by `thalweg advise connect` with {} for {}: {} packets, {} lost, a round trip of {}.",
            self.server,
            self.wanted.media,
            self.time,
            path.packets(),
            path.lost(),
            path.round_trip()
        );
        let name = csv.file_name().unwrap_or_default().to_string_lossy();
        for (file, text) in [(csv, path.csv()), (toml, path.toml(&name, &about))] {
            fs::write(file, text).map_err(|why| failed(FileError::writing(file)(why)))?;
        }
        Ok(())
    }
}

pub(super) fn run(args: Args) -> Result<(), Failure> {
    let media = args.wanted.media()?;
    let key = read(&args.key_file)?;
    let tried = format!("measuring the path to {}", args.server);
    let to = args.server.resolve().map_err(Error::io(tried))?;
    let files = args.files()?;
    let start = Start::now()?;
    let peer = Peer { to, key: &key, start: &start, reporting: &args.reporting, most: media.most };
    let load = Load { rate: media.rate, payload: media.payload, time: args.time };
    let measurement = peer.measure(load, None, args.opening())?;
    let path = Measured::of(&measurement.recording).map_err(failed)?;
    files.map_or(Ok(()), |files| args.write(&path, &files))?;
    let tried = args.wanted.try_all(&Setting::measured(&path, media).map_err(failed)?, &start.stop)?;
    let (chosen, predicted) = tried.chosen();
    // As in its help, `:PORT` is IPv4 alone.
    let listen = format!("{}:{}", if to.is_ipv6() { "[::]" } else { "" }, args.server.port);
    let key_option = format!("--key-file {}", args.key_file.display());
    let commands = args.wanted.commands([&listen, &args.server.to_string()], &key_option, chosen);
    let page = Page { is_json: args.reporting.is_json() };
    page.print(&Advice { subject: Subject::measured(&path), loss: args.wanted.loss, tried: &tried, commands })?;
    if args.verify {
        let text = format!("verifying {chosen} with a latency of {} for {}", chosen.latency, args.time);
        let measurement = peer.measure(load, Some(chosen), Report::new("verifying", text))?;
        page.print_verified(predicted, &measurement.figures)?;
    }
    Ok(())
}
