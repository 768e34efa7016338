//! Tables II and III of hybrid FEC-ARQ's evaluation: the run time in the lab, and the ratio of our own schedule's delay
//! to the bound's. Also the run time of TCP Stream's whole evaluation in its quick form.

use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use thalweg_bench::job;
use thalweg_bench::program::command_line;
use thalweg_bench::report::{Bound, Settings, Target, Unit, grid, main as report, section, verdicts};
use thalweg_papers::fec_arq::{Case, Contender, Job, Plan, Results};
use thalweg_papers::figure::Subject;

/// The number of threads.
const THREADS: usize = 2;
/// The target for the seconds for one seed of all strategies.
const MOST_SECONDS: f64 = 20.0;
/// The target for the ratio of delays, mean over 18 percentiles and five seeds. A study of 600 settings of one law
/// found 1.186.
const MOST_RATIO: f64 = 1.2;
/// The target for the seconds for TCP Stream's evaluation in its quick form.
const MOST_SECONDS_OF_VIDEOS: f64 = 120.0;

fn main() -> ExitCode {
    report("reproduce", bench)
}

fn bench(settings: &Settings) -> Result<(), String> {
    let plan = Plan::paper(Vec::new());
    let plan = Plan { bursts: settings.pick(plan.bursts, plan.bursts / 10), ..plan };
    let in_tables = |job: &Job| Case::TABLE_2.contains(&job.case) || Case::TABLE_3.contains(&job.case);
    let (first, others): (Vec<Job>, Vec<Job>) =
        plan.jobs().into_iter().filter(in_tables).partition(|job| job.seed == 1);
    let others: Vec<Job> = others.into_iter().filter(|job| plan.fresh().contains(&job.seed)).collect();
    let mut results = Results::new(plan.clone());
    eprintln!("reproduce: {} runs, then {} more ...", first.len(), others.len());
    let begin = Instant::now();
    run(&plan, &first, &mut results)?;
    let seconds = begin.elapsed().as_secs_f64();
    run(&plan, &others, &mut results)?;
    let page = std::env::temp_dir().join(format!("thalweg-bench-{}.html", std::process::id()));
    let videos = job::Job::run(videos(&settings.binary, &page));
    // A file left in the temporary directory is harmless.
    let _ = std::fs::remove_file(&page);
    let videos = videos?.wall.as_secs_f64();
    let text = format!(
        "Tables II and III of hybrid FEC-ARQ's evaluation in the lab: six lines, {} bursts a cell, {} runs of one seed \
         on {THREADS} threads: all strategies under all readings of the paper. The table has the delay of each \
         strategy divided by that of the lower bound with the same losses, as a mean over the 90th, 95th and 99th \
         percentile of the six lines. Thalweg's own schedule, which declares a packet lost when its acknowledgement is \
         overdue (here after one round trip), also ran on seeds {} to {}, which had no influence on any parameter. \
         The whole evaluation is in [reproduction-fec-arq.md](reproduction-fec-arq.md).\n\n\
         Then a short evaluation of TCP Stream, with videos of a minute and three seeds, on {THREADS} threads. The \
         whole evaluation is in [reproduction-tcp-stream.md](reproduction-tcp-stream.md).",
        plan.bursts,
        first.len(),
        plan.fresh().start(),
        plan.fresh().end()
    );
    let lines = ["benches/run reproduce".into(), command_line(&self::videos(Path::new("thalweg"), Path::new("FILE")))];
    section("The evaluations of hybrid FEC-ARQ and TCP Stream", &text, &lines);
    let mut contenders: Vec<Contender> = first.iter().map(|job| job.contender).collect();
    contenders.sort_unstable();
    contenders.dedup();
    let row = |contender: Contender| {
        [contender.name().to_owned(), format!("{:.3}", results.to_bound(contender, &Case::rows(), 1..=1)[0])]
    };
    println!(
        "{}",
        grid(["strategy", "delay / lower bound, first seed"], &contenders.into_iter().map(row).collect::<Vec<_>>())
    );
    let ours = results.beside_the_bound().mean;
    let target = |what: &str, most, unit| Target { what: what.into(), bound: Bound::AtMost(most), unit };
    verdicts(&[
        (target("Tables II and III, all strategies, two threads", MOST_SECONDS, Unit::Seconds), seconds),
        (target("Thalweg's delay / lower bound, 18 percentiles, mean of the seeds", MOST_RATIO, Unit::Ratio), ours),
        (target("`reproduce tcp-stream --quick`, two threads", MOST_SECONDS_OF_VIDEOS, Unit::Seconds), videos),
    ]);
    Ok(())
}

/// The command for the figures and claims of TCP Stream's paper, with few seeds and short videos.
fn videos(binary: &Path, page: &Path) -> Command {
    let mut command = Command::new(binary);
    command.args(["lab", "reproduce", "tcp-stream", "--quick", "--jobs", &THREADS.to_string(), "--out"]).arg(page);
    command
}

/// Runs the jobs in order on [`THREADS`] threads. No job is so long that the order matters.
fn run(plan: &Plan, jobs: &[Job], results: &mut Results) -> Result<(), String> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let outcome = plan.run(job);
                    done.lock().expect("no thread has failed").push((*job, outcome));
                }
            });
        }
    });
    for (job, outcome) in done.into_inner().expect("no thread has failed") {
        results.insert(job, outcome?);
    }
    Ok(())
}
