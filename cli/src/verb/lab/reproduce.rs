//! `thalweg lab reproduce`: a paper's evaluation, run again.

mod drawing;
mod evidence;
mod fec_arq;
mod geneva;
mod goal;
mod keep;
mod pool;
mod real;
mod tcp_stream;

use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::time::Instant;

use thalweg_lab::paper::fec_arq::Plan as FecArqPlan;
use thalweg_lab::paper::geneva::{Length, Plan};
use thalweg_lab::paper::tcp_stream::Plan as TcpStreamPlan;
use thalweg_net::error::plain;
use thalweg_net::signal::Stop;

use self::evidence::Evidence;
use self::goal::Goal;
use self::keep::Keep;
use self::pool::Pool;
use super::{failed, interrupted};
use crate::Failure;
use crate::report::Page;

/// Run the evaluation of a paper again: its figures, its tables, and what its claims are worth here.
///
/// Leaves one HTML page that needs nothing else. Ctrl-C keeps the runs that are over and reports on them in a page of their own,
/// NAME-interrupted.html; with --keep the same command goes on from there another time.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  thalweg lab reproduce geneva --quick
  thalweg lab reproduce geneva --out geneva.html --keep runs \\
    --docs docs/reproduction.md
  thalweg lab reproduce fec-arq --docs docs/reproduction-fec-arq.md
  thalweg lab reproduce tcp-stream --quick
  thalweg lab reproduce tcp-stream --real   # root; 26 min of real time")]
pub(super) struct Args {
    /// Which paper.
    #[arg(value_name = "PAPER")]
    paper: Paper,
    /// A look at everything within minutes: short runs, few seeds.
    #[arg(long)]
    quick: bool,
    /// For tcp-stream: Fig. 5 with the kernel's own TCP in network namespaces, and two films beside each other, with the lab's
    /// numbers. It needs root and a build with the feature `kernel`, and takes 26 min of real time.
    #[arg(long, conflicts_with_all = ["quick", "seconds", "keep"])]
    real: bool,
    /// How many seeds, 5 and for tcp-stream 20 if not said; geneva's Fig. 2, where losses are rare, gets twice as many.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1000))]
    seeds: Option<u64>,
    /// For geneva: how long each run is, warm-up included; those of Fig. 2 are two thirds of it. The paper and
    /// the default have 180 and 120. For tcp-stream: the playing time of the films, 600 in the paper. From 25 to 36000.
    #[arg(long, value_name = "SECONDS", conflicts_with = "quick", value_parser = clap::value_parser!(u32).range(25..=36_000))]
    seconds: Option<u32>,
    /// For fec-arq: the folder with the recordings that stand in for the paper's unpublished trace. Where none is named and
    /// there is no ../shared/data/net, Table IV and the figures of recordings stay empty; all else is run.
    #[arg(long, value_name = "DIR")]
    recordings: Option<PathBuf>,
    /// Where the page is written; `reproduction-PAPER.html`, if not said. Until then NAME-provisional.html holds its place.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Write the same as Markdown, too, curves aside: `docs/reproduction.md` is written this way.
    #[arg(long, value_name = "FILE")]
    docs: Option<PathBuf>,
    /// A folder for what comes of each run: the same command takes up there what was interrupted. Another build or plan does
    /// not.
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
    /// Runs at a time; all processors, if not said. Results do not depend on it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Paper {
    /// GENEVA: Streaming Control Algorithm Using Generalized Multiplicative-Increase/Additive-Decrease.
    Geneva,
    /// Optimizing FEC Transmission Strategy for Minimizing Delay in Lossless Sequential Streaming.
    FecArq,
    /// Design, Implementation and Evaluation of Congestion Control Mechanism for Video Streaming.
    TcpStream,
}

/// What one paper's run left.
struct Report {
    page: Page,
    kept: usize,
    jobs: usize,
    /// Claims that must hold exactly, and do not.
    broken: Vec<&'static str>,
}

impl Report {
    fn new(page: Page, kept: usize, jobs: usize, evidence: &Evidence) -> Report {
        Report { page, kept, jobs, broken: evidence.broken() }
    }
}

impl Args {
    fn paper(&self) -> &'static str {
        match self.paper {
            Paper::Geneva => "geneva",
            Paper::FecArq => "fec-arq",
            Paper::TcpStream => "tcp-stream",
        }
    }

    fn out(&self) -> PathBuf {
        let real = if self.real { "-real" } else { "" };
        self.out.clone().unwrap_or_else(|| format!("reproduction-{}{real}.html", self.paper()).into())
    }

    /// What holds the page's place while it is being made.
    fn notice(&self) -> Page {
        let command = self.command();
        Page {
            title: format!("{command}: not over yet"),
            summary: "This page is provisional: the runs that it will be about are not over. If they are no longer under way, \
                      they were killed, and it can be removed."
                .into(),
            ..Page::default()
        }
    }

    /// Options that belong to another paper.
    fn check(&self) -> Result<(), Failure> {
        match self.paper {
            Paper::Geneva | Paper::FecArq if self.real => {
                Err(Failure::Usage("lab reproduce: --real is for tcp-stream".to_owned()))
            }
            Paper::Geneva | Paper::TcpStream if self.recordings.is_some() => {
                Err(Failure::Usage("lab reproduce: --recordings is for fec-arq".to_owned()))
            }
            Paper::FecArq if self.seconds.is_some() => {
                Err(Failure::Usage("lab reproduce: --seconds is for geneva and tcp-stream".to_owned()))
            }
            _ => Ok(()),
        }
    }

    fn report(&self, stop: &Stop) -> Result<Report, Failure> {
        let (threads, command) = (self.threads(), self.command());
        match self.paper {
            Paper::Geneva => {
                let plan = self.plan();
                let (jobs, keep) = (plan.jobs(), self.keep(&plan)?);
                let results = geneva::run_jobs(plan, &jobs, Pool { keep: keep.as_ref(), threads, stop })?;
                let page = geneva::of(&results, &command);
                Ok(Report::new(page, results.len(), jobs.len(), &geneva::evidence(&results)))
            }
            Paper::FecArq => {
                let plan = self.fec_arq_plan()?;
                let (jobs, keep) = (plan.jobs(), self.keep(&plan)?);
                let results = fec_arq::run_jobs(&plan, &jobs, Pool { keep: keep.as_ref(), threads, stop })?;
                let page = fec_arq::of(&results, &command);
                Ok(Report::new(page, results.len(), jobs.len(), &fec_arq::evidence(&results)))
            }
            Paper::TcpStream if self.real => {
                let (page, kept, jobs) = real::report(stop, self.seeds, self.threads(), &command)?;
                Ok(Report { page, kept, jobs, broken: Vec::new() })
            }
            Paper::TcpStream => {
                let plan = self.tcp_stream_plan();
                let (jobs, keep) = (plan.jobs(), self.keep(&plan)?);
                let results = tcp_stream::run_jobs(plan, &jobs, Pool { keep: keep.as_ref(), threads, stop })?;
                let page = tcp_stream::of(&results, &command);
                Ok(Report::new(page, results.len(), jobs.len(), &tcp_stream::evidence(&results)))
            }
        }
    }

    fn fec_arq_plan(&self) -> Result<FecArqPlan, Failure> {
        let recordings = fec_arq::recordings(self.recordings.as_deref())?;
        let mut plan = if self.quick { FecArqPlan::quick(recordings) } else { FecArqPlan::paper(recordings) };
        plan.seeds = self.seeds.unwrap_or(plan.seeds);
        Ok(plan)
    }

    fn tcp_stream_plan(&self) -> TcpStreamPlan {
        let mut plan = if self.quick { TcpStreamPlan::quick() } else { TcpStreamPlan::paper() };
        if let Some(seeds) = self.seeds {
            (plan.seeds, plan.fig5_seeds) = (seeds, seeds);
        }
        plan.film_seconds = self.seconds.unwrap_or(plan.film_seconds);
        plan
    }

    fn plan(&self) -> Plan {
        let mut plan = if self.quick { Plan::quick() } else { Plan::paper() };
        if let Some(seeds) = self.seeds {
            (plan.seeds, plan.fig2_seeds) = (seeds, 2 * seeds);
        }
        if let Some(seconds) = self.seconds {
            plan.length = Length::Whole(seconds.into());
            plan.fig2_seconds = f64::from(seconds) * 2.0 / 3.0;
        }
        plan
    }

    fn keep(&self, plan: &impl Debug) -> Result<Option<Keep>, Failure> {
        self.keep.as_deref().map(|folder| Keep::open(folder, plan)).transpose()
    }

    fn threads(&self) -> usize {
        self.jobs.map_or_else(|| std::thread::available_parallelism().map_or(1, std::num::NonZero::get), usize::from)
    }

    /// What was typed, as far as results depend on it.
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
    let out = Goal::open(&args.out(), &notice.to_html())?;
    let docs = args.docs.as_deref().map(|docs| Goal::open(docs, &notice.to_markdown())).transpose()?;
    let stop = Stop::on_signal().map_err(|error| failed(format!("cannot wait for signals: {error}")))?;
    let began = Instant::now();
    let Report { mut page, kept, jobs, broken } = args.report(&stop)?;
    if kept == 0 {
        return Err(failed(format!("{} before the first run was over", interrupted(&stop))));
    }
    if kept < jobs {
        let why = format!("{}: {kept} of {jobs} runs reached their end, and only they count", interrupted(&stop));
        page.title += ", interrupted";
        page.summary = format!("This evaluation was {why}. {}", page.summary);
        let written = out.fall_short(&page.to_html())?;
        docs.map(|docs| docs.fall_short(&page.to_markdown())).transpose()?;
        super::print(&told(&page, &written, began))?;
        return Err(failed(why));
    }
    out.reach(&page.to_html())?;
    docs.map(|docs| docs.reach(&page.to_markdown())).transpose()?;
    super::print(&told(&page, &args.out(), began))?;
    // What holds by arithmetic does not depend on any run: it must hold.
    if broken.is_empty() {
        Ok(())
    } else {
        Err(failed(format!("these must hold exactly, and do not: {}", broken.join(", "))))
    }
}

fn told(page: &Page, out: &Path, began: Instant) -> String {
    let seconds = began.elapsed().as_secs();
    format!("{}\n{} is written; it took {} min {:02} s\n", page.summary, out.display(), seconds / 60, seconds % 60)
}

fn refusal(file: &Path, error: &std::io::Error) -> Failure {
    failed(format!("cannot write {}: {}", file.display(), plain(error)))
}

fn unreadable(file: &Path, error: &std::io::Error) -> Failure {
    failed(format!("cannot read {}: {}", file.display(), plain(error)))
}

#[cfg(test)]
mod tests;
