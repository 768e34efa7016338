//! The section about the session itself: its delays beside those of the slot model, and its neighbors on a shared link.

use super::super::session::{PACKET, RATE, application_kbps};
use super::{Case, Contender, Outcome, Results, Strategy, Variant};
use crate::figure::Subject;
use crate::page::{Element, Row, Section, Table, interval, number};

/// The section.
pub(super) fn section(results: &Results) -> Section {
    let tables = Case::rows().map(|case| Element::Table(beside_the_slots(results, case)));
    let text = vec![
        format!(
            "The stream of a tunnel, as it runs on sockets, over the lab's packet network: a fixed rate of {RATE} of packets of \
             {PACKET} bytes without their headers, a window of W packets, independent losses, and half of D each way. It paces \
             packets, estimates the loss rate and declares losses itself. A delay is the time at which the receiver has read a \
             packet, plus half of D, since the paper counts to the acknowledgement. Cells of delays: slot model, with the literal \
             reading | session | session / slot model. Sessions run a quarter of the bursts."
        ),
        "The last table: the same source through the same stream at a rate of copa, beside a CUBIC flow and a stream of 5 Mb/s \
         under GENEVA, on a link of 20 Mb/s with a round trip of 150 ms, a queue of one bandwidth-delay product and 1 % of \
         random loss (thalweg lab run fec-arq-shared)."
            .to_owned(),
    ];
    let elements = tables.into_iter().chain([Element::Table(shared(results))]).collect();
    Section { title: "The session itself on a packet network".into(), text, elements }
}

fn contender(strategy: Strategy) -> Contender {
    Contender::new(strategy, Variant::Session)
}

fn row(strategy: Strategy, cells: Vec<String>) -> Row {
    Row { subject: strategy.name().to_owned(), tone: Some(contender(strategy).tone()), cells }
}

/// The delays and the overhead of each strategy, beside those of the slot model.
fn beside_the_slots(results: &Results, case: Case) -> Table {
    let numbers: [fn(&Outcome) -> f64; 4] =
        [|it| it.percentile(0.9), |it| it.percentile(0.95), |it| it.percentile(0.99), Outcome::overhead];
    let rows = Strategy::SESSION.map(|strategy| {
        let cell = |of: fn(&Outcome) -> f64| {
            let slots = results.estimate(case, Contender::new(strategy, Variant::Literal), of).mean;
            let session = results.estimate(case, contender(strategy), of).mean;
            [slots, session, session / slots].map(shown).join(" | ")
        };
        let rate = interval(&results.estimate(case, contender(strategy), application_kbps));
        row(strategy, numbers.into_iter().map(cell).chain([rate]).collect())
    });
    let head =
        [&case.to_string(), "90 %, s", "95 %, s", "99 %, s", "U", "application, kb/s"].map(str::to_owned).to_vec();
    Table { head, rows: rows.to_vec() }
}

/// The strategies on the shared link.
fn shared(results: &Results) -> Table {
    let rows = Strategy::SESSION.map(|strategy| {
        let cell = |of: fn(&Outcome) -> f64| interval(&results.estimate(Case::SHARED, contender(strategy), of));
        let numbers: [fn(&Outcome) -> f64; 6] = [
            |it| it.percentile(0.9),
            |it| it.percentile(0.95),
            |it| it.percentile(0.99),
            Outcome::overhead,
            |it| it.beside.and_then(|beside| beside.tcp_mbps).unwrap_or(f64::NAN),
            |it| it.beside.and_then(|beside| beside.residual_loss).unwrap_or(f64::NAN),
        ];
        row(strategy, numbers.map(cell).to_vec())
    });
    let head =
        [&Case::SHARED.to_string(), "90 %, s", "95 %, s", "99 %, s", "U", "CUBIC, Mb/s", "GENEVA, loss after repair"];
    Table { head: head.map(str::to_owned).to_vec(), rows: rows.to_vec() }
}

/// A number, or a dash if there is none.
fn shown(value: f64) -> String {
    if value.is_finite() { number(value) } else { "-".to_owned() }
}
