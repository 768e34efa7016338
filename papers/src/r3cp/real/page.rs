//! The page about the runs.

use super::record::{Second, Watched};
use super::scene::Scene;
use super::viewer::Viewer;
use super::{Job, Results, bars};
use crate::bar;
use crate::drawing;
use crate::figure::Subject;
use crate::page::{Axis, Element, Line, Page, Plot, Row, Section, Table, number};
use crate::r3cp::Path;

const ABOUT: &str = "With this page you can see what a viewer gets from R3CP+ on real paths, and compare it with plain RTP and a \
                     player over TCP. Y. S. Sun, F.-M. Tsou, M. C. Chen: Predictive flow control for TCP-friendly end-to-end real-time \
                     video on the Internet, Figs. 7 and 8 and Table 3, with `thalweg serve` and `thalweg play` in network \
                     namespaces and the path of `thalweg emulate` between them. The videos are the trailer of Sintel: \
                     MPEG-1 of 378 kb/s, as the paper's, and H.264 of 1.5 Mb/s with sound. `play` has its defaults: \
                     a store of 2 s, and loss counts as congestion only where the round trip grows by 30 ms. The runs \
                     take place in real time on a real machine: no two are the same, and other work of the machine \
                     affects them.";

const OTHERS: &str = "A player over TCP reads from the kernel as fast as TCP delivers, begins 2 s after its start, and \
                      waits for a second of video where its buffer runs empty. Its playback is the share of the time \
                      in which it plays. Plain RTP is sent at the video's pace, without retransmission.";

/// The page; `command` made it.
pub(super) fn of(results: &Results, command: &str) -> Page {
    let mut made = drawing::made(ABOUT, results.len(), command);
    let kernel = format!("The kernel: Linux {}.", rustix::system::uname().release().to_string_lossy());
    made.text.extend([OTHERS.to_owned(), kernel, "The page is written by:".to_owned()]);
    let bars = bars::all(results);
    let section = |title: &str, elements| Section { title: title.into(), text: Vec::new(), elements };
    let sections = vec![
        made,
        section("Bars", vec![bar::table(&bars, "measured")]),
        section("Fig. 7", over_time(results, Scene::Congested)),
        section("Fig. 8", over_time(results, Scene::Pair)),
        section("Table 3", vec![table_3(results)]),
        section("All runs", vec![in_numbers(results)]),
    ];
    Page {
        title: "R3CP+ on sockets, beside the kernel's TCP".into(),
        summary: bar::summary(&bars),
        sections,
        ..Page::default()
    }
}

fn over_time(results: &Results, scene: Scene) -> Vec<Element> {
    let plot = |title: &str, label: &str, unit: &str, of: fn(&Second) -> f64| {
        let lines = results.iter().filter(|(job, _)| job.scene == scene).flat_map(|(job, record)| {
            let line = |(nth, watched): (usize, &Watched)| {
                let start = scene.starts().get(nth).copied().unwrap_or_default();
                let points = watched.seconds.iter().map(|second| (start + second.at, of(second))).collect();
                let name = if nth == 0 { job.viewer.name() } else { "second video" };
                let tone = if nth == 0 { job.viewer.tone() } else { Viewer::R3cp.tone() };
                Line { name: name.into(), tone, points, spreads: None }
            };
            record.viewers.iter().enumerate().map(line).collect::<Vec<_>>()
        });
        Element::Plot(Plot {
            title: title.into(),
            x: Axis::new("time", "s"),
            y: Axis::new(label, unit),
            lines: lines.collect(),
        })
    };
    vec![
        plot("(a) Received rate", "rate", "kb/s", |second| second.received_kbps),
        plot("(b) Playable frames", "frames per second", "", |second| second.played),
        plot("(c) Buffer", "media time", "s", |second| second.buffer_s),
    ]
}

/// Table 3: playable frames in percent, the paper's and those measured here.
fn table_3(results: &Results) -> Element {
    const PAPER: [(Viewer, [f64; 3]); 3] = [
        (Viewer::R3cpPlus(2), [91.25, 90.24, 96.23]),
        (Viewer::R3cp, [90.63, 93.36, 92.38]),
        (Viewer::Plain, [9.55, 8.27, 59.16]),
    ];
    let row = |(viewer, paper): (Viewer, [f64; 3])| {
        let cell = |(path, paper): (Path, f64)| {
            let record = results.get(&Job::of(Scene::Internet(path), viewer));
            let playback = record.and_then(|record| record.viewers.first()).map(|viewer| 100.0 * viewer.playback);
            format!("{paper} | {}", playback.map_or_else(|| "-".to_owned(), number))
        };
        let cells = Path::ALL.into_iter().zip(paper).map(cell).collect();
        Row { subject: viewer.name().into(), tone: Some(viewer.tone()), cells }
    };
    let head = ["paper | here", "NTU", "NCTU", "Stanford Univ."].map(str::to_owned).to_vec();
    Element::Table(Table { head, rows: PAPER.map(row).into() })
}

fn in_numbers(results: &Results) -> Element {
    let row = |job: &Job| {
        let record = &results[job];
        let number_of = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), number);
        let (first, keys) = (record.viewers.first(), job.scene.seeks().len());
        let cells = vec![
            number_of(first.map(|viewer| viewer.playback)),
            number_of(first.map(|viewer| viewer.still)),
            number_of(first.and_then(|viewer| viewer.first)),
            number_of(first.map(|viewer| viewer.median_seek(keys)).filter(|_| keys > 0)),
            number_of(record.flows_kbps),
            number_of(record.psnr),
        ];
        let subject = format!("{}: {}", job.scene.title(), job.viewer.name());
        Row { subject, tone: Some(job.viewer.tone()), cells }
    };
    let head = [
        "run",
        "playback",
        "s without a picture",
        "s to the first frame",
        "s to seek, median",
        "CUBIC, kb/s",
        "PSNR, dB",
    ];
    Element::Table(Table { head: head.map(str::to_owned).to_vec(), rows: results.keys().map(row).collect() })
}
