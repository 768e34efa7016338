//! `thalweg demo`: the measured part of ./demo.
//!
//! A video goes through `send`, `emulate` and `recv`, three processes on loopback, once with each repair over the same
//! seeded link. This process is source and sink in one, so that one clock sees every datagram go in and come out.

mod cast;
mod decoder;
mod film;
mod ledger;
mod link;
mod page;
mod picture;
mod progress;
mod series;
mod take;
mod terminal;
mod words;

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use thalweg_core::time::Span;
use thalweg_net::error::plain;
use thalweg_net::signal::Stop;

use crate::{Failure, built_in};
use film::Film;
use picture::{Comparison, Moment, Picture};
use progress::Progress;
use take::{Stage, Take};
use terminal::{columns, wrapped};

/// Show what repair does: one video over one lossy link, once with each repair.
#[derive(clap::Args)]
#[command(after_help = "Example:\n  ./demo --input film.ts --seconds 30")]
pub(crate) struct Args {
    /// The film, MPEG-TS; it is played in a loop
    #[arg(long, value_name = "FILE", default_value = built_in::CLIP)]
    input: PathBuf,
    /// The link, as `thalweg emulate` takes it
    #[arg(long, value_name = "FILE", default_value = "demo")]
    scenario: PathBuf,
    /// How long each run takes
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u64).range(2..=3600))]
    seconds: u64,
    /// The repairs to compare, as `thalweg send --repair` takes them
    #[arg(long, value_name = "REPAIR,...", value_delimiter = ',', default_value = "none,static:8,geneva",
        value_parser = super::send::repair)]
    scheme: Vec<String>,
    /// Where the report and what arrived are written
    #[arg(long, value_name = "DIR", default_value = "out")]
    out: PathBuf,
}

/// A run and what could be seen of it.
struct Showing {
    take: Take,
    picture: Option<Picture>,
}

pub(crate) fn run(args: Args) -> Result<(), Failure> {
    let mut schemes = args.scheme.iter().enumerate();
    if let Some((_, twice)) = schemes.find(|(nth, scheme)| args.scheme[..*nth].contains(scheme)) {
        return Err(Failure::Usage(format!("demo: --scheme {twice} is given twice")));
    }
    perform(&args).map_err(|why| Failure::Failed(format!("demo: {why}")))
}

fn perform(args: &Args) -> Result<(), String> {
    let film = Film::open(&args.input)?;
    // What is wrong with the link is said before anything else.
    built_in::scenario(&args.scenario, None).map_err(|error| error.to_string())?;
    std::fs::create_dir_all(&args.out)
        .map_err(|error| format!("cannot make {}: {}", args.out.display(), plain(&error)))?;
    let stop = Stop::on_signal().map_err(|error| format!("cannot wait for signals: {}", plain(&error)))?;
    let stage = Stage { film, scenario: args.scenario.clone(), length: Span::from_secs(args.seconds), stop };
    println!("video  {}, {:.1} Mb/s, looped", args.input.display(), stage.film.rate.as_mbps_f64());
    println!("link   {}, the same for every run", args.scenario.display());
    println!("runs   {} of {}, each send -> emulate -> recv on loopback\n", args.scheme.len(), stage.length);

    let mut showings = Vec::new();
    for repair in &args.scheme {
        let mut progress = Progress::new(&words::name(repair), stage.length);
        let take = Take::shoot(&stage, repair, &capture(&args.out, repair), |played, cast| progress.show(played, cast));
        progress.end();
        showings.push(Showing { take: take?, picture: None });
    }
    let moment = look(&stage, &args.out, &mut showings)?;

    let report = args.out.join("demo.html");
    let page = page::page(&stage, &args.input, &showings, moment.as_ref());
    std::fs::write(&report, page.to_html())
        .map_err(|error| format!("cannot write {}: {}", report.display(), plain(&error)))?;
    let invalid = page::invalid(&showings.iter().map(|showing| &showing.take).collect::<Vec<_>>());
    if let Some(why) = &invalid {
        println!("\n{}", wrapped(why, columns()));
    }
    println!("\n{}", page::table(&stage, &showings).narrowed(columns()).to_text());
    println!("{}\n", wrapped(&page.summary.replace("; ", ";\n"), columns()));
    for warning in page::warnings(&showings) {
        println!("{}\n", wrapped(&warning, columns()));
    }
    println!("report: {}", report.canonicalize().unwrap_or(report).display());
    if invalid.is_some() { Err("invalid: run again".into()) } else { Ok(()) }
}

/// Decodes what arrived, where ffmpeg is there, and gives the moment at which the runs differ most.
fn look(stage: &Stage, out: &Path, showings: &mut [Showing]) -> Result<Option<Moment>, String> {
    if !picture::is_possible() {
        println!("ffmpeg is not installed: frames are not decoded");
        return Ok(None);
    }
    let original = out.join("original.ts");
    let length = picture::LENGTH.min(stage.length);
    write_start(stage, length, &original)?;
    let progress = Progress::decoding();
    let captures: Vec<PathBuf> = showings.iter().map(|showing| capture(out, &showing.take.repair)).collect();
    let comparison = Comparison::of(&original, &captures, length);
    progress.end();
    if stage.stop.asked() {
        return Err("stopped".into());
    }
    match comparison {
        Ok(Comparison { pictures, moment }) => {
            showings.iter_mut().zip(pictures).for_each(|(showing, picture)| showing.picture = Some(picture));
            Ok(moment)
        }
        Err(why) => {
            println!("frames are not compared: {why}");
            Ok(None)
        }
    }
}

/// Writes the video's first `length`, as it was sent, to `path`.
fn write_start(stage: &Stage, length: Span, path: &Path) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("cannot write {}: {}", path.display(), plain(&error));
    let mut file = std::io::BufWriter::new(File::create(path).map_err(failed)?);
    let mut reel = stage.film.reel()?;
    while let Some((due, datagram)) = reel.next()? {
        if due >= length {
            break;
        }
        file.write_all(datagram).map_err(failed)?;
    }
    file.into_inner().map(drop).map_err(|error| failed(error.into_error()))
}

/// Where what arrived is kept.
fn capture(out: &Path, repair: &str) -> PathBuf {
    out.join(format!("{}.ts", repair.replace(|c: char| !c.is_ascii_alphanumeric(), "-")))
}
