//! `thalweg demo`: the measured part of ./demo.
//!
//! A video goes through `send`, `emulate` and `recv`, three processes on loopback, once with each repair over the same
//! seeded link. This process is source and sink in one, so that one clock times every datagram at both ends. With
//! `--share`, three streams go through one Wi-Fi cell (`shared.rs`).

mod chain;
mod decoder;
mod ledger;
mod link;
mod page;
mod picture;
mod processes;
mod progress;
mod run;
mod series;
mod shared;
mod terminal;
mod video;
mod words;

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use thalweg_core::time::Span;
use thalweg_net::error::plain;
use thalweg_net::signal::Stop;

use crate::built_in;
use crate::failure::Failure;
use picture::{Comparison, Moment, Picture};
use progress::Progress;
use run::{Run, Setup};
use terminal::{columns, wrapped};
use video::Video;

/// The length of each run in seconds.
const SECONDS: u64 = 20;

/// Compare kinds of repair: one video over one lossy link, once with each.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  ./demo --input video.ts --seconds 30\n  ./demo --share")]
pub(crate) struct Args {
    /// Video, MPEG-TS; it is looped
    #[arg(long, value_name = "FILE", default_value = built_in::CLIP)]
    input: PathBuf,
    /// Link, as for `thalweg emulate`
    #[arg(long, value_name = "FILE", default_value = "demo")]
    scenario: PathBuf,
    /// Share one Wi-Fi cell among three streams in place of that: each as greedy as a TCP, then by what each needs
    #[arg(long, conflicts_with_all = ["input", "scenario", "scheme"])]
    share: bool,
    /// Length of each run, 2 to 3600 seconds, by default 20; with --share at least 20, by default 45
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(2..=3600))]
    seconds: Option<u64>,
    /// Kinds of repair to compare, as for `thalweg send --repair`
    #[arg(long, value_name = "REPAIR,...", value_delimiter = ',', default_value = "none,static:8,geneva,auto",
        value_parser = super::send::repair_form)]
    scheme: Vec<String>,
    /// Folder of the report and of the received videos
    #[arg(long, value_name = "DIR", default_value = "out")]
    out: PathBuf,
}

/// A run and the comparison of its picture, if there is one.
struct Outcome {
    run: Run,
    picture: Option<Picture>,
}

pub(crate) fn run(args: Args) -> Result<(), Failure> {
    if args.share {
        let seconds = args.seconds.unwrap_or(shared::SECONDS);
        if seconds < shared::LEAST_SECONDS {
            return Err(Failure::Usage(format!(
                "demo: --seconds {seconds}: --share needs at least {}",
                shared::LEAST_SECONDS
            )));
        }
        return shared::perform(Span::from_secs(seconds), &args.out)
            .map_err(|why| Failure::Failed(format!("demo: {why}")));
    }
    let mut schemes = args.scheme.iter().enumerate();
    if let Some((_, twice)) = schemes.find(|(nth, scheme)| args.scheme[..*nth].contains(scheme)) {
        return Err(Failure::Usage(format!("demo: --scheme {twice} is given twice")));
    }
    perform(&args).map_err(|why| Failure::Failed(format!("demo: {why}")))
}

fn perform(args: &Args) -> Result<(), String> {
    let video = Video::open(&args.input)?;
    // Errors in the link are reported before anything else.
    built_in::scenario(&args.scenario, None).map_err(|error| error.to_string())?;
    std::fs::create_dir_all(&args.out)
        .map_err(|error| format!("cannot create {}: {}", args.out.display(), plain(&error)))?;
    let stop = Stop::on_signal().map_err(|error| format!("cannot handle signals: {}", plain(&error)))?;
    let setup = Setup {
        video,
        scenario: args.scenario.clone(),
        length: Span::from_secs(args.seconds.unwrap_or(SECONDS)),
        stop,
    };
    println!("video  {}, {:.1} Mb/s, looped", args.input.display(), setup.video.rate.as_mbps_f64());
    println!("link   {}, the same for every run", args.scenario.display());
    println!("runs   {} of {}, each send -> emulate -> recv on loopback\n", args.scheme.len(), setup.length);

    let mut outcomes = Vec::new();
    for repair in &args.scheme {
        let mut progress = Progress::new(&words::name(repair), setup.length);
        let run = Run::perform(&setup, repair, &capture(&args.out, repair), |played, processes| {
            progress.show(played, processes);
        });
        progress.end();
        outcomes.push(Outcome { run: run?, picture: None });
    }
    let moment = compare_frames(&setup, &args.out, &mut outcomes)?;

    let report = args.out.join("demo.html");
    let page = page::page(&setup, &args.input, &outcomes, moment.as_ref());
    std::fs::write(&report, page.to_html())
        .map_err(|error| format!("cannot write {}: {}", report.display(), plain(&error)))?;
    let invalid = page::invalid(&outcomes.iter().map(|outcome| &outcome.run).collect::<Vec<_>>());
    if let Some(why) = &invalid {
        println!("\n{}", wrapped(why, columns()));
    }
    println!("\n{}", page::table(&setup, &outcomes).narrowed(columns()).to_text());
    println!("{}\n", wrapped(&page.summary.replace("; ", ";\n"), columns()));
    for warning in page::warnings(&outcomes) {
        println!("{}\n", wrapped(&warning, columns()));
    }
    println!("report: {}", report.canonicalize().unwrap_or(report).display());
    if invalid.is_some() { Err("invalid: run again".into()) } else { Ok(()) }
}

/// Decodes the received videos, if ffmpeg is installed, and returns the moment at which the runs differ most.
fn compare_frames(setup: &Setup, out: &Path, outcomes: &mut [Outcome]) -> Result<Option<Moment>, String> {
    if !picture::is_possible() {
        println!("ffmpeg is not installed: frames are not compared");
        return Ok(None);
    }
    let original = out.join("original.ts");
    let length = picture::LENGTH.min(setup.length);
    write_start(setup, length, &original)?;
    let progress = Progress::decoding();
    let captures: Vec<PathBuf> = outcomes.iter().map(|outcome| capture(out, &outcome.run.repair)).collect();
    let comparison = Comparison::of(&original, &captures, length);
    progress.end();
    if setup.stop.asked() {
        return Err("stopped".into());
    }
    match comparison {
        Ok(Comparison { pictures, moment }) => {
            outcomes.iter_mut().zip(pictures).for_each(|(outcome, picture)| outcome.picture = Some(picture));
            Ok(moment)
        }
        Err(why) => {
            println!("frames are not compared: {why}");
            Ok(None)
        }
    }
}

/// Writes the video's first `length`, as it was sent, to `path`.
fn write_start(setup: &Setup, length: Span, path: &Path) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("cannot write {}: {}", path.display(), plain(&error));
    let mut file = std::io::BufWriter::new(File::create(path).map_err(failed)?);
    let mut playback = setup.video.playback()?;
    while let Some((due, datagram)) = playback.next()? {
        if due >= length {
            break;
        }
        file.write_all(datagram).map_err(failed)?;
    }
    file.into_inner().map(drop).map_err(|error| failed(error.into_error()))
}

/// The file of the video that a run received.
fn capture(out: &Path, repair: &str) -> PathBuf {
    out.join(format!("{}.ts", repair.replace(|c: char| !c.is_ascii_alphanumeric(), "-")))
}
