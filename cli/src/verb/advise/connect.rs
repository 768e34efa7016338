//! `thalweg advise connect`.

use std::fs::{self, File};
use std::path::PathBuf;

use thalweg_core::time::Span;
use thalweg_core::units::{Bytes, Rate};
use thalweg_net::endpoint::Load;
use thalweg_net::error::Error;
use thalweg_net::media_url::Host;
use thalweg_net::report::Report;
use thalweg_net::signal::Stop;
use thalweg_workbench::FileError;
use thalweg_workbench::advise::{Candidate, Goal, Measured, Media, Outcome, Setting, choose};
use thalweg_workbench::pool::{self, Pool};

use super::failed;
use super::page::{Advice, Page};
use super::session::Peer;
use crate::encryption::read;
use crate::failure::Failure;
use crate::progress::Shown;
use crate::stream::{Reporting, Start, time};

/// The bytes of a datagram of the measurement: seven packets of MPEG-TS.
const PAYLOAD: Bytes = Bytes(7 * 188);

/// The most that is sent, as a multiple of the media in halves.
const HALVES: u64 = 3;

/// Measure the path to `thalweg advise serve`, and find the settings of `send` and `recv` for it.
///
/// The packets of a measurement are as many as those of the media, and never more than 1.5 times the media, or --max-rate. They end
/// like a stream if the path cannot carry them.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  thalweg advise connect example.org:6000 --key-file k --media 8mbit
  thalweg advise connect example.org:6000 --key-file k --media 8mbit \\
    --latency 200ms --loss 1e-4 --path line.toml --verify
  thalweg emulate --listen 127.0.0.1:7000 --to 127.0.0.1:6000 --path line.toml")]
pub(super) struct Args {
    /// UDP address of `thalweg advise serve`
    #[arg(value_name = "HOST:PORT")]
    server: Host,
    /// Key file, as `thalweg keygen FILE` writes it: the same for both ends, or with --static one for each
    #[arg(long, value_name = "FILE")]
    key_file: PathBuf,
    /// Rate of the media, as in 8mbit
    #[arg(long, value_name = "RATE")]
    media: Rate,
    /// Longest latency from input to output, 5ms to 10s. Default: the one that --latency auto of `send` finds
    #[arg(long, value_name = "TIME", value_parser = time)]
    latency: Option<Span>,
    /// Share of packets that may be lost after repair
    #[arg(long, value_name = "SHARE", default_value_t = 1e-4, value_parser = share)]
    loss: f64,
    /// Time of the measurement, 5s to 10min; a longer one finds rarer losses
    #[arg(long, value_name = "TIME", default_value = "20s", value_parser = duration)]
    time: Span,
    /// Limit of everything that is sent; the commands have it, too. Default: 1.5 times the media
    #[arg(long, value_name = "RATE")]
    max_rate: Option<Rate>,
    /// Write the path that was measured: a file for `thalweg emulate` and for a hop of `thalweg lab`, and its recording
    /// beside it, as CSV
    #[arg(long, value_name = "FILE.toml", value_parser = path)]
    path: Option<PathBuf>,
    /// Send for as long again with the settings that are recommended, and compare
    #[arg(long)]
    verify: bool,
    #[command(flatten)]
    reporting: Reporting,
}

fn share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "must be between 0 and 1, as in 1e-4".to_owned())
}

fn duration(text: &str) -> Result<Span, String> {
    let span: Span = text.parse().map_err(|error| format!("{error}"))?;
    let allowed = (Span::from_secs(5)..=Span::from_secs(600)).contains(&span);
    allowed.then_some(span).ok_or_else(|| "must be between 5s and 10min".to_owned())
}

fn path(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    let is_toml = path.extension().is_some_and(|extension| extension == "toml");
    is_toml.then_some(path).ok_or_else(|| "must end with .toml".to_owned())
}

impl Args {
    /// The media, within the limit of the rate.
    fn media(&self) -> Result<Media, Failure> {
        if self.media.as_bps() == 0 {
            return Err(Failure::Usage("advise: --media: must be above zero".to_owned()));
        }
        let most = Rate::from_bps(self.media.as_bps().saturating_mul(HALVES) / 2);
        let most = self.max_rate.map_or(most, |limit| limit.min(most));
        let media = Media { rate: self.media, payload: PAYLOAD, most };
        let needs = media.on_the_wire();
        if needs > most {
            let why = format!("--media {} needs {needs} with its headers, more than --max-rate {most}", self.media);
            return Err(failed(why));
        }
        Ok(media)
    }

    /// The files of the path: TOML and CSV, created now so that a measurement is not made in vain.
    fn files(&self) -> Result<Option<(PathBuf, PathBuf)>, Failure> {
        let Some(toml) = &self.path else { return Ok(None) };
        let csv = toml.with_extension("csv");
        for file in [toml, &csv] {
            File::options()
                .append(true)
                .create(true)
                .open(file)
                .map_err(|why| failed(FileError::writing(file)(why)))?;
        }
        Ok(Some((toml.clone(), csv)))
    }

    /// The options that both commands have.
    fn shared(&self) -> String {
        format!("--key-file {}", self.key_file.display())
    }

    /// The commands of the settings that are recommended: `recv` and `send`.
    fn commands(&self, candidate: &Candidate) -> [String; 2] {
        let (shared, port) = (self.shared(), self.server.port);
        let limit = self.max_rate.map_or_else(String::new, |limit| format!(" --max-rate {limit}"));
        [
            format!("thalweg recv --listen :{port} {shared} {} --output file:out.ts", candidate.recv_options()),
            format!(
                "thalweg send --to {} {shared} {}{limit} --input udp://127.0.0.1:5000",
                self.server,
                candidate.send_options()
            ),
        ]
    }

    fn opening(&self) -> Report {
        let text = format!("measuring the path to {} with {} for {}", self.server, self.media, self.time);
        Report::new("measuring", text).with("to", &self.server).with_number("seconds", self.time.as_secs_f64())
    }

    /// Tries all candidates in the lab, on all processors.
    fn try_all(&self, path: &Measured, media: Media, stop: &Stop) -> Result<Vec<(Candidate, Outcome)>, Failure> {
        let candidates = Candidate::all(path.round_trip(), self.latency);
        let setting = Setting { path, media, seed: 1 };
        let shown = Shown::default();
        let pool =
            Pool { threads: pool::processors(), stopped: &|| stop.asked(), progress: &|progress| shown.show(progress) };
        let length = Setting::LENGTH * candidates.len() as u64;
        let outcomes = pool::run(&candidates, length, pool, |_, candidate| setting.trial(candidate));
        shown.end();
        let outcomes = outcomes.map_err(failed)?;
        if outcomes.len() < candidates.len() {
            return Err(failed("stopped before all settings were tried"));
        }
        Ok(candidates.into_iter().zip(outcomes.into_iter().map(|(_, outcome)| outcome)).collect())
    }

    /// Writes the path file and its recording.
    fn write(&self, path: &Measured, (toml, csv): &(PathBuf, PathBuf)) -> Result<(), Failure> {
        let about = format!(
            "The path to {}, measured by `thalweg advise connect` with {} for {}: {} packets, {} lost, a round trip of {}.",
            self.server,
            self.media,
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
    let media = args.media()?;
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
    let candidates = args.try_all(&path, media, &start.stop)?;
    let choice = choose(&candidates, Goal { loss: args.loss });
    let (chosen, predicted) = &candidates[choice.nth];
    let page = Page { is_json: args.reporting.is_json() };
    page.print(&Advice {
        path: &path,
        loss: args.loss,
        candidates: &candidates,
        choice,
        commands: args.commands(chosen),
    })?;
    if args.verify {
        let text = format!("verifying {chosen} with a latency of {} for {}", chosen.latency, args.time);
        let measurement = peer.measure(load, Some(chosen), Report::new("verifying", text))?;
        page.print_verified(predicted, &measurement.figures)?;
    }
    Ok(())
}
