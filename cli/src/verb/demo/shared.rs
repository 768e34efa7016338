//! `thalweg demo --share`: three streams through one emulated Wi-Fi cell, first as greedy as a TCP each, then by need.
//!
//! `share` sends to three `recv` through `emulate`. This process is the source of all streams, which follow the rates that
//! `share` wants from them.

mod page;
mod run;
mod source;

use std::path::Path;

use thalweg_core::time::Span;
use thalweg_net::error::plain;
use thalweg_net::signal::Stop;

use super::progress::Progress;
use super::terminal::{columns, wrapped};
use run::Run;

/// The length of a run in seconds, and the least, of which the first [`SETTLING`] do not count.
pub(super) const SECONDS: u64 = 45;
pub(super) const LEAST_SECONDS: u64 = 20;
/// The time at the start in which the streams settle.
const SETTLING: Span = Span::from_secs(12);

/// The streams: a name, and the bit rate that its screen needs in Mb/s (Table I of GCA's paper).
const STREAMS: [(&str, u64); 3] = [("tv", 9), ("laptop", 6), ("phone", 3)];

/// The ways to share.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Way {
    /// Each stream in a group of its own, and so as greedy as a TCP.
    Tfrc,
    /// All in one group.
    Shared,
}

impl Way {
    const ALL: [Way; 2] = [Way::Tfrc, Way::Shared];

    fn name(self) -> &'static str {
        match self {
            Way::Tfrc => "TFRC",
            Way::Shared => "by need",
        }
    }

    fn file_name(self) -> &'static str {
        match self {
            Way::Tfrc => "share-tfrc.toml",
            Way::Shared => "share.toml",
        }
    }
}

/// Performs both runs, each of `length`, and writes the report into `out`.
pub(super) fn perform(length: Span, out: &Path) -> Result<(), String> {
    std::fs::create_dir_all(out).map_err(|error| format!("cannot create {}: {}", out.display(), plain(&error)))?;
    let stop = Stop::on_signal().map_err(|error| format!("cannot handle signals: {}", plain(&error)))?;
    let needs = STREAMS.map(|(name, mbps)| format!("{name} {mbps}")).join(", ");
    println!("streams  {needs} Mb/s");
    println!("path     share, an emulated Wi-Fi cell, the same for both runs");
    println!("runs     {} of {length}, each share -> emulate -> three recv on loopback\n", Way::ALL.len());
    let mut runs = Vec::new();
    for way in Way::ALL {
        let mut progress = Progress::new(way.name(), length);
        let run = Run::perform(way, length, out, &stop, |played, parts| progress.show_parts(played, parts));
        progress.end();
        runs.push(run?);
    }
    let page = page::page(&runs, length);
    let report = out.join("share.html");
    std::fs::write(&report, page.to_html())
        .map_err(|error| format!("cannot write {}: {}", report.display(), plain(&error)))?;
    let invalid = page::invalid(&runs);
    if let Some(why) = &invalid {
        println!("\n{}", wrapped(why, columns()));
    }
    println!("\n{}", page::table(&runs).narrowed(columns()).to_text());
    println!("{}\n", wrapped(&page.summary, columns()));
    println!("report: {}", report.canonicalize().unwrap_or(report).display());
    if invalid.is_some() { Err("invalid: run again".into()) } else { Ok(()) }
}
