//! Tables II and III, and the sources of alpha and beta side by side.

use thalweg_lab::statistics::Estimate;

use super::Results;
use super::cell::Cell;
use super::contender::Contender;
use super::record::{Client, Record};
use crate::comparison::{Comparison, Entry, Pair};
use crate::figure::Subject as _;
use crate::page::{Element, Row, Section, Table, interval, number};

/// A row of Tables II and III: its name, the numbers of both tables, and those of a run. The last column is the bulk
/// transfer.
struct Quantity {
    name: &'static str,
    table_2: [Option<f64>; 4],
    table_3: [Option<f64>; 4],
    of: fn(&Record, usize) -> f64,
}

/// A value of a client, or of the bulk transfer.
fn value(record: &Record, column: usize, of: fn(&Client) -> f64, background: f64) -> f64 {
    record.clients.get(column).map_or(background, of)
}

const QUANTITIES: [Quantity; 6] = [
    Quantity {
        name: "throughput, kb/s",
        table_2: [Some(4_152.23), Some(4_223.65), Some(2_934.89), Some(2_458.86)],
        table_3: [Some(6_939.12), Some(5_124.98), Some(2_458.13), Some(1_112.28)],
        of: |record, column| value(record, column, |client| client.mbps, record.background_mbps) * 1e3,
    },
    Quantity {
        name: "satisfaction",
        table_2: [Some(0.461), Some(0.704), Some(0.978), None],
        table_3: [Some(0.771), Some(0.854), Some(0.819), None],
        of: |record, column| value(record, column, |client| client.satisfaction, f64::NAN),
    },
    Quantity {
        name: "delay, ms",
        table_2: [Some(23.47), Some(22.88), Some(21.69), Some(22.21)],
        table_3: [Some(22.66), Some(22.83), Some(21.78), Some(22.76)],
        of: |record, column| value(record, column, |client| client.delay_ms, record.background_wait_ms),
    },
    Quantity {
        name: "loss, %",
        table_2: [Some(1.53), Some(1.65), Some(1.78), Some(1.46)],
        table_3: [Some(1.57), Some(1.68), Some(1.89), Some(1.62)],
        of: |record, column| value(record, column, |client| client.loss, record.background_loss) * 100.0,
    },
    Quantity {
        name: "jitter, ms",
        table_2: [Some(0.62), Some(0.67), Some(0.56), None],
        table_3: [Some(0.47), Some(0.57), Some(0.64), None],
        of: |record, column| value(record, column, |client| client.jitter_ms, f64::NAN),
    },
    Quantity {
        name: "PSNR estimate, dB",
        table_2: [Some(35.73), Some(45.24), Some(93.25), None],
        table_3: [Some(83.67), Some(78.24), Some(76.56), None],
        of: |record, column| record.psnr_estimates().get(column).copied().unwrap_or(f64::NAN),
    },
];

const COLUMNS: &[&str] = &["client 1", "client 2", "client 3", "background"];

/// Rows of a table under a control in a cell.
fn rows(
    results: &Results,
    cell: Cell,
    contender: Contender,
    paper: fn(&Quantity) -> [Option<f64>; 4],
) -> (String, Vec<Entry<Contender>>) {
    let row = |quantity: &Quantity| {
        let pair = |(column, paper): (usize, Option<f64>)| Pair {
            paper,
            lab: results.estimate(cell, contender, |record| (quantity.of)(record, column)),
        };
        let cells = paper(quantity).into_iter().enumerate().map(pair).collect();
        Entry { subject: quantity.name.to_owned(), scheme: contender, cells }
    };
    (format!("{}, {cell}", contender.name()), QUANTITIES.iter().map(row).collect())
}

/// Table II: TFRC.
pub fn table_2(results: &Results) -> Comparison<Contender> {
    Comparison {
        name: "Table II",
        about: "TFRC. Rates of clients include headers of 28 bytes in 1052. The delay of the background is its time at the \
                access point alone. Jitter is the mean difference of two consecutive delays; the paper does not define \
                its own. PSNR is an estimate from throughput alone, 20 log10(maximum / |average - throughput|) by Table I: \
                it keeps the paper's order under TFRC, and gives none of its dB. Real pictures are at the end of the page."
            .into(),
        columns: COLUMNS,
        blocks: Cell::ALL.map(|cell| rows(results, cell, Contender::Tfrc, |quantity| quantity.table_2)).into(),
    }
}

/// Table III: GCA under each setting.
pub fn table_3(results: &Results) -> Comparison<Contender> {
    let of_cell =
        |cell| Contender::OURS.map(|contender| rows(results, cell, contender, |quantity| quantity.table_3)).into_iter();
    Comparison {
        name: "Table III",
        about: "GCA, in the same cells.".into(),
        columns: COLUMNS,
        blocks: Cell::ALL.into_iter().flat_map(of_cell).collect(),
    }
}

/// A column of a comparison of controls: its name, and its value of a run beside that of TFRC with the same seed.
type Column = (&'static str, fn(&Record, &Record) -> f64);

const SHARES: [Column; 10] = [
    ("client 1, Mb/s", |run, _| run.clients[0].mbps),
    ("client 2, Mb/s", |run, _| run.clients[1].mbps),
    ("client 3, Mb/s", |run, _| run.clients[2].mbps),
    ("1 / 3", |run, _| run.ratio(0)),
    ("2 / 3", |run, _| run.ratio(1)),
    ("satisfaction", |run, _| run.satisfaction()),
    ("its spread", |run, _| run.unevenness()),
    ("background, Mb/s", |run, _| run.background_mbps),
    ("of that beside TFRC", |run, tfrc| run.background_mbps / tfrc.background_mbps),
    ("time at the access point, ms", |run, _| run.clients.iter().map(|client| client.wait_ms).sum::<f64>() / 3.0),
];

const EVENTS: [Column; 3] = [
    ("client 1, %", |run, _| run.clients[0].p * 100.0),
    ("client 2, %", |run, _| run.clients[1].p * 100.0),
    ("client 3, %", |run, _| run.clients[2].p * 100.0),
];

/// Means over the seeds of a value of each run of a control and TFRC.
fn estimate(results: &Results, cell: Cell, contender: Contender, of: fn(&Record, &Record) -> f64) -> Estimate {
    let pair = |seed| {
        let record = |contender| results.record(cell, contender, seed);
        record(contender).zip(record(Contender::Tfrc)).map_or(f64::NAN, |(run, tfrc)| of(run, tfrc))
    };
    Estimate::of((1..=results.plan().seeds).map(pair))
}

/// A table with a row for each control, and one for each cell.
fn compared(results: &Results, contenders: &[Contender], columns: &[Column]) -> Vec<Element> {
    let table = |cell: Cell| {
        let row = |contender: &Contender| {
            let cells = columns.iter().map(|(_, of)| match estimate(results, cell, *contender, *of) {
                none if none.mean.is_nan() => "-".to_owned(),
                found => number(found.mean),
            });
            Row { subject: contender.name().into(), tone: Some(contender.tone()), cells: cells.collect() }
        };
        let head = std::iter::once(cell.to_string()).chain(columns.iter().map(|(name, _)| (*name).to_owned()));
        Element::Table(Table { head: head.collect(), rows: contenders.iter().map(row).collect() })
    };
    Cell::ALL.into_iter().map(table).collect()
}

/// The sources of alpha and beta, and their rivals.
pub fn couplings(results: &Results) -> Section {
    let text = vec![
        "The three streams, their satisfaction (the rate that arrives over the need) and what is left to the bulk transfer: \
         means over the seeds. \"Measured\" is `coupling = \"measured\"` of `thalweg share` with `norm = \"sum\"`; \
         `coupling = \"fixed\"` solves to the parameters of \"squares\". RFC 8699 couples the rates of three TFRC flows, and \
         NADA runs alone in each of three live sessions; both have the needs as priorities."
            .to_owned(),
    ];
    let elements = compared(results, &Contender::ALL, &SHARES);
    Section { title: "Sources of alpha and beta, and rivals".into(), text, elements }
}

/// The loss event rates of the three streams.
pub fn loss_events(results: &Results) -> Section {
    let text = vec![
        "The loss event rate p that each stream measures. All losses within a round trip are one event, and a faster stream \
         has more packets in a round trip: it sees a lower p, and Eq. (2) gives it more than its parameters alone say."
            .to_owned(),
    ];
    let contenders = [Contender::Tfrc, Contender::Squares, Contender::Diagonal, Contender::Measured];
    Section { title: "Loss events".into(), text, elements: compared(results, &contenders, &EVENTS) }
}

/// A sentence on the measured coupling in a cell.
pub(super) fn measured(results: &Results, cell: Cell) -> String {
    let of = |of| interval(&estimate(results, cell, Contender::Measured, of));
    format!(
        "{cell}: client 1 / client 3 is {}, the spread of satisfaction {}, and the bulk transfer has {} of what it has \
         beside TFRC",
        of(|run, _| run.ratio(0)),
        of(|run, _| run.unevenness()),
        of(|run, tfrc| run.background_mbps / tfrc.background_mbps)
    )
}
