//! The evaluation as a whole: the readings of its claims, and the sections of its page.

use std::ops::RangeInclusive;

use super::claims::{CLAIMS, Claim, Reading};
use super::{Carrier, Condition, Job, Plan, QUEUES, Record, Results, causes, errata, figures};
use crate::drawing;
use crate::evaluation::{Evaluation, Paper, judge};
use crate::evidence::Evidence;
use crate::jobs::Jobs;
use crate::page::Section;
use crate::pool::Task;

const ABOUT: &str = "H. Oda, H. Hisamatsu, H. Noborio: Design, Implementation and Evaluation of Congestion Control \
                     Mechanism for Video Streaming. The paper used ns-2, and Linux 2.6.32 behind DummyNet. Here \
                     Thalweg's lab runs the window law of thalweg-core. The same seeds give the same bytes on every \
                     machine, with any number of threads. This command writes the page:";
const READINGS: &str = "The paper gives neither its queues nor its numbers of FTP connections, and its thresholds \
                        contradict its text (see the errors). Therefore every claim is judged with the thresholds of \
                        Eq. (4) as printed and with Vegas's 2 and 4, each with three queues. 1000 packets are the \
                        bandwidth-delay product of Fig. 3, 250 that of Fig. 5, and 50 the default of DummyNet.";

const ERRATA: &str = "The paper prints no numbers of its results, and its figures are missing from the text that is \
                      available. Single points of the figures are therefore not compared.";

impl Jobs for Plan {
    type Job = Job;
    type Condition = Condition;
    type Subject = Carrier;
    type View = ();
    type Record = Record;

    fn jobs(&self) -> Vec<Job> {
        self.jobs()
    }

    fn job(condition: Condition, carrier: Carrier, (): &(), seed: u64) -> Job {
        Job { condition, carrier, seed }
    }

    fn seeds(&self, condition: Condition, (): &()) -> RangeInclusive<u64> {
        1..=self.seeds_of(condition)
    }

    fn task(&self, job: Job) -> Result<impl Task<Record = Record, Error = String>, String> {
        self.begin(&job)
    }
}

impl Evaluation for Plan {
    type Reading = Reading;

    const PAPER: Paper = Paper {
        title: "TCP Stream's evaluation, run again",
        about: ABOUT,
        notes: &[READINGS],
        topics: &[],
        bars: &[],
        causes: causes::CAUSES,
        unexplained: &[],
        errata: errata::ERRATA,
        errata_note: ERRATA,
    };
    const CLAIMS: &'static [Claim] = CLAIMS;

    /// With both thresholds and each queue.
    fn evidence(results: &Results) -> Evidence {
        let all = Carrier::OURS.into_iter().flat_map(|ours| QUEUES.map(|queue| Reading { ours, queue }));
        let run = all.filter(|reading| results.plan().queues.contains(&reading.queue));
        Evidence::new(run.map(|reading| (name(reading), judge(results, reading))).collect())
    }

    fn summary(results: &Results, evidence: &Evidence) -> String {
        format!("{}. {}", evidence.all_verdict_counts(), length(results.plan()))
    }

    fn measurements(results: &Results) -> Vec<Section> {
        figures::all(results).iter().map(drawing::figure).collect()
    }

    fn options(&self) -> Section {
        options(self)
    }
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

fn length(plan: &Plan) -> String {
    format!(
        "Videos of {} s, {} seeds; Fig. 5: {} seeds. The paper has videos of 600 s and 20 runs, and shows one run in Fig. 5.",
        plan.video_seconds, plan.seeds, plan.fig5_seeds
    )
}

const OPTIONS: [&str; 2] = [
    "Where the paper is silent: Fig. 3 has TCP as ns-2 does, with SACK, an initial window of two, an acknowledgement \
     for each segment and a least retransmission timeout of 0.2 s; Fig. 5 as Linux does. A loss leaves nothing of \
     dwnd, and the delay part begins when lwnd meets its ceiling. Numbers count from the end of the warm-up on, and a \
     run ends within 0.1 s of its last video, at the latest after five times the videos' playing time.",
    "One line for each figure, the first of `tcp-stream-s1`, the other of `tcp-stream-s2`; the others differ in \
     queue, N and what carries the videos.",
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
