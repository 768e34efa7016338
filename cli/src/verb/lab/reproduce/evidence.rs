//! What the claims are worth.

use thalweg_core::law::redundancy::geneva::State;
use thalweg_lab::paper::geneva::claims::{Finding, Part, judge};
use thalweg_lab::paper::geneva::{Reading, Results, lockin};
use thalweg_lab::statistics::Verdict;

use super::super::table::interval;
use crate::report::{Figure, Row, Section, Table};

/// Every claim, judged with both states of GENEVA's window.
pub(super) struct Evidence {
    integer: Vec<Finding>,
    real: Vec<Finding>,
}

impl Evidence {
    pub(super) fn of(results: &Results) -> Evidence {
        Evidence { integer: judge(results, State::Integer), real: judge(results, State::Real) }
    }

    fn of_state(&self, state: State) -> &[Finding] {
        match state {
            State::Integer => &self.integer,
            State::Real => &self.real,
        }
    }

    /// How many claims hold, how many are contradicted, how many are undecided.
    pub(super) fn told(&self, state: State) -> String {
        let findings = self.of_state(state);
        let count = |verdict| findings.iter().filter(|finding| finding.verdict() == verdict).count();
        format!(
            "{} of {} claims hold, {} are contradicted, {} undecided",
            count(Verdict::Holds),
            findings.len(),
            count(Verdict::Contradicted),
            count(Verdict::Undecided)
        )
    }

    fn pairs(&self) -> impl Iterator<Item = (&Finding, &Finding)> {
        self.integer.iter().zip(&self.real)
    }

    /// One line a claim.
    pub(super) fn claims(&self) -> Section {
        let row = |(integer, real): (&Finding, &Finding)| Row {
            subject: integer.claim.id.into(),
            tone: None,
            cells: vec![
                integer.claim.gate.word().into(),
                integer.verdict().word().into(),
                real.verdict().word().into(),
                format!("{} ({})", integer.claim.text, integer.claim.source),
            ],
        };
        let text = vec![
            "A claim about two schemes is judged by the 95 % interval of the difference of runs with the same seed: it holds \
             if the whole interval lies on the claimed side, is contradicted if it lies on the other, and is undecided \
             between. A claim of several parts holds if all of them do. Exact ones are arithmetic, computed from the law; \
             hard ones should be reproduced; soft ones depend on choices that the paper does not publish."
                .into(),
            "Whatever is said of DP-FEC is said of a stand-in: the paper only outlines it.".into(),
        ];
        let head = ["claim", "gate", "integer state", "real state", "what the paper says"].map(str::to_owned).to_vec();
        let table = Table { head, rows: self.pairs().map(row).collect() };
        Section { title: "Claims".into(), text, figures: vec![Figure::Words(table)] }
    }

    /// One line a part.
    pub(super) fn parts(&self) -> Section {
        let rows = self.pairs().flat_map(|(integer, real)| {
            integer.parts.iter().zip(&real.parts).map(|(first, second)| Row {
                subject: integer.claim.id.into(),
                tone: None,
                cells: vec![first.what.clone(), first.wanted.to_string(), measured(first), measured(second)],
            })
        });
        let head = ["claim", "what was measured", "wanted", "integer state", "real state"].map(str::to_owned).to_vec();
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
