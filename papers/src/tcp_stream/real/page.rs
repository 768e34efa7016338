//! The page about the runs.

use thalweg_lab::statistics::Estimate;

use super::carrier::Carrier;
use super::parts::{cell, curve, left, plot, stalls};
use super::results::{ALONE, FIRST, Results, SECOND, Spot};
use super::scene::Scene;
use super::spread::Spread;
use super::{QUEUES, bars, pairs};
use crate::bar::{self, Bar};
use crate::drawing;
use crate::figure::Subject;
use crate::page::{Element, Page, Row, Section, Table, interval};

const ABOUT: &str = "H. Oda, H. Hisamatsu, H. Noborio: Design, Implementation and Evaluation of Congestion Control \
                     Mechanism for Video Streaming, Fig. 5, with this machine's kernel. Servers and clients are in \
                     network namespaces, and the path is the cable of `thalweg emulate` (100 Mb/s, round trip of 30 ms, \
                     drop-tail). One video of 3.6 Mb/s never ends, and one CUBIC connection runs from 30 to 60 s. Then \
                     two such videos run, which the paper does not have. The runs take place in real time on a real \
                     machine: no two are the same, and other work of the machine affects them.";

const RUNS: &str = "With a queue of 50, single losses decide, and differ from run to run. Each such cell therefore has \
                    the median of three runs, with minimum and maximum in brackets; `--seeds` changes the number of \
                    runs.";

const NUMBERS: &str = "Each cell: kernel | lab. Payload in Mb/s; the last column is the rate of the background divided \
                       by its rate beside a CUBIC video, of medians. A player begins 10 s after its video, and stalls \
                       if the video arrives more slowly than it is played. The lab has ten seeds, and no BBR. A run of \
                       the kernel may have losses that the lab does not have. In the interval after such a loss, a \
                       video has a lower rate than in the lab.";

/// The page; `command` made it.
pub(super) fn of(results: &Results, command: &str) -> Page {
    let mut made = drawing::made(ABOUT, results.len(), command);
    let kernel = format!("The kernel: Linux {}.", rustix::system::uname().release().to_string_lossy());
    made.text.splice(0..0, [kernel, format!("Load average when it began: {}.", results.load)]);
    if !results.missing.is_empty() {
        made.text.push(format!("This kernel does not have {}.", results.missing.join(", ")));
    }
    made.text.extend([RUNS, "The page is written by:"].map(str::to_owned));
    let bars = bars::all(results);
    let mut sections = vec![made, bars::section(&bars)];
    sections.extend(QUEUES.map(|queue| over_time(results, queue)));
    sections.push(Section {
        title: "Fig. 5 in numbers".into(),
        text: vec![NUMBERS.into()],
        elements: QUEUES.map(|queue| Element::Table(in_numbers(results, queue))).into(),
    });
    sections.push(pairs::section(results));
    let title = "TCP Stream's Fig. 5 with the kernel's own TCP";
    Page { title: title.into(), summary: summary(results, &bars), sections, ..Page::default() }
}

fn over_time(results: &Results, queue: u32) -> Section {
    let plot = |title: &str, of: usize| {
        let line = |carrier: Carrier| {
            let record = results.records(Spot { scene: Scene::Background, queue, carrier }).next()?;
            Some(curve(carrier.name(), carrier, record, of))
        };
        plot(title, Carrier::ALL.into_iter().filter_map(line).collect())
    };
    Section {
        title: format!("Fig. 5, queue of {queue}"),
        text: vec!["The first run of each, payload in each second.".into()],
        elements: vec![plot("(a) The video", 0), plot("(b) Background", 1)],
    }
}

fn left_in_the_lab(results: &Results, queue: u32, carrier: Carrier) -> Estimate {
    let of = |carrier| results.lab(Spot { scene: Scene::Background, queue, carrier }, SECOND);
    Estimate::of(of(carrier).iter().zip(of(Carrier::Cubic)).map(|(of, cubic)| of / cubic))
}

fn in_numbers(results: &Results, queue: u32) -> Table {
    let row = |carrier: Carrier| {
        let spot = Spot { scene: Scene::Background, queue, carrier };
        let rates = [ALONE, FIRST, SECOND].map(|column| cell(results, spot, column));
        let times = Spread::of((!left(results, queue, carrier).is_nan()).then(|| left(results, queue, carrier)));
        let times = format!("{times} | {}", interval(&left_in_the_lab(results, queue, carrier)));
        Row {
            subject: carrier.name().into(),
            tone: Some(carrier.tone()),
            cells: rates.into_iter().chain([stalls(results, spot), times]).collect(),
        }
    };
    let head = [
        "video alone, 20 to 30 s",
        "video beside it, 31 to 60 s",
        "background, 31 to 60 s",
        "stalls",
        "background, times",
    ];
    let head = std::iter::once(format!("queue of {queue}")).chain(head.map(str::to_owned)).collect();
    Table { head, rows: Carrier::ALL.map(row).into() }
}

fn summary(results: &Results, bars: &[Bar]) -> String {
    let left = |queue, carrier| {
        let times = left(results, queue, carrier);
        if times.is_nan() { "-".to_owned() } else { format!("{times:.2}") }
    };
    let one = |queue: u32| {
        let [printed, vegas] = Carrier::OURS.map(|carrier| left(queue, carrier));
        format!("with a queue of {queue} {printed} times (printed thresholds) and {vegas} times (Vegas's)")
    };
    let stalls = results.stalls();
    let stalled = if stalls == 0 { "no video stalled".to_owned() } else { format!("videos stalled {stalls} times") };
    format!(
        "The rate of a CUBIC connection beside a video under TCP Stream in the kernel, divided by its rate beside a \
         CUBIC video: {}, {}; \
         {stalled}. {}",
        one(QUEUES[0]),
        one(QUEUES[1]),
        bar::summary(bars)
    )
}
