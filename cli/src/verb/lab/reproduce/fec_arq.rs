//! The evaluation of hybrid FEC-ARQ: the work, and the whole report.

use std::ops::RangeInclusive;
use std::path::Path;

use thalweg_lab::paper::fec_arq::claims::judge;
use thalweg_lab::paper::fec_arq::{
    Case, Contender, Job, Outcome, Plan, Recording, Results, Strategy, Variant, errata, figures, tables,
};
use thalweg_lab::paper::figure::Subject;
use thalweg_lab::statistics::Estimate;

use super::super::failed;
use super::super::table::interval;
use super::drawing::{self, Toned};
use super::evidence::Evidence;
use super::pool::{self, Pool};
use crate::Failure;
use crate::report::{Figure, Page, Row, Section, Table, Tone};

const ABOUT: &str = "S. Mehrotra, J. Li, Y. Huang: Optimizing FEC Transmission Strategy for Minimizing Delay in Lossless \
                     Sequential Streaming. A slot model as theirs, on whole ticks of 1/3000 s, run by the very laws that run on \
                     sockets. Same seeds, same bytes, on every machine and with any number of threads. The page is written by:";
/// Recordings that stand in for the paper's trace, by the names of their files.
const RECORDINGS: [&str; 2] = ["stereo_g729_jitter.csv", "starlink_irtt_10ms.csv"];
/// Where they lie unless it is said.
const BESIDE: &str = "../shared/data/net";
/// Places of the readings.
const FITTED: usize = 0;
const LITERAL: usize = 1;

/// One run, which goes too fast for steps.
struct Whole<'a> {
    plan: &'a Plan,
    job: Job,
    outcome: Option<Result<Outcome, String>>,
}

/// Reads what recordings there are; where a folder is named, they must be there.
pub(super) fn recordings(folder: Option<&Path>) -> Result<Vec<Recording>, Failure> {
    let at = folder.unwrap_or(Path::new(BESIDE));
    let mut found = Vec::new();
    for name in RECORDINGS {
        match std::fs::read_to_string(at.join(name)) {
            Ok(text) => found.push(Recording::parse(name, &text).map_err(failed)?),
            Err(_) if folder.is_none() => {}
            Err(error) => return Err(super::unreadable(&at.join(name), &error)),
        }
    }
    Ok(found)
}

/// Runs the jobs of a plan; those that an interruption left out are missing in the results.
pub(super) fn run_jobs(plan: &Plan, jobs: &[Job], pool: Pool<'_>) -> Result<Results, Failure> {
    let finished = pool::run(jobs, pool, |job| Ok(Whole { plan, job: *job, outcome: None }))?;
    let mut results = Results::new(plan.clone());
    finished.into_iter().for_each(|(job, outcome)| results.insert(job, outcome));
    Ok(results)
}

impl pool::Work for Whole<'_> {
    type Record = Outcome;

    fn length(&self) -> u64 {
        1
    }

    fn done(&self) -> u64 {
        u64::from(self.outcome.is_some())
    }

    fn advance(&mut self) {
        self.outcome = Some(self.plan.run(&self.job));
    }

    fn finish(self) -> Result<Outcome, String> {
        self.outcome.unwrap_or_else(|| self.plan.run(&self.job))
    }
}

impl Toned for Contender {
    fn tone(self) -> Tone {
        Tone(match self.strategy {
            Strategy::Arq => 0,
            Strategy::Opportunistic => 1,
            Strategy::Cost if self.variant == Variant::Literal => 5,
            Strategy::Cost => 3,
            Strategy::Bound => 4,
            Strategy::Ours => 2,
        })
    }
}

pub(super) fn evidence(results: &Results) -> Evidence {
    Evidence::new(vec![("fitted", judge(results, Variant::Fitted)), ("literal", judge(results, Variant::Literal))])
}

/// What is to be read of the results; `command` made them.
pub(super) fn of(results: &Results, command: &str) -> Page {
    let evidence = evidence(results);
    let made = drawing::made(ABOUT, results.len(), command);
    let mut sections = vec![made, evidence.claims(&[], &[]), beside_the_bound(results)];
    let lab = "The lab's value is the mean over the seeds; delays fall on a grid of 20 ms at 500 kb/s, 6.7 ms at 300 kb/s. \
               The paper has one row for each strategy, which stands beside all readings.";
    sections.extend(tables::all(results).iter().map(|table| drawing::table(table, lab)));
    sections.push(in_numbers(results));
    sections.extend(figures::all(results).iter().map(drawing::figure));
    sections.extend([evidence.parts(), drawing::errors(errata::ERRATA, drawing::AS_PRINTED), options()]);
    let ours = results.beside_the_bound();
    let summary = format!(
        "With the fitted reading {}; with the literal one {}. Mean delay over the bound's, 18 percentiles, on {}, by which \
         nothing was chosen: Thalweg {}. {} bursts a run, {}, where no others are named.",
        evidence.told(FITTED),
        evidence.told(LITERAL),
        seeds(&results.plan().fresh()),
        interval(&ours),
        results.plan().bursts,
        seeds(&results.plan().usual()),
    );
    Page { title: "The evaluation of hybrid FEC-ARQ, run again".into(), summary, sections, ..Page::default() }
}

/// The most that Thalweg's own law may stay from the bound: a study of 600 settings of one law found 1.186.
const MOST: f64 = 1.2;

/// How far each strategy stays from the bound: on the seeds of everything else, and on those that nothing was chosen by.
fn beside_the_bound(results: &Results) -> Section {
    let strategies = [Strategy::Arq, Strategy::Opportunistic, Strategy::Cost, Strategy::Ours];
    let mut contenders: Vec<Contender> = Vec::new();
    for contender in strategies.iter().flat_map(|it| Variant::ALL.map(|variant| Contender::new(*it, variant))) {
        if !contenders.contains(&contender) {
            contenders.push(contender);
        }
    }
    let row = |subject: &str, contender: Contender, cases: &[Case]| Row {
        subject: subject.to_owned(),
        tone: Some(contender.tone()),
        cells: [results.plan().usual(), results.plan().fresh()]
            .map(|seeds| interval(&Estimate::of(results.to_bound(contender, cases, seeds))))
            .to_vec(),
    };
    let mut rows: Vec<Row> = contenders.iter().map(|it| row(it.name(), *it, &Case::rows())).collect();
    rows.push(row("Thalweg, as the tunnel has it (U_MAX .5)", Contender::OURS, &Case::tunnelled()));
    let [usual, fresh] = [results.plan().usual(), results.plan().fresh()].map(|it| seeds(&it));
    let head = ["strategy".to_owned(), format!("delay / lower bound, {usual}"), format!("the same, {fresh}")].to_vec();
    let judged = results.beside_the_bound();
    let verdict = judged.below(MOST).word();
    let text = vec![
        format!(
            "Mean over 90, 95 and 99 % of the delay in the six rows of Tables II and III, each over the bound's with the same seed. \
             The bound knows every loss as it happens, which no sender can. Thalweg's own law has one set of parameters for all \
             rows, but for the bound on the overhead: U_MAX is 10 in the tables, as the paper has it, and .5 in the tunnel \
             unless it is told otherwise. All parameters but that were chosen on seeds 21 and 22 of the same workload, after a \
             first short search on seed 5 and a look at seed 1, which are among those of the first column and of everything \
             else on this page. By none of the second column's, {fresh}, was anything chosen."
        ),
        format!("Wanted of Thalweg are at most {MOST:.2} on {fresh}: {}, {verdict}.", interval(&judged)),
    ];
    Section { title: "Beside the bound".into(), text, figures: vec![Figure::Table(Table { head, rows })] }
}

/// Seeds in words.
fn seeds(seeds: &RangeInclusive<u64>) -> String {
    format!("seeds {} to {}", seeds.start(), seeds.end())
}

/// What the paper's text says of its figures.
fn in_numbers(results: &Results) -> Section {
    let row = |number: figures::Number| {
        let ours = number.ours.as_ref().map_or_else(|| "-".to_owned(), interval);
        Row {
            subject: format!("{}: {}", number.figure, number.what),
            tone: None,
            cells: [number.paper.to_owned()].into_iter().chain(number.lab.iter().map(interval)).chain([ours]).collect(),
        }
    };
    let head = ["what", "paper", "fitted", "literal", "Thalweg"].map(str::to_owned).to_vec();
    let table = Table { head, rows: figures::numbers(results).into_iter().map(row).collect() };
    let text = vec![
        "What the paper's text says in numbers of what its figures draw, beside the lab; in the last column Thalweg's own \
         schedule stands for the cost policy, beside the literal no cost where two are compared. Of Figs. 10 and 11 the text has \
         no number, and of Fig. 3 none but the rates that it draws losses with. Those of Fig. 12 are of its trace, and the lab's of \
         the recordings. Those of Figs. 4 to 7 are the distributions whose percentiles are in Tables II and III."
            .to_owned(),
    ];
    Section { title: "The figures in numbers".into(), text, figures: vec![Figure::Table(table)] }
}

/// The readings.
fn options() -> Section {
    let row = |subject: &str, what: &str| Row { subject: subject.into(), tone: None, cells: vec![what.into()] };
    let rows = vec![
        row("literal", "a loss is known a round trip after the packet; Eq. (6) as its worked example has it"),
        row("1.5 RTT", "a loss is known after one and a half round trips, as a timer would have it"),
        row("Eq. (3)", "so, and the cost is the first term of Eq. (3)"),
        row(
            "fitted",
            "so, with the second term of Eq. (6) times .2, and fewer combinations in flight than .6 (D - B) where nothing new \
             waits: both numbers were chosen by the tables themselves, so that agreement with them proves little",
        ),
        row(
            "lower bound; ARQ, told of losses",
            "retransmission alone, by a sender that is told of each loss as it happens",
        ),
        row(
            "Thalweg",
            "a loss is known when its acknowledgement is overdue by what was measured, after two smoothed round trips at the \
             latest; docs/controls.md has the law",
        ),
    ];
    let table = Table { head: ["reading", "what it is"].map(str::to_owned).to_vec(), rows };
    let text = vec![
        "V = 8000 bits, R = 400 kb/s, P = 10, W = 16 unless it is said; the loss rate is known to the sender, but for Table IV. \
         A delay is counted to the acknowledgement, as the bound of the paper's tables needs it; the buffer is freed when an \
         original is known to be decoded in order."
            .into(),
    ];
    Section { title: "Options".into(), text, figures: vec![Figure::Words(table)] }
}
