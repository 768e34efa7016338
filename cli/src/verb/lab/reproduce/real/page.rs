//! What is to be read of it.

use thalweg_lab::paper::tcp_stream::{Condition, Job as LabJob, Series as LabSeries};
use thalweg_lab::statistics::Estimate;

use super::super::super::table::interval;
use super::super::drawing::{self, Toned};
use super::carrier::Carrier;
use super::run::Record;
use super::{Job, QUEUES, Results};
use crate::report::{Axis, Figure, Line, Page, Plot, Row, Section, Table};

const ABOUT: &str = "H. Oda, H. Hisamatsu, H. Noborio: Design, Implementation and Evaluation of Congestion Control Mechanism for \
                     Video Streaming, Fig. 5, with this machine's kernel: server and client in network namespaces, the path \
                     by `thalweg emulate`'s cable (100 Mb/s, round trip of 30 ms, drop-tail), one film of 3.6 Mb/s that never \
                     ends, one CUBIC connection from 30 to 60 s. Real time on a real machine: no two runs are the same, and \
                     what else the machine does is in them. The page is written by:";

const NUMBERS: &str = "Each cell: kernel | lab. Payload in Mb/s; the last column is what the background gets over what it gets \
                       beside a CUBIC film. A player begins 10 s after its film, and would show a stall where the film came \
                       slower than it is read. The lab ends at 60 s, has ten seeds, and no BBR. \
                       A kernel's run may meet losses that the lab's do not, its own and the machine's: a film that has just \
                       lost has less than the lab's in that interval.";

/// The page; `command` made it.
pub(super) fn of(results: &Results, command: &str) -> Page {
    let mut made = drawing::made(ABOUT, results.real.len(), command);
    made.text.insert(0, format!("The kernel: Linux {}.", rustix::system::uname().release().to_string_lossy()));
    if !results.missing.is_empty() {
        made.text.push(format!("This kernel does not have {}.", results.missing.join(", ")));
    }
    let mut sections = vec![made];
    sections.extend(QUEUES.map(|queue| over_time(results, queue)));
    sections.push(Section {
        title: "In numbers".into(),
        text: vec![NUMBERS.into()],
        figures: QUEUES.map(|queue| Figure::Table(in_numbers(results, queue))).into(),
    });
    Page { title: "TCP Stream's Fig. 5 with the kernel's own TCP".into(), summary: summary(results), sections }
}

fn over_time(results: &Results, queue: u32) -> Section {
    let plot = |title: &str, of: fn(&Record) -> &Vec<f64>| {
        let line = |carrier: Carrier| {
            let record = results.real.get(&Job { seed: 1, queue, carrier })?;
            // A second's rate stands in its middle.
            let points = of(record).iter().enumerate().map(|(second, mbps)| (second as f64 + 0.5, *mbps)).collect();
            Some(Line::new(carrier.title(), carrier.tone(), points))
        };
        let (x, y) = (Axis::new("time", "s"), Axis::new("throughput", "Mb/s"));
        Figure::Plot(Plot { title: title.into(), x, y, lines: Carrier::ALL.into_iter().filter_map(line).collect() })
    };
    Section {
        title: format!("Fig. 5, queue of {queue}"),
        text: vec!["The first run of each, payload in each second; the curves are on the HTML page.".into()],
        figures: vec![plot("(a) The film", |record| &record.film), plot("(b) Background", |record| &record.background)],
    }
}

/// A number of every run on the machine, and of every seed in the lab.
struct Column {
    real: fn(&Record) -> f64,
    lab: fn(&LabSeries) -> f64,
}

const ALONE: Column = Column { real: |it| it.film_mbps(20..30), lab: |it| it.film_mbps(20, 30) };
const BESIDE: Column = Column { real: |it| it.film_mbps(31..60), lab: |it| it.film_mbps(31, 60) };
const BACKGROUND: Column = Column { real: |it| it.background_mbps(31..60), lab: |it| it.background_mbps(31, 60) };

impl Results {
    fn real(&self, queue: u32, carrier: Carrier, of: impl Fn(&Record) -> f64) -> Vec<f64> {
        let value = |seed| self.real.get(&Job { seed, queue, carrier }).map_or(f64::NAN, &of);
        (1..=self.seeds).map(value).collect()
    }

    fn lab(&self, queue: u32, carrier: Carrier, of: fn(&LabSeries) -> f64) -> Vec<f64> {
        let Some(carrier) = carrier.in_the_lab() else { return Vec::new() };
        let condition = Condition::Testbed { queue };
        let value = |seed| {
            let record = self.lab.of(&LabJob { condition, carrier, seed });
            record.and_then(|record| record.series.as_ref()).map_or(f64::NAN, of)
        };
        (1..=self.lab.plan().fig5_seeds).map(value).collect()
    }

    fn cell(&self, queue: u32, carrier: Carrier, column: &Column) -> String {
        let both = [self.real(queue, carrier, column.real), self.lab(queue, carrier, column.lab)];
        both.map(|values| interval(&Estimate::of(values))).join(" | ")
    }

    /// What the background gets over what it gets beside a CUBIC film.
    fn left(&self, queue: u32, carrier: Carrier) -> [Estimate; 2] {
        let over = |of: Vec<f64>, cubic: Vec<f64>| Estimate::of(of.iter().zip(&cubic).map(|(of, cubic)| of / cubic));
        let real = |carrier| self.real(queue, carrier, BACKGROUND.real);
        let lab = |carrier| self.lab(queue, carrier, BACKGROUND.lab);
        [over(real(carrier), real(Carrier::Cubic)), over(lab(carrier), lab(Carrier::Cubic))]
    }
}

fn in_numbers(results: &Results, queue: u32) -> Table {
    let row = |carrier: Carrier| {
        let rates = [ALONE, BESIDE, BACKGROUND].map(|column| results.cell(queue, carrier, &column));
        let stalls = Estimate::of(results.real(queue, carrier, |record| f64::from(record.stalls)));
        let left = results.left(queue, carrier).map(|estimate| interval(&estimate)).join(" | ");
        Row {
            subject: carrier.title().into(),
            tone: Some(carrier.tone()),
            cells: rates.into_iter().chain([interval(&stalls), left]).collect(),
        }
    };
    let head = [
        "film alone, 20 to 30 s",
        "film beside it, 31 to 60 s",
        "background, 31 to 60 s",
        "stalls",
        "background, times",
    ];
    let head = std::iter::once(format!("queue of {queue}")).chain(head.map(str::to_owned)).collect();
    Table { head, rows: Carrier::ALL.map(row).into() }
}

fn summary(results: &Results) -> String {
    let left = |queue, carrier| {
        let [real, _] = results.left(queue, carrier);
        if real.mean.is_nan() { "-".to_owned() } else { format!("{:.2}", real.mean) }
    };
    let one = |queue: u32| {
        let [printed, vegas] = [Carrier::Printed, Carrier::VegasThresholds].map(|carrier| left(queue, carrier));
        format!("with a queue of {queue} {printed} times (printed thresholds) and {vegas} times (Vegas's)")
    };
    let stalls: u32 = results.real.values().map(|record| record.stalls).sum();
    let stalled = if stalls == 0 { "no film stalled".to_owned() } else { format!("films stalled {stalls} times") };
    let runs = if results.seeds == 1 { "One run each".to_owned() } else { format!("{} runs each", results.seeds) };
    format!(
        "What a CUBIC connection gets beside a film under TCP Stream in the kernel, over what it gets beside a CUBIC film: {}, {}; \
         {stalled}. {runs}.",
        one(QUEUES[0]),
        one(QUEUES[1])
    )
}
