//! The whole report.

use thalweg_lab::paper::geneva::{Condition, Job, Length, Phases, Plan, Results, Scheme, errata, figures, tables};

use super::drawing;
use super::evidence::{self, Evidence};
use crate::report::{Figure, Page, Row, Section, Table};

/// What is to be read of the results of `jobs` jobs; `command` made them.
pub(super) fn of(results: &Results, jobs: usize, command: &str) -> Page {
    let evidence = Evidence::of(results);
    let mut sections =
        vec![run(results, jobs, command), evidence.claims(), evidence.causes(), evidence::lock_in(results)];
    sections.extend(figures::all(results).iter().map(drawing::figure));
    sections.extend(both_tables(results));
    sections.extend(together(results));
    sections.push(evidence.parts());
    sections.push(errors());
    sections.push(options(results.plan()));
    Page {
        title: "GENEVA's evaluation, run again".into(),
        summary: format!(
            "With the integer state of the window, Thalweg's default, {}; with the real state {}; with the integer state and \
             streams that start together {}. {}",
            Evidence::told(&evidence.integer),
            Evidence::told(&evidence.real),
            Evidence::told(&evidence.together),
            length(results.plan()),
        ),
        sections,
    }
}

fn both_tables(results: &Results) -> [Section; 2] {
    [tables::table_1(results), tables::table_2(results)].map(|table| drawing::table(&table))
}

/// What is drawn and printed of losses, again for streams in phase.
fn together(results: &Results) -> impl Iterator<Item = Section> {
    let results = results.with(Phases::Together);
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
        "{whole}, {} seeds; Fig. 2: {} s, {} seeds. The paper has 180 s and 120 s, and does not speak of seeds.",
        plan.seeds, plan.fig2_seconds, plan.fig2_seeds
    )
}

fn run(results: &Results, jobs: usize, command: &str) -> Section {
    let mut text = vec![
        "K. Matsuzono, H. Asaeda, O. Nakamura, J. Murai: GENEVA: Streaming Control Algorithm Using Generalized \
         Multiplicative-Increase/Additive-Decrease. Journal of Information Processing, IPSJ. The paper used ns-2; this is \
         Thalweg's lab, whose streams are driven by the very law that runs on sockets. Same seeds, same bytes, on every \
         machine and with any number of threads. The page is written by:"
            .into(),
    ];
    let (kept, version) = (results.len(), env!("CARGO_PKG_VERSION"));
    if kept < jobs {
        text.push(format!("It was interrupted: {kept} of {jobs} runs reached their end, and only they count."));
    }
    let command = format!("{command}    # version {version}, {kept} runs\n");
    Section { title: "What this is".into(), text, figures: vec![Figure::Code(command)] }
}

/// What is wrong in the paper itself.
fn errors() -> Section {
    let row = |erratum: &errata::Erratum| Row {
        subject: erratum.at.into(),
        tone: None,
        cells: vec![erratum.printed.into(), erratum.correct.into()],
    };
    let head = ["where", "printed", "what it should be"].map(str::to_owned).to_vec();
    let table = Table { head, rows: errata::ERRATA.iter().map(row).collect() };
    let text = vec!["The tables above show the paper's numbers as they are printed.".into()];
    Section { title: "Errors of the paper".into(), text, figures: vec![Figure::Words(table)] }
}

/// Every parameter of every scenario.
fn options(plan: &Plan) -> Section {
    let conditions = [
        Condition::OneStream { rtt_ms: 100 },
        Condition::long(10, plan.n_tcp_10.last().copied().unwrap_or(250)),
        Condition::long(100, plan.n_tcp_100.last().copied().unwrap_or(700)),
        Plan::short()[0],
        Plan::short()[2],
        Condition::MixedRates,
    ];
    let row = |condition: Condition| {
        let scheme =
            if matches!(condition, Condition::OneStream { .. }) { Scheme::Tfrc } else { Scheme::GenevaInteger };
        let parameters =
            plan.parameters(&Job { condition, phases: Phases::Apart, scheme, seed: 1 }).unwrap_or_default();
        let written = parameters.iter().map(|parameter| format!("{}={}", parameter.name, parameter.value));
        Row { subject: condition.to_string(), tone: None, cells: vec![written.collect::<Vec<_>>().join(" ")] }
    };
    let text = vec![
        "Where the paper is silent: TCP is NewReno with the recovery of RFC 6675, delayed acknowledgements, an initial \
         window of two segments and a least retransmission timeout of 0.2 s, as ns-2's Sack1 is commonly run; TCP starts \
         first, the streams follow 2 s after the last of it, and measuring begins 10 s after the last stream (times below); \
         RTTmin counts the access links. Reports have the size of RFC 8888. A stream's round trip is measured by the mean \
         departure of the packets that a report covers first."
            .into(),
        "One line for each kind of condition; the others differ in what the figures' axes name and in the scheme.".into(),
    ];
    let head = ["condition", "parameters of its scenario (thalweg lab run)"].map(str::to_owned).to_vec();
    let table = Table { head, rows: conditions.into_iter().map(row).collect() };
    Section { title: "Options".into(), text, figures: vec![Figure::Words(table)] }
}
