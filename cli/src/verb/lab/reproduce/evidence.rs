//! What the claims are worth.

use thalweg_core::law::redundancy::geneva::State;
use thalweg_lab::paper::geneva::claims::{Finding, Part, judge};
use thalweg_lab::paper::geneva::{Phases, Reading, Results, causes, lockin};
use thalweg_lab::statistics::Verdict;

use super::super::table::interval;
use crate::report::{Figure, Row, Section, Table};

/// Every claim, judged with both states of GENEVA's window, and with streams that start together.
pub(super) struct Evidence {
    pub(super) integer: Vec<Finding>,
    pub(super) real: Vec<Finding>,
    pub(super) together: Vec<Finding>,
}

/// What the three are called.
const JUDGED: [&str; 3] = ["integer state", "real state", "streams together"];

impl Evidence {
    pub(super) fn of(results: &Results) -> Evidence {
        Evidence {
            integer: judge(results, State::Integer),
            real: judge(results, State::Real),
            together: judge(&results.with(Phases::Together), State::Integer),
        }
    }

    /// How many claims hold, how many are contradicted, how many are undecided.
    pub(super) fn told(findings: &[Finding]) -> String {
        let count = |verdict| findings.iter().filter(|finding| finding.verdict() == verdict).count();
        format!(
            "{} of {} claims hold, {} are contradicted, {} undecided",
            count(Verdict::Holds),
            findings.len(),
            count(Verdict::Contradicted),
            count(Verdict::Undecided)
        )
    }

    /// Each claim's three findings.
    fn all(&self) -> impl Iterator<Item = [&Finding; 3]> {
        self.integer
            .iter()
            .zip(&self.real)
            .zip(&self.together)
            .map(|((integer, real), together)| [integer, real, together])
    }

    /// One line a claim.
    pub(super) fn claims(&self) -> Section {
        let row = |findings: [&Finding; 3]| {
            let claim = findings[0].claim;
            let verdicts = findings.map(|finding| finding.verdict().word().to_owned());
            let mut cells = vec![claim.gate.word().to_owned()];
            cells.extend(verdicts);
            cells.push(format!("{} ({})", claim.text, claim.source));
            Row { subject: claim.id.into(), tone: None, cells }
        };
        let text = vec![
            "A claim about two schemes is judged by the 95 % interval of the difference of runs with the same seed: it holds \
             if the whole interval lies on the claimed side, is contradicted if it lies on the other, and is undecided \
             between. A claim of several parts holds if all of them do. Exact ones are arithmetic, computed from the law; \
             hard ones should be reproduced; soft ones depend on choices that the paper does not publish."
                .into(),
            "The paper says nothing of when streams start, nor how delays differ. The first two columns have starts within \
             2 s and access delays within 1 ms; the third has the integer state, all streams at once and equal delays, so \
             that the packets of equal streams come to the link back to back."
                .into(),
            "Whatever is said of DP-FEC is said of a stand-in: the paper only outlines it.".into(),
        ];
        let [integer, real, together] = JUDGED;
        let head = ["claim", "gate", integer, real, together, "what the paper says"].map(str::to_owned).to_vec();
        let table = Table { head, rows: self.all().map(row).collect() };
        Section { title: "Claims".into(), text, figures: vec![Figure::Words(table)] }
    }

    /// Why some claims do not hold: those that one of the three contradicts or leaves undecided, by what is known of them.
    pub(super) fn causes(&self) -> Section {
        let open: Vec<&str> = self
            .all()
            .filter(|findings| findings.iter().any(|finding| finding.verdict() != Verdict::Holds))
            .map(|findings| findings[0].claim.id)
            .collect();
        let of_cause = |cause: Option<&'static causes::Cause>| -> Vec<&str> {
            open.iter().copied().filter(|claim| causes::of(claim) == cause).collect()
        };
        let known = causes::CAUSES.iter().map(|cause| (of_cause(Some(cause)), cause.text));
        let unknown = (of_cause(None), "No cause is known.");
        let rows = known.chain([unknown]).filter(|(claims, _)| !claims.is_empty()).map(|(claims, text)| Row {
            subject: claims.join(", "),
            tone: None,
            cells: vec![text.into()],
        });
        let table = Table { head: ["claims", "what was measured"].map(str::to_owned).to_vec(), rows: rows.collect() };
        let text = vec!["Claims that do not hold everywhere, and what was found of them.".into()];
        Section { title: "Why some do not hold".into(), text, figures: vec![Figure::Words(table)] }
    }

    /// One line a part.
    pub(super) fn parts(&self) -> Section {
        let rows = self.all().flat_map(|[integer, real, together]| {
            let parts = integer.parts.iter().zip(&real.parts).zip(&together.parts);
            parts.map(|((first, second), third)| Row {
                subject: integer.claim.id.into(),
                tone: None,
                cells: vec![
                    first.what.clone(),
                    first.wanted.to_string(),
                    measured(first),
                    measured(second),
                    measured(third),
                ],
            })
        });
        let [integer, real, together] = JUDGED;
        let head = ["claim", "what was measured", "wanted", integer, real, together].map(str::to_owned).to_vec();
        let text = vec!["The parts of the claims: mean over the seeds, and half the 95 % interval.".into()];
        let table = Table { head, rows: rows.collect() };
        Section { title: "What was measured".into(), text, figures: vec![Figure::Words(table)] }
    }
}

fn measured(part: &Part) -> String {
    match part.measured.mean.is_nan() {
        true => "not run".into(),
        false => format!("{}: {}", interval(&part.measured), part.verdict().word()),
    }
}

/// What follows from the state of the window.
pub(super) fn lock_in(results: &Results) -> Section {
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
