//! GENEVA's evaluation: the work, and the whole report.

mod off;

use thalweg_core::law::redundancy::geneva::State;
use thalweg_lab::paper::geneva::claims::judge;
use thalweg_lab::paper::geneva::{
    Condition, Job, Length, Plan, Reading, Results, Scheme, Setting, bars, causes, constants, errata, figures, lockin,
    tables, topics,
};

use super::super::table::interval;
use super::drawing::{self, Toned};
use super::evidence::Evidence;
use super::pool::{self, Pool};
use crate::Failure;
use crate::report::{Figure, Page, Row, Section, Table, Tone};

const ABOUT: &str = "K. Matsuzono, H. Asaeda, O. Nakamura, J. Murai: GENEVA: Streaming Control Algorithm Using Generalized \
                     Multiplicative-Increase/Additive-Decrease. Journal of Information Processing, IPSJ. The paper used ns-2; \
                     this is Thalweg's lab, whose streams are driven by the very law that runs on sockets. Same seeds, same \
                     bytes, on every machine and with any number of threads. The page is written by:";
/// What a number of the tables is.
const LAB: &str = "The lab's value is the mean over the seeds; bursty events are scaled to the paper's 180 s.";
const STAND_IN: &str = "Whatever is said of DP-FEC is said of a stand-in: the paper only outlines it.";
/// Every reading of what the paper leaves open: its name, the state of the window, and what the path and TCP are.
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
const THEM: &str = "The paper says nothing of when streams start, how delays differ, how TCP acknowledges, or how long its least \
                    timeout is. Every reading has starts within 2 s and access delays within 1 ms, but those with streams \
                    together: there all start at once over equal delays, so that the packets of equal streams come to the \
                    link back to back. Queues are min(BDP, 2048) packets, TCP acknowledges every second segment, and its \
                    least retransmission timeout is 0.2 s, where nothing else is said. Fifty packets and an acknowledgement \
                    for each segment are ns-2's defaults, 1 s was its default before October 2004. All but the second reading \
                    have the integer state.";
const COUNTS: &str = "It does not count that a claim holds where it is vacuous, as at 100 ms, where a window that never leaves 8 \
                      packets is static 8, nor where one of its parts is about DP-FEC.";

/// Runs the jobs of a plan; those that an interruption left out are missing in the results.
pub(super) fn run_jobs(plan: Plan, jobs: &[Job], pool: Pool<'_>) -> Result<Results, Failure> {
    let finished = pool::run(jobs, pool, |job| plan.begin(job))?;
    let mut results = Results::new(plan);
    finished.into_iter().for_each(|(job, record)| results.insert(job, record));
    Ok(results)
}

impl Toned for Scheme {
    fn tone(self) -> Tone {
        Tone(match self {
            Scheme::GenevaInteger => 2,
            Scheme::GenevaReal => 3,
            Scheme::Static8 | Scheme::Udp => 1,
            Scheme::Static12 => 0,
            Scheme::DpFec => 5,
            Scheme::Tfrc => 4,
        })
    }
}

/// Every claim, judged under every reading.
pub(super) fn evidence(results: &Results) -> Evidence {
    Evidence::new(READINGS.map(|(name, state, setting)| (name, judge(&results.with(setting), state))).into())
}

/// What is to be read of the results; `command` made them.
pub(super) fn of(results: &Results, command: &str) -> Page {
    let evidence = evidence(results);
    let made = drawing::made(ABOUT, results.len(), command);
    let mut sections = vec![
        evidence.how_far(topics::TOPICS),
        off::section(results),
        made,
        evidence.claims(bars::BARS, &[THEM, STAND_IN, COUNTS]),
        evidence.causes(causes::UNEXPLAINED, causes::CAUSES),
        lock_in(results),
    ];
    sections.extend(figures::all(results).iter().map(drawing::figure));
    sections.extend(both_tables(results));
    sections.extend(together(results));
    sections.push(evidence.parts());
    sections.push(drawing::errors(errata::ERRATA, drawing::AS_PRINTED));
    sections.push(options(results.plan()));
    Page {
        title: "GENEVA's evaluation, run again".into(),
        summary: format!("{} {} {}", evidence.all_told(), evidence.best(), length(results.plan())),
        sections,
        ..Page::default()
    }
}

fn both_tables(results: &Results) -> [Section; 2] {
    [tables::table_1(results), tables::table_2(results)].map(|table| drawing::table(&table, LAB))
}

/// What is drawn and printed of losses, again for streams in phase.
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
        "{whole}, {} seeds; Fig. 2: {} s, {} seeds; the readings with a queue of 50 or a minimum RTO of 1 s: {} seeds at most. \
         The paper has 180 s and 120 s, and does not speak of seeds.",
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
    section.figures.insert(0, constants_in_use(plan));
    section
}

fn constants_in_use(plan: &Plan) -> Figure {
    let row = |constant: constants::Constant| Row {
        subject: constant.name.into(),
        tone: None,
        cells: vec![constant.value, constant.source.into()],
    };
    let rows = constants::in_use(plan).unwrap_or_default().into_iter().map(row).collect();
    Figure::Words(Table { head: ["constant", "value", "source"].map(str::to_owned).to_vec(), rows })
}

const OPTIONS: [&str; 2] = [
    "Where the paper is silent: TCP is NewReno with the recovery of RFC 6675 and an initial window of two segments, as ns-2's \
     Sack1; delayed acknowledgements, since windows are locked in with plain ones, which are ns-2's default, and a least \
     retransmission timeout of 0.2 s, its default today, but where a reading says otherwise. TCP starts first, the streams \
     follow 2 s after the last of it, and measuring begins 10 s after the last stream (times below); RTTmin counts the access \
     links. Reports have the size of RFC 8888. A stream's round trip is measured by the mean departure of the packets that a \
     report covers first.",
    "The constants of the law, which are the same everywhere; then one line for each kind of condition: the others differ in what \
     the figures' axes name and in the scheme.",
];

/// What follows from the state of the window.
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
        "The paper does not say whether the window of repair packets survives a report whole or with its fraction, by which \
         packet SRTT is measured, nor how TCP acknowledges. All three matter, because ten streams at Fwnd = 60 send 1.02 Gb/s \
         into a link of 1 Gb/s: loss then stays above p_max, and nothing in the law brings the windows back."
            .into(),
        format!(
            "Everything else on this page is run with {}; both states are shown everywhere, and the integer one is the \
             default of Thalweg.",
            Reading::CHOSEN
        ),
    ];
    Section { title: "The state of the window".into(), text, figures: vec![Figure::Table(table)] }
}
