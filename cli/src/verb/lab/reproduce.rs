//! `thalweg lab reproduce`: a paper's evaluation, run again.

mod destination;
mod plans;

use std::path::{Path, PathBuf};
use std::time::Instant;

use thalweg_net::error::plain;
use thalweg_net::signal::Stop;
use thalweg_papers::evaluation::{self, Evaluation};
use thalweg_papers::keep::Keep;
use thalweg_papers::page::Page;
use thalweg_papers::pool::{self, Pool};
use thalweg_papers::results::Results;
use thalweg_papers::{gca, r3cp, tcp_stream};

use self::destination::Destination;
use super::{failed, interrupted};
use crate::Failure;
use crate::progress::Shown;

/// Repeat the evaluation of a paper in the lab: its figures, its tables, and a verdict on each of its claims.
///
/// Writes one self-contained HTML page. After Ctrl-C the page has the runs that were completed, and is named
/// NAME-interrupted.html. With --keep, the same command later continues an interrupted evaluation.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  thalweg lab reproduce geneva --quick
  thalweg lab reproduce geneva --out geneva.html --keep runs \\
    --docs docs/reproduction.md
  thalweg lab reproduce fec-arq --docs docs/reproduction-fec-arq.md
  thalweg lab reproduce tcp-stream --quick
  thalweg lab reproduce r3cp --quick
  thalweg lab reproduce gca
  thalweg lab reproduce tcp-stream --real   # root; 26 min of real time
  thalweg lab reproduce r3cp --real         # root; 10 min of real time
  thalweg lab reproduce gca --real          # root; 21 min of real time")]
pub(super) struct Args {
    /// Paper to reproduce.
    #[arg(value_name = "PAPER")]
    paper: Paper,
    /// Run a short evaluation of a few minutes, with fewer seeds and shorter runs
    #[arg(long)]
    quick: bool,
    /// For tcp-stream: measure Fig. 5, and two videos on one link, with the kernel's own TCP in network namespaces, and
    /// compare them with the lab. Needs root and a build with the feature `kernel`; takes 26 minutes. For r3cp: measure
    /// Figs. 7 and 8, Table 3, and lossy and recorded paths with `serve`, `play` and the kernel's TCP. Needs root, ffmpeg
    /// and the videos; takes 10 minutes. For gca: measure how `share` divides a path among three encoders beside CUBIC.
    /// Needs root and a build with the feature `gstreamer`; takes 21 minutes
    #[arg(long, conflicts_with_all = ["quick", "seconds", "keep"])]
    real: bool,
    /// Number of seeds, by default 5, 20 for tcp-stream, 10 for r3cp and gca. Fig. 2 of geneva, where losses are rare, gets
    /// twice as many. For --real of tcp-stream and gca, the number of runs of each kind
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1000))]
    seeds: Option<u64>,
    /// Length of each run, 25 to 36000 seconds. For geneva, warm-up included, 180 by default as in the paper; runs of
    /// Fig. 2 take two thirds of it. For tcp-stream and r3cp, the playing time of each video, 600 by default as in the
    /// papers. For gca, 100 by default
    #[arg(long, value_name = "SECONDS", conflicts_with = "quick", value_parser = clap::value_parser!(u32).range(25..=36_000))]
    seconds: Option<u32>,
    /// For fec-arq: folder of the recordings that replace the paper's unpublished trace, by default ../shared/data/net.
    /// Without recordings, Table IV and the figures that need them stay empty. For r3cp --real: folder of recorded paths
    #[arg(long, value_name = "DIR")]
    recordings: Option<PathBuf>,
    /// For r3cp --real, and for the pictures of gca, which are left out with --quick: folder of the videos, by default
    /// ../shared/data/video
    #[arg(long, value_name = "DIR")]
    videos: Option<PathBuf>,
    /// Path of the page, by default reproduction-PAPER.html. While the evaluation runs, NAME-provisional.html is in its
    /// place
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Also write the page as Markdown, without the curves; docs/reproduction.md is written in this way
    #[arg(long, value_name = "FILE")]
    docs: Option<PathBuf>,
    /// Folder in which the result of each run is kept, so that the same command can continue an interrupted evaluation.
    /// Results of another build or with other options are not used
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
    /// Number of parallel runs, by default one per processor. Results do not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
}

/// The default folder of recordings.
const BESIDE: &str = "../shared/data/net";
/// The folder of the frames of videos.
const FRAMES_BESIDE: &str = "../shared/data/frames";
/// The default folder of videos.
const VIDEOS: &str = "../shared/data/video";
/// Runs of r3cp --real at the same time.
const REAL_RUNS: usize = 4;

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Paper {
    /// GENEVA: Streaming Control Algorithm Using Generalized Multiplicative-Increase/Additive-Decrease.
    Geneva,
    /// Optimizing FEC Transmission Strategy for Minimizing Delay in Lossless Sequential Streaming.
    FecArq,
    /// Design, Implementation and Evaluation of Congestion Control Mechanism for Video Streaming.
    TcpStream,
    /// Predictive flow control for TCP-friendly end-to-end real-time video on the Internet.
    R3cp,
    /// TCP Compatible Greediness Control Algorithm for Wireless Multimedia Streaming.
    Gca,
}

/// The result of one paper's runs.
struct Report {
    page: Page,
    kept: usize,
    jobs: usize,
    /// Claims that must hold exactly, and do not.
    broken: Vec<&'static str>,
}

impl Args {
    fn paper(&self) -> &'static str {
        match self.paper {
            Paper::Geneva => "geneva",
            Paper::FecArq => "fec-arq",
            Paper::TcpStream => "tcp-stream",
            Paper::R3cp => "r3cp",
            Paper::Gca => "gca",
        }
    }

    fn out(&self) -> PathBuf {
        let real = if self.real { "-real" } else { "" };
        self.out.clone().unwrap_or_else(|| format!("reproduction-{}{real}.html", self.paper()).into())
    }

    /// The provisional page, which holds the place until the runs are over.
    fn notice(&self) -> Page {
        let command = self.command();
        Page {
            title: format!("{command}: not finished"),
            summary:
                "This page is provisional: the evaluation that writes it is still running. If that program was killed, \
                      this page can be removed."
                    .into(),
            ..Page::default()
        }
    }

    /// Refuses options that belong to another paper.
    fn check(&self) -> Result<(), Failure> {
        match self.paper {
            Paper::Geneva | Paper::FecArq if self.real => {
                Err(Failure::Usage("lab reproduce: --real is for tcp-stream, r3cp and gca".to_owned()))
            }
            Paper::R3cp if self.real && self.seeds.is_some() => {
                Err(Failure::Usage("lab reproduce: r3cp --real has one run of each kind, and no --seeds".to_owned()))
            }
            _ if self.videos.is_some() && !self.needs_videos() => {
                Err(Failure::Usage("lab reproduce: --videos is for r3cp --real and gca without --quick".to_owned()))
            }
            Paper::Geneva | Paper::TcpStream | Paper::Gca if self.recordings.is_some() => {
                Err(Failure::Usage("lab reproduce: --recordings is for fec-arq and r3cp --real".to_owned()))
            }
            Paper::R3cp if self.recordings.is_some() && !self.real => {
                Err(Failure::Usage("lab reproduce: --recordings is for fec-arq and r3cp --real".to_owned()))
            }
            Paper::FecArq if self.seconds.is_some() => {
                Err(Failure::Usage("lab reproduce: --seconds is for geneva, tcp-stream, r3cp and gca".to_owned()))
            }
            _ => Ok(()),
        }
    }

    fn report(&self, stop: &Stop) -> Result<Report, Failure> {
        let shown = Shown::default();
        let stopped = || stop.asked();
        let pool = Pool { threads: self.threads(), stopped: &stopped, progress: &|at| shown.show(at) };
        let report = match self.paper {
            Paper::Geneva => self.evaluated(&self.geneva_plan(), pool),
            Paper::FecArq => self.evaluated(&self.fec_arq_plan()?, pool),
            Paper::TcpStream if self.real => {
                let (page, kept, jobs) = tcp_stream::real::report(self.seeds, pool, &self.command()).map_err(failed)?;
                Ok(Report { page, kept, jobs, broken: Vec::new() })
            }
            Paper::R3cp if self.real => {
                let inputs = r3cp::real::Inputs {
                    program: std::env::current_exe().map_err(|error| failed(plain(&error)))?,
                    videos: self.videos(),
                    recordings: self.recordings.clone().unwrap_or_else(|| BESIDE.into()),
                };
                // A run waits most of the time.
                let pool = Pool { threads: self.jobs.map_or(REAL_RUNS, usize::from), ..pool };
                let (page, kept, jobs) = r3cp::real::report(&inputs, pool, &self.command()).map_err(failed)?;
                Ok(Report { page, kept, jobs, broken: Vec::new() })
            }
            Paper::Gca if self.real => {
                let program = std::env::current_exe().map_err(|error| failed(plain(&error)))?;
                let (page, kept, jobs) =
                    gca::real::report(&program, self.seeds, pool, &self.command()).map_err(failed)?;
                Ok(Report { page, kept, jobs, broken: Vec::new() })
            }
            Paper::TcpStream => self.evaluated(&self.tcp_stream_plan(), pool),
            Paper::R3cp => self.r3cp(pool),
            Paper::Gca => self.gca(pool),
        };
        shown.end();
        report
    }

    fn evaluated<E: Evaluation>(&self, plan: &E, pool: Pool<'_>) -> Result<Report, Failure> {
        let (results, jobs) = self.results(plan, None, pool)?;
        Ok(self.report_of(&results, jobs))
    }

    /// The page of results, of which a plan has `jobs`.
    fn report_of<E: Evaluation>(&self, results: &Results<E>, jobs: usize) -> Report {
        let page = evaluation::page(results, &self.command());
        Report { page, kept: results.len(), jobs, broken: E::evidence(results).broken() }
    }

    /// The results of a plan, which are kept in a folder of their own within that of --keep, and the number of its runs.
    fn results<E: Evaluation>(
        &self,
        plan: &E,
        own: Option<&str>,
        pool: Pool<'_>,
    ) -> Result<(Results<E>, usize), Failure> {
        let folder = self.keep.as_ref().map(|folder| folder.join(own.unwrap_or_default()));
        let keep = folder
            .as_deref()
            .map(|folder| Keep::open(folder, plan))
            .transpose()
            .map_err(|error| failed(error.to_string()))?;
        let jobs = plan.jobs();
        let results = evaluation::run(plan, &jobs, keep.as_ref(), pool).map_err(failed)?;
        Ok((results, jobs.len()))
    }

    /// R3CP+'s evaluation with modeled videos, and with the frames of a real one if they are at hand.
    fn r3cp(&self, pool: Pool<'_>) -> Result<Report, Failure> {
        let plan = self.r3cp_plan();
        let mut report = self.evaluated(&plan, pool)?;
        let Ok(text) = std::fs::read_to_string(Path::new(FRAMES_BESIDE).join(r3cp::Trace::STAND_IN)) else {
            return Ok(report);
        };
        let trace = r3cp::Trace { name: r3cp::Trace::STAND_IN.to_owned(), text: text.into() };
        let plan = r3cp::Plan { trace: Some(trace.clone()), ..plan };
        let (results, jobs) = self.results(&plan, Some("trace"), pool)?;
        report.page.sections.extend(r3cp::chapter(&results, &trace));
        Ok(Report { kept: report.kept + results.len(), jobs: report.jobs + jobs, ..report })
    }

    /// GCA's evaluation, and pictures at the rates that arrived, which take longer than all runs.
    fn gca(&self, pool: Pool<'_>) -> Result<Report, Failure> {
        let (results, jobs) = self.results(&self.gca_plan(), None, pool)?;
        let mut report = self.report_of(&results, jobs);
        if self.needs_videos() {
            report.page.sections.push(gca::pictures::section(&results, &self.videos(), pool.stopped));
        }
        Ok(report)
    }

    fn needs_videos(&self) -> bool {
        match self.paper {
            Paper::R3cp => self.real,
            Paper::Gca => !self.quick && !self.real,
            Paper::Geneva | Paper::FecArq | Paper::TcpStream => false,
        }
    }

    fn videos(&self) -> PathBuf {
        self.videos.clone().unwrap_or_else(|| VIDEOS.into())
    }

    fn threads(&self) -> usize {
        self.jobs.map_or_else(pool::processors, usize::from)
    }

    /// The command line, as far as results depend on it.
    fn command(&self) -> String {
        let mut command = format!("thalweg lab reproduce {}", self.paper());
        if self.quick {
            command += " --quick";
        }
        if self.real {
            command += " --real";
        }
        if let Some(seeds) = self.seeds {
            command += &format!(" --seeds {seeds}");
        }
        if let Some(seconds) = self.seconds {
            command += &format!(" --seconds {seconds}");
        }
        if let Some(folder) = &self.recordings {
            command += &format!(" --recordings {}", folder.display());
        }
        command
    }
}

pub(super) fn run(args: Args) -> Result<(), Failure> {
    args.check()?;
    let notice = args.notice();
    let out = Destination::open(&args.out(), &notice.to_html())?;
    let docs = args.docs.as_deref().map(|docs| Destination::open(docs, &notice.to_markdown())).transpose()?;
    let stop = Stop::on_signal().map_err(|error| failed(format!("cannot wait for signals: {error}")))?;
    let began = Instant::now();
    let Report { mut page, kept, jobs, broken } = args.report(&stop)?;
    if kept == 0 {
        return Err(failed(format!("{} before the first run was completed", interrupted(&stop))));
    }
    if kept < jobs {
        let why = format!("{}: {kept} of {jobs} runs were completed, and only these count", interrupted(&stop));
        page.title += ", interrupted";
        page.summary = format!("This evaluation was {why}. {}", page.summary);
        let written = out.write_interrupted(&page.to_html())?;
        docs.map(|docs| docs.write_interrupted(&page.to_markdown())).transpose()?;
        super::print(&closing_message(&page, &written, began))?;
        return Err(failed(why));
    }
    out.write_complete(&page.to_html())?;
    docs.map(|docs| docs.write_complete(&page.to_markdown())).transpose()?;
    super::print(&closing_message(&page, &args.out(), began))?;
    // Arithmetic claims do not depend on any run: they must hold.
    if broken.is_empty() {
        Ok(())
    } else {
        Err(failed(format!("these claims are arithmetic and must hold, but fail: {}", broken.join(", "))))
    }
}

fn closing_message(page: &Page, out: &Path, began: Instant) -> String {
    let seconds = began.elapsed().as_secs();
    format!("{}\nwrote {} after {} min {:02} s\n", page.summary, out.display(), seconds / 60, seconds % 60)
}

fn refusal(file: &Path, error: &std::io::Error) -> Failure {
    failed(format!("cannot write {}: {}", file.display(), plain(error)))
}
