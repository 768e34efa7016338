//! TCP Stream's evaluation: the work, and the whole report.

use thalweg_lab::paper::tcp_stream::claims::{Reading, judge};
use thalweg_lab::paper::tcp_stream::{Carrier, Condition, Job, Plan, QUEUES, Results, causes, errata, figures};

use super::drawing::{self, Toned};
use super::evidence::Evidence;
use super::pool::{self, Pool};
use crate::Failure;
use crate::report::{Page, Section, Tone};

const ABOUT: &str = "H. Oda, H. Hisamatsu, H. Noborio: Design, Implementation and Evaluation of Congestion Control Mechanism for \
                     Video Streaming. The paper used ns-2, and Linux 2.6.32 behind DummyNet; this is Thalweg's lab, with the \
                     window law of thalweg-core. Same seeds, same bytes, on every machine and with any number of threads. The \
                     page is written by:";
const READINGS: &str = "The paper does not tell its queues, nor its numbers of FTP connections, and its thresholds contradict its \
                        text (see the errors): every claim is judged with Eq. (4) as printed and with Vegas's 2 and 4, for each \
                        queue, in packets. A thousand are the bandwidth-delay product of Fig. 3, 250 that of Fig. 5, and 50 what \
                        DummyNet has if nothing is said.";

const ERRATA: &str = "The paper prints no numbers of its results: its figures are lost in the text that there is, and are not \
                      compared with point by point.";

/// Runs the jobs of a plan; those that an interruption left out are missing in the results.
pub(super) fn run_jobs(plan: Plan, jobs: &[Job], pool: Pool<'_>) -> Result<Results, Failure> {
    let finished = pool::run(jobs, pool, |job| plan.begin(job))?;
    let mut results = Results::new(plan);
    finished.into_iter().for_each(|(job, record)| results.insert(job, record));
    Ok(results)
}

impl Toned for Carrier {
    fn tone(self) -> Tone {
        Tone(match self {
            Carrier::Printed => 2,
            Carrier::VegasThresholds => 3,
            Carrier::NewReno => 1,
            Carrier::Cubic => 0,
            Carrier::Vegas => 5,
            Carrier::Clamp => 4,
        })
    }
}

/// Every claim, judged with both thresholds and each queue.
pub(super) fn evidence(results: &Results) -> Evidence {
    let all = Carrier::OURS.into_iter().flat_map(|ours| QUEUES.map(|queue| Reading { ours, queue }));
    let run = all.filter(|reading| results.plan().queues.contains(&reading.queue));
    Evidence::new(run.map(|reading| (name(reading), judge(results, reading))).collect())
}

fn name(reading: Reading) -> &'static str {
    match (reading.ours, reading.queue) {
        (Carrier::VegasThresholds, 1000) => "Vegas, 1000",
        (Carrier::VegasThresholds, 250) => "Vegas, 250",
        (Carrier::VegasThresholds, _) => "Vegas, 50",
        (_, 1000) => "printed, 1000",
        (_, 250) => "printed, 250",
        _ => "printed, 50",
    }
}

/// What is to be read of the results; `command` made them.
pub(super) fn of(results: &Results, command: &str) -> Page {
    let evidence = evidence(results);
    let mut sections = vec![
        drawing::made(ABOUT, results.len(), command),
        evidence.claims(&[], &[READINGS]),
        evidence.causes(&[], causes::CAUSES),
    ];
    sections.extend(figures::all(results).iter().map(drawing::figure));
    sections.extend([evidence.parts(), drawing::errors(errata::ERRATA, ERRATA), options(results.plan())]);
    Page {
        title: "TCP Stream's evaluation, run again".into(),
        summary: format!("{}. {}", evidence.all_told(), length(results.plan())),
        sections,
        ..Page::default()
    }
}

fn length(plan: &Plan) -> String {
    format!(
        "Films of {} s, {} seeds; Fig. 5: {} seeds. The paper has films of 600 s and 20 runs, and shows one run in Fig. 5.",
        plan.film_seconds, plan.seeds, plan.fig5_seeds
    )
}

const OPTIONS: [&str; 2] = [
    "Where the paper is silent: Fig. 3 has TCP as ns-2 does, with SACK, an initial window of two, an acknowledgement for each \
     segment and a least retransmission timeout of 0.2 s; Fig. 5 as Linux does. A loss leaves nothing of dwnd, and the delay \
     part begins when lwnd meets its ceiling. Numbers count from the end of the warm-up on, and a run ends within 0.1 s of its \
     last film, at the latest after five times the films' playing time.",
    "One line for each figure, the first of `tcp-stream-s1`, the other of `tcp-stream-s2`; the others differ in queue, N and \
     what carries the films.",
];

fn options(plan: &Plan) -> Section {
    let queue = plan.queues.first().copied().unwrap_or(QUEUES[0]);
    let n_ftp = plan.n_ftp.last().copied().unwrap_or(0);
    let conditions = [Condition::Simulation { n_ftp, queue }, Condition::Testbed { queue }];
    let parameters = |condition: Condition| {
        let job = Job { condition, carrier: Carrier::Printed, seed: 1 };
        (condition.to_string(), plan.parameters(&job).unwrap_or_default())
    };
    drawing::options(&OPTIONS, conditions.into_iter().map(parameters))
}
