//! `thalweg lab reproduce`: a paper's evaluation, run again.

mod drawing;
mod evidence;
mod page;
mod pool;

use std::path::{Path, PathBuf};
use std::time::Instant;

use thalweg_core::law::redundancy::geneva::State;
use thalweg_lab::paper::geneva::claims::{self, Gate};
use thalweg_lab::paper::geneva::{Length, Plan, Results};
use thalweg_lab::statistics::Verdict;

use super::failed;
use crate::Failure;
use crate::report::Page;

/// Run the evaluation of a paper again: its figures, its tables, and what its claims are worth here.
///
/// Leaves one HTML page that needs nothing else. Ctrl-C keeps the runs that are over and reports on them.
#[derive(clap::Args)]
#[command(after_help = "Examples
  thalweg lab reproduce geneva --quick
  thalweg lab reproduce geneva --out geneva.html --docs docs/reproduction.md")]
pub(super) struct Args {
    /// Which paper.
    #[arg(value_name = "PAPER")]
    paper: Paper,
    /// A look at everything within minutes: short runs, few seeds.
    #[arg(long)]
    quick: bool,
    /// How many seeds; Fig. 2, where losses are rare, gets twice as many.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1000))]
    seeds: Option<u64>,
    /// How long each run is, warm-up included; those of Fig. 2 are two thirds of it. The paper has 180 and 120.
    #[arg(long, value_name = "SECONDS", conflicts_with = "quick", value_parser = clap::value_parser!(u32).range(25..=36_000))]
    seconds: Option<u32>,
    /// Where the page is written.
    #[arg(long, value_name = "FILE", default_value = "reproduction-geneva.html")]
    out: PathBuf,
    /// Write the same as Markdown, too, curves aside: `docs/reproduction.md` is written this way.
    #[arg(long, value_name = "FILE")]
    docs: Option<PathBuf>,
    /// Runs at a time; all processors, if not said. Results do not depend on it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Paper {
    /// GENEVA: Streaming Control Algorithm Using Generalized Multiplicative-Increase/Additive-Decrease.
    Geneva,
}

impl Args {
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

    fn threads(&self) -> usize {
        self.jobs.map_or_else(|| std::thread::available_parallelism().map_or(1, std::num::NonZero::get), usize::from)
    }

    /// What was typed, as far as results depend on it.
    fn command(&self) -> String {
        let mut command = "thalweg lab reproduce geneva".to_owned();
        if self.quick {
            command += " --quick";
        }
        if let Some(seeds) = self.seeds {
            command += &format!(" --seeds {seeds}");
        }
        if let Some(seconds) = self.seconds {
            command += &format!(" --seconds {seconds}");
        }
        command
    }
}

pub(super) fn run(args: Args) -> Result<(), Failure> {
    let Paper::Geneva = args.paper;
    // A page that cannot be written should be known of before anything runs.
    for file in args.docs.iter().chain([&args.out]) {
        std::fs::OpenOptions::new().create(true).append(true).open(file).map_err(|error| refusal(file, &error))?;
    }
    let began = Instant::now();
    let plan = args.plan();
    let jobs = plan.jobs();
    let results = pool::run(plan, &jobs, args.threads())?;
    if results.is_empty() {
        return Err(failed("interrupted before the first run was over"));
    }
    let page = page::of(&results, jobs.len(), &args.command());
    write(&args.out, &page.to_html())?;
    if let Some(docs) = &args.docs {
        write(docs, &page.to_markdown())?;
    }
    super::print(&told(&page, &args, began))?;
    if results.len() < jobs.len() {
        let (kept, all) = (results.len(), jobs.len());
        return Err(failed(format!("interrupted: {kept} of {all} runs reached their end, and only they count")));
    }
    arithmetic(&results)
}

/// What holds by arithmetic does not depend on any run: it must hold.
fn arithmetic(results: &Results) -> Result<(), Failure> {
    let findings = claims::judge(results, State::default());
    let broken = findings.iter().filter(|it| it.claim.gate == Gate::Exact && it.verdict() != Verdict::Holds);
    let broken: Vec<&str> = broken.map(|finding| finding.claim.id).collect();
    if broken.is_empty() {
        Ok(())
    } else {
        Err(failed(format!("these must hold exactly, and do not: {}", broken.join(", "))))
    }
}

fn told(page: &Page, args: &Args, began: Instant) -> String {
    let seconds = began.elapsed().as_secs();
    format!("{}\n{} is written; it took {} min {:02} s\n", page.summary, args.out.display(), seconds / 60, seconds % 60)
}

fn write(file: &Path, text: &str) -> Result<(), Failure> {
    std::fs::write(file, text).map_err(|error| refusal(file, &error))
}

fn refusal(file: &Path, error: &std::io::Error) -> Failure {
    let text = error.to_string();
    let why = text.split(" (os error").next().unwrap_or_default().to_lowercase();
    failed(format!("cannot write {}: {why}", file.display()))
}

#[cfg(test)]
mod tests {
    use thalweg_lab::paper::geneva::{Condition, Job};

    use super::*;

    /// Everything that is drawn or printed, from runs of half a second, by the code of the real thing; what a plan has
    /// and nobody ran is missing there.
    #[test]
    fn a_short_look_ends_in_a_page_with_all_sections() {
        let plan = Plan {
            length: Length::Short { tcp_start: 0.1, settle: 0.1, window: 0.5 },
            seeds: 1,
            n_tcp_10: vec![20, 200],
            n_tcp_100: vec![20],
            fig2_seconds: 6.0,
            fig2_seeds: 1,
        };
        let is_short = |job: &Job| match job.condition {
            Condition::OneStream { rtt_ms } => rtt_ms <= 10,
            Condition::LongTcp { n_tcp, .. } => n_tcp == 20,
            Condition::ShortTcp { .. } => false,
            Condition::MixedRates => true,
        };
        let jobs: Vec<Job> = plan.jobs().into_iter().filter(is_short).collect();
        let Ok(results) = pool::run(plan, &jobs, 2) else { panic!("every job can be run") };
        assert_eq!(results.len(), jobs.len());
        assert!(arithmetic(&results).is_ok());
        let page = page::of(&results, jobs.len(), "thalweg lab reproduce geneva");
        let (html, markdown) = (page.to_html(), page.to_markdown());
        let figures = [2, 5, 6, 8, 9, 10, 11, 12].map(|number| format!("Fig. {number}"));
        let tables = ["Table 1", "Table 2", "Claims", "Options"].map(str::to_owned);
        for section in figures.iter().chain(&tables) {
            assert!(html.contains(&format!("<h2>{section}")), "{section}");
            assert!(markdown.contains(&format!("\n## {section}")), "{section}");
        }
        for claim in claims::CLAIMS {
            assert!(html.contains(claim.id) && markdown.contains(claim.id), "{}", claim.id);
        }
        assert!(!html.contains("NaN") && !markdown.contains("NaN"), "what is missing is said in words");
    }

    #[test]
    fn results_do_not_depend_on_the_number_of_threads() {
        let plan = Plan { fig2_seconds: 6.0, fig2_seeds: 2, ..Plan::quick() };
        let is_small = |job: &Job| matches!(job.condition, Condition::OneStream { rtt_ms: 1 | 50 });
        let jobs: Vec<Job> = plan.jobs().into_iter().filter(is_small).collect();
        let Ok(alone) = pool::run(plan.clone(), &jobs, 1) else { panic!("every job can be run") };
        let Ok(together) = pool::run(plan, &jobs, 3) else { panic!("every job can be run") };
        let bytes = |results: &Results| page::of(results, jobs.len(), "").to_html();
        assert_eq!(bytes(&alone), bytes(&together));
    }
}
