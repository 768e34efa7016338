//! The page about the runs.

use super::bars::{self, mean};
use super::run::Record;
use super::{Results, STREAMS, Way};
use crate::bar;
use crate::drawing;
use crate::figure::Subject;
use crate::page::{Axis, Element, Line, Page, Plot, Row, Section, Table, Tone, number};

const ABOUT: &str = "With this page you can see how `thalweg share` divides a real path among three streams that need 9, 6 and \
                     3 Mb/s, beside a download of the kernel's CUBIC. The path of `thalweg emulate` between two network \
                     namespaces has 18 Mb/s, a round trip of 25 ms and a queue of one bandwidth-delay product. Each stream is \
                     an x264 encoder in `thalweg encode`, which follows its rate; `share` has its defaults, without repair. \
                     As TFRC, each stream is a group of its own. Means leave out the first 20 s. The runs take place in real \
                     time on a real machine: no two are the same, and other work of the machine affects them.";

/// The page; `command` made it.
pub(super) fn of(results: &Results, command: &str) -> Page {
    let mut made = drawing::made(ABOUT, results.len(), command);
    let kernel = format!("The kernel: Linux {}.", rustix::system::uname().release().to_string_lossy());
    made.text.extend([kernel, "The page is written by:".to_owned()]);
    let bars = bars::all(results);
    let section = |title: &str, elements| Section { title: title.into(), text: Vec::new(), elements };
    let sections = vec![
        made,
        section("Bars", vec![bar::table(&bars, "measured")]),
        section("The last run of each kind", Way::ALL.map(|way| over_time(results, way)).into()),
        section("All runs", vec![in_numbers(results)]),
    ];
    Page {
        title: "Streams that share a path by need, on sockets, beside the kernel's TCP".into(),
        summary: bar::summary(&bars),
        sections,
        ..Page::default()
    }
}

fn over_time(results: &Results, way: Way) -> Element {
    let last = bars::of(results, way).pop();
    let lines = last.map(|record| {
        let streams = STREAMS.iter().zip(&record.media).zip([2, 1, 3]);
        let mut lines: Vec<Line> =
            streams.map(|(((name, _), series), tone)| Line::new(name, Tone(tone), series.clone())).collect();
        lines.push(Line::new("CUBIC", Tone::QUIET, record.cubic.clone()));
        lines
    });
    Element::Plot(Plot {
        title: way.name().into(),
        x: Axis::new("time", "s"),
        y: Axis::new("rate", "Mb/s"),
        lines: lines.unwrap_or_default(),
    })
}

fn in_numbers(results: &Results) -> Element {
    let row = |subject: String, way: Way, numbers: [f64; STREAMS.len() + 2]| {
        let cells = numbers.map(number).into();
        Row { subject, tone: Some(way.tone()), cells }
    };
    let mut rows: Vec<Row> =
        results.iter().map(|(way, record)| row(way.name().to_owned(), *way, numbers(record))).collect();
    for way in Way::ALL {
        let means = std::array::from_fn(|nth| mean(results, way, |record| numbers(record)[nth]));
        rows.push(row(format!("{}, mean", way.name()), way, means));
    }
    let head = ["satisfaction", "tv", "laptop", "phone", "spread", "CUBIC, Mb/s"].map(str::to_owned).to_vec();
    Element::Table(Table { head, rows })
}

/// The satisfaction of each stream, its spread, and the rate of the download.
fn numbers(record: &Record) -> [f64; STREAMS.len() + 2] {
    let [tv, laptop, phone] = record.satisfactions();
    [tv, laptop, phone, record.spread(), record.download()]
}
