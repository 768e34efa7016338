//! The evaluation as a whole: the readings of its claims, and the sections of its page.

mod off;

use std::ops::RangeInclusive;

use thalweg_core::law::redundancy::geneva::State;

use super::claims::{CLAIMS, Claim, Evaluator};
use super::{
    Condition, Job, Length, Phases, Plan, Reading, Record, Results, Scheme, Setting, bars, causes, constants, errata,
    figures, lockin, tables, topics,
};
use crate::claim::Qualification;
use crate::drawing;
use crate::evaluation::{Evaluation, Paper, judge};
use crate::evidence::Evidence;
use crate::jobs::Jobs;
use crate::page::{Element, Row, Section, Table, interval};
use crate::pool::Task;

const ABOUT: &str = "K. Matsuzono, H. Asaeda, O. Nakamura, J. Murai: GENEVA: Streaming Control Algorithm Using \
                     Generalized Multiplicative-Increase/Additive-Decrease. Journal of Information Processing, IPSJ. \
                     The paper used ns-2. Here Thalweg's lab runs the law that also runs on sockets. The same \
                     seeds give the same bytes on every machine, with any number of threads. This command writes the \
                     page:";
/// The meaning of the numbers in the tables.
const LAB: &str = "The lab's value is the mean over the seeds; bursty events are scaled to the paper's 180 s.";
const STAND_IN: &str = "DP-FEC is a stand-in: the paper only outlines the algorithm.";
/// Every reading of the points that the paper leaves open: its name, the state of the window, and the settings of path
/// and TCP.
const READINGS: [(&str, State, Setting); 8] = [
    ("integer state", State::Integer, Setting::CHOSEN),
    ("real state", State::Real, Setting::CHOSEN),
    ("streams together", State::Integer, Setting::TOGETHER),
    ("queue 50, plain ACKs", State::Integer, Setting::OF_NS2[0]),
    ("minimum RTO 1 s", State::Integer, Setting::OF_NS2[1]),
    ("plain ACKs, minimum RTO 1 s", State::Integer, Setting::OF_NS2[2]),
    ("queue 50, plain ACKs, minimum RTO 1 s", State::Integer, Setting::OF_NS2[3]),
    ("streams together, minimum RTO 1 s", State::Integer, Setting::OF_NS2[4]),
];
const THEM: &str = "The paper does not say when streams start, how delays differ, how TCP acknowledges, or how long \
                    TCP's minimum timeout is. In the readings with streams together, all streams start at once over \
                    equal delays, so that the packets of equal streams arrive at the link back to back. All other \
                    readings have starts within 2 s and access delays within 1 ms. Queues are min(BDP, 2048) packets, \
                    TCP acknowledges every second segment, and its least retransmission timeout is 0.2 s, where \
                    nothing else is said. Fifty packets and an acknowledgement for each segment are ns-2's defaults, \
                    1 s was its default before October 2004. All but the second reading have the integer state.";
const COUNTS: &str = "A claim that holds is not counted where it is vacuous, or where one of its parts is about \
                      DP-FEC. A claim is vacuous at 100 ms, for example, where a window that never leaves 8 packets \
                      equals static 8.";

impl Jobs for Plan {
    type Job = Job;
    type Condition = Condition;
    type Subject = Scheme;
    type View = Setting;
    type Record = Record;

    fn jobs(&self) -> Vec<Job> {
        self.jobs()
    }

    fn job(condition: Condition, scheme: Scheme, setting: &Setting, seed: u64) -> Job {
        let setting = match condition {
            // A single stream is never in phase with another.
            Condition::OneStream { .. } => Setting { phases: Phases::Apart, ..*setting },
            _ => *setting,
        };
        Job { condition, setting, scheme, seed }
    }

    fn seeds(&self, condition: Condition, setting: &Setting) -> RangeInclusive<u64> {
        1..=self.seeds_of(condition, *setting)
    }

    fn task(&self, job: Job) -> Result<impl Task<Record = Record, Error = String>, String> {
        self.begin(&job)
    }
}

impl Evaluation for Plan {
    type Reading = State;

    const PAPER: Paper = Paper {
        title: "GENEVA's evaluation, run again",
        about: ABOUT,
        notes: &[THEM, STAND_IN, COUNTS],
        topics: topics::TOPICS,
        bars: bars::BARS,
        causes: causes::CAUSES,
        unexplained: causes::UNEXPLAINED,
        errata: errata::ERRATA,
        errata_note: drawing::AS_PRINTED,
    };
    const CLAIMS: &'static [Claim] = CLAIMS;

    fn evidence(results: &Results) -> Evidence {
        Evidence::new(READINGS.map(|(name, state, setting)| (name, judge(&results.with(setting), state))).into())
    }

    fn qualification(evaluator: &Evaluator<'_>, claim: &str) -> Option<Qualification> {
        evaluator.qualification(claim)
    }

    fn summary(results: &Results, evidence: &Evidence) -> String {
        format!("{} {}. {}", evidence.best(), evidence.all_verdict_counts(), length(results.plan()))
    }

    fn overview(results: &Results) -> Vec<Section> {
        vec![off::section(results)]
    }

    fn beside_claims(results: &Results) -> Vec<Section> {
        vec![lock_in(results)]
    }

    fn measurements(results: &Results) -> Vec<Section> {
        let figures = figures::all(results);
        figures.iter().map(drawing::figure).chain(both_tables(results)).chain(together(results)).collect()
    }

    fn options(&self) -> Section {
        options(self)
    }
}

fn both_tables(results: &Results) -> [Section; 2] {
    [tables::table_1(results), tables::table_2(results)].map(|table| drawing::table(&table, LAB))
}

/// The figures and tables of losses again, for streams in phase.
fn together(results: &Results) -> impl Iterator<Item = Section> {
    let results = results.with(Setting::TOGETHER);
    let figures = figures::competition(&results).map(|figure| drawing::figure(&figure));
    figures.into_iter().chain(both_tables(&results)).map(|mut section| {
        section.title += ", streams together";
        section
    })
}

fn length(plan: &Plan) -> String {
    let whole = match plan.length {
        Length::Whole(seconds) => format!("Runs of {seconds} s"),
        Length::Short { window, .. } => format!("A quick look: {window} s of each run are measured"),
    };
    format!(
        "{whole}, {} seeds; Fig. 2: {} s, {} seeds; the readings with a queue of 50 or a minimum RTO of 1 s: {} seeds \
         at most. The paper has 180 s and 120 s, and gives no number of seeds.",
        plan.seeds, plan.fig2_seconds, plan.fig2_seeds, plan.ns2_seeds
    )
}

/// Every constant, and every parameter of every scenario.
fn options(plan: &Plan) -> Section {
    let conditions = [
        Condition::OneStream { rtt_ms: 100 },
        Condition::long(10, plan.n_tcp_10.last().copied().unwrap_or(250)),
        Condition::long(100, plan.n_tcp_100.last().copied().unwrap_or(700)),
        Plan::short()[0],
        Plan::short()[2],
        Condition::MixedRates,
    ];
    let parameters = |condition: Condition| {
        let scheme =
            if matches!(condition, Condition::OneStream { .. }) { Scheme::Tfrc } else { Scheme::GenevaInteger };
        let job = Job { condition, setting: Setting::CHOSEN, scheme, seed: 1 };
        (condition.to_string(), plan.parameters(&job).unwrap_or_default())
    };
    let mut section = drawing::options(&OPTIONS, conditions.into_iter().map(parameters));
    section.elements.insert(0, constants_in_use(plan));
    section
}

fn constants_in_use(plan: &Plan) -> Element {
    let row = |constant: constants::Constant| Row {
        subject: constant.name.into(),
        tone: None,
        cells: vec![constant.value, constant.source.into()],
    };
    let rows = constants::in_use(plan).unwrap_or_default().into_iter().map(row).collect();
    Element::Words(Table { head: ["constant", "value", "source"].map(str::to_owned).to_vec(), rows })
}

const OPTIONS: [&str; 2] = [
    "Where the paper is silent: TCP is NewReno with the recovery of RFC 6675 and an initial window of two segments, \
     as ns-2's Sack1; delayed acknowledgements, since windows are locked in with plain ones, which are ns-2's \
     default, and a least retransmission timeout of 0.2 s, its default today, but where a reading says otherwise. TCP \
     starts first, the streams follow 2 s after the last of it, and measuring begins 10 s after the last stream \
     (times below); RTTmin counts the access links. Reports have the size of RFC 8888. A stream's round trip is \
     measured by the mean departure of the packets that a report covers first.",
    "The constants of the law, which are the same everywhere; then one line for each kind of condition: the others \
     differ in what the figures' axes name and in the scheme.",
];

/// The consequences of the state of the window.
fn lock_in(results: &Results) -> Section {
    let row = |row: &lockin::Row| Row {
        subject: format!(
            "{} TCP, {}, {}",
            row.condition.n_tcp().unwrap_or(0),
            row.condition.reading(),
            row.scheme.name()
        ),
        tone: None,
        cells: [
            &row.fwnd,
            &row.widest,
            &row.widest_flow,
            &row.packet_loss,
            &row.link_loss,
            &row.residual_loss,
            &row.tcp_mbps,
        ]
        .map(interval)
        .to_vec(),
    };
    let head = [
        "ten streams of 30 Mb/s",
        "mean Fwnd",
        "share of time at Fwnd 60",
        "the same of one flow, at most",
        "loss of streams",
        "loss of link",
        "loss after repair",
        "TCP flow, Mb/s",
    ];
    let rows = lockin::rows(results).iter().map(row).collect();
    let table = Table { head: head.map(str::to_owned).to_vec(), rows };
    let text = vec![
        "The paper does not say whether the window of repair packets survives a report whole or with its fraction, by \
         which packet SRTT is measured, nor how TCP acknowledges. All three matter, because ten streams at Fwnd = 60 \
         send 1.02 Gb/s into a link of 1 Gb/s: loss then stays above p_max, and nothing in the law brings the windows \
         back."
            .into(),
        format!(
            "All readings whose names say nothing else are run with {}. The integer state is the default of Thalweg.",
            Reading::CHOSEN
        ),
    ];
    Section { title: "The state of the window".into(), text, elements: vec![Element::Table(table)] }
}
