//! GCA on sockets: `thalweg share` with encoders that follow their rates, beside a download of the kernel's CUBIC.

mod bars;
mod page;
mod run;

use std::path::{Path, PathBuf};
use std::process;

use thalweg_net::error::plain;

pub use self::run::Record;
use crate::figure::Subject;
use crate::page::{Page, Tone};
use crate::pool::{Pool, Progress};

/// The streams, and their needs in Mb/s.
const STREAMS: [(&str, u32); 3] = [("tv", 9), ("laptop", 6), ("phone", 3)];
/// The length of a run, and the part of it in which the streams settle, in seconds.
const SECONDS: u64 = 120;
const SETTLING: u64 = 20;
/// The number of runs of each kind.
const RUNS: u64 = 5;

/// The ways in which the streams share the path.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Way {
    /// Three streams of TFRC: each is a group of its own, so that GCA is as greedy as a TCP.
    Tfrc,
    /// By need, as `thalweg share` does by default.
    Shared,
}

impl Way {
    /// Both ways.
    pub const ALL: [Way; 2] = [Way::Tfrc, Way::Shared];
}

impl Subject for Way {
    fn name(self) -> &'static str {
        match self {
            Way::Tfrc => "TFRC",
            Way::Shared => "shared by need",
        }
    }

    fn tone(self) -> Tone {
        Tone(if self == Way::Tfrc { 1 } else { 2 })
    }
}

/// The runs that have ended, in their order.
type Results = Vec<(Way, Record)>;

/// A folder for the files of a run, which is removed on drop.
#[derive(Debug)]
struct Folder(PathBuf);

impl Folder {
    fn make() -> Result<Folder, String> {
        let folder = std::env::temp_dir().join(format!("thalweg-gca-{}", process::id()));
        std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {}", folder.display(), plain(&error)))?;
        Ok(Folder(folder))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A folder that is left over is in the folder of temporary files.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Performs all runs in real time, one after the other; `program` is `thalweg` with GStreamer. Returns the page, the number
/// of runs that reached their end, and the number of all.
///
/// # Errors
/// The machine lacks a requirement, or refuses a setting.
pub fn report(
    program: &Path,
    runs: Option<u64>,
    pool: Pool<'_>,
    command: &str,
) -> Result<(Page, usize, usize), String> {
    let jobs: Vec<Way> = (0..runs.unwrap_or(RUNS)).flat_map(|_| Way::ALL).collect();
    let results = run_all(&jobs, SECONDS, program, pool)?;
    Ok((page::of(&results, command), results.len(), jobs.len()))
}

/// Performs runs of `seconds`, one after the other. Returns their records in the same order.
///
/// # Errors
/// As of [`report`].
pub fn watch(ways: &[Way], seconds: u64, program: &Path) -> Result<Vec<Record>, String> {
    let pool = Pool::of(1);
    let results = run_all(ways, seconds, program, pool)?;
    Ok(results.into_iter().map(|(_, record)| record).collect())
}

fn run_all(jobs: &[Way], seconds: u64, program: &Path, pool: Pool<'_>) -> Result<Results, String> {
    if let Some(missing) = thalweg_testbed::missing() {
        return Err(format!("--real: {missing}"));
    }
    let folder = Folder::make()?;
    let length = jobs.len() as u64 * seconds;
    let mut results = Results::new();
    for way in jobs {
        let finished = results.len();
        let watch = |passed| {
            let done = finished as u64 * seconds + passed;
            (pool.progress)(Progress { jobs: jobs.len(), finished, length, done });
            (pool.stopped)()
        };
        let record = run::one(*way, program, &folder.0, seconds, watch).map_err(|error| error.to_string())?;
        let Some(record) = record else { break };
        results.push((*way, record));
    }
    Ok(results)
}
