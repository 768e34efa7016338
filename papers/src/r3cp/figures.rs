//! The figures and Table 3.

use super::Results;
use super::condition::{Condition, Path};
use super::record::{Record, Second};
use super::setting::Setting;
use super::subject::Subject;
use crate::comparison::{Comparison, Entry, Pair};
use crate::figure::{self, Points, Subject as _};
use crate::page::Axis;

/// A figure of the paper.
pub type Figure = figure::Figure<Subject>;
/// One plot.
pub type Panel = figure::Panel<Subject>;
/// Points drawn as one series.
pub type Series = figure::Series<Subject>;

/// A value of a run.
type Of = fn(&Record) -> f64;
/// The title and the value of a plot.
type Plot = (&'static str, Of);

/// The settings that figures show: the paper's buffer, and a store of two seconds.
const SHOWN: [Setting; 2] = [Setting::Paper, Setting::Store];

/// All figures, from the jobs that have been run.
pub fn all(results: &Results) -> Vec<Figure> {
    vec![fig_3(results), fig_4(results), fig_5_and_6(results), fig_7(results), fig_8(results), fig_9(results)]
}

/// The settings of the plan that figures show.
fn shown(results: &Results) -> impl Iterator<Item = Setting> {
    SHOWN.into_iter().filter(|setting| results.plan().settings.contains(setting))
}

/// A plot over the load by videos, and one over the number of TCP flows beside one video.
fn over_load(results: &Results, title: &str, setting: Setting, of: Of) -> [Panel; 2] {
    let results = results.with(setting);
    let series = |points: &dyn Fn(Subject) -> Vec<(f64, Vec<f64>)>| {
        Subject::CONTROLS.map(|subject| Series::measured(subject, points(subject).into_iter())).into()
    };
    let values = |condition, subject| results.values(condition, subject, of);
    let by_videos = |subject| {
        let point = |&videos: &u32| (Condition::load(videos), values(Condition::Load { videos, tcp: 0 }, subject));
        results.plan().videos.iter().map(point).collect()
    };
    let by_tcp = |subject| {
        let point = |&tcp: &u32| (f64::from(tcp), values(Condition::Load { videos: 1, tcp }, subject));
        results.plan().tcp.iter().map(point).collect()
    };
    let y = Axis::new("share of the frames", "%");
    [
        Panel {
            title: format!("{title}, videos alone, {}", setting.name()),
            x: Axis::new("load by videos", ""),
            y: y.clone(),
            series: series(&by_videos),
        },
        Panel {
            title: format!("{title}, one video, {}", setting.name()),
            x: Axis::new("number of TCP flows", ""),
            y,
            series: series(&by_tcp),
        },
    ]
}

fn fig_3(results: &Results) -> Figure {
    let plots: [Plot; 4] = [
        ("(a) Playable frames", |record| record.playback * 100.0),
        ("(b) Playable I frames", |record| record.by_kind[0] * 100.0),
        ("(c) Playable P frames", |record| record.by_kind[1] * 100.0),
        ("(d) Playable B frames", |record| record.by_kind[2] * 100.0),
    ];
    let panels = shown(results)
        .flat_map(|setting| plots.into_iter().flat_map(move |(title, of)| over_load(results, title, setting, of)));
    Figure {
        name: "Fig. 3",
        caption: "Frames that are complete and decodable in time. The paper varies the load by videos and TCP flows \
                  without giving their numbers."
            .into(),
        panels: panels.collect(),
    }
}

fn fig_5_and_6(results: &Results) -> Figure {
    let plots: [Plot; 3] = [
        ("Broken frames (Fig. 5)", |record| record.broken * 100.0),
        ("Orphan frames (Fig. 6)", |record| record.orphan * 100.0),
        ("Skipped frames", |record| record.skipped * 100.0),
    ];
    let panels = shown(results)
        .flat_map(|setting| plots.into_iter().flat_map(move |(title, of)| over_load(results, title, setting, of)));
    Figure {
        name: "Figs. 5 and 6",
        caption: "Broken frames lack a packet, orphan frames lack a reference. The paper does not show the share of \
                  skipped frames."
            .into(),
        panels: panels.collect(),
    }
}

/// A value of each second of one video: of the first seed.
struct OverTime {
    title: &'static str,
    y: Axis,
    of: fn(&Second) -> f64,
}

fn over_time(
    results: &Results,
    condition: Condition,
    subjects: &[Subject],
    setting: Setting,
    plot: &OverTime,
) -> Panel {
    let results = results.with(setting);
    let curve = |subject: &Subject| {
        let record = results.record(condition, *subject, 1)?;
        let seconds = record.seconds.first()?.iter().enumerate();
        let points = seconds.map(|(at, second)| (at as f64 + 1.0, (plot.of)(second))).collect();
        Some(Series { name: subject.name().to_owned(), subject: Some(*subject), points: Points::Curve(points) })
    };
    Panel {
        title: format!("{}, {}", plot.title, setting.name()),
        x: Axis::new("time", "s"),
        y: plot.y.clone(),
        series: subjects.iter().filter_map(curve).collect(),
    }
}

const BOTH: [Subject; 2] = [Subject::R3cpPlus, Subject::Tfcc];

fn fig_4(results: &Results) -> Figure {
    let plots = [
        OverTime { title: "Requested rate", y: Axis::new("rate", "kb/s"), of: |second| second.requested_kbps },
        OverTime { title: "Received rate", y: Axis::new("rate", "kb/s"), of: |second| second.received_kbps },
        OverTime { title: "p_n", y: Axis::new("loss", "%"), of: |second| second.p * 100.0 },
    ];
    let panel = |setting| plots.each_ref().map(|plot| over_time(results, Condition::Crowded, &BOTH, setting, plot));
    Figure {
        name: "Fig. 4",
        caption: "One of three videos at a load of .96, first seed.".into(),
        panels: shown(results).flat_map(panel).collect(),
    }
}

fn fig_7(results: &Results) -> Figure {
    let plots = [
        OverTime { title: "(a) Received rate", y: Axis::new("rate", "kb/s"), of: |second| second.received_kbps },
        OverTime { title: "(b) Playable frames", y: Axis::new("frames per second", ""), of: |second| second.played },
        OverTime { title: "(c) Buffer", y: Axis::new("media time", "s"), of: |second| second.buffer_s },
    ];
    let panel = |setting| plots.each_ref().map(|plot| over_time(results, Condition::Congested, &BOTH, setting, plot));
    Figure {
        name: "Fig. 7",
        caption:
            "One video; a source without feedback fills the link from 8.5 to 38.5 s and from 45.4 to 46.4 s. First \
                  seed."
                .into(),
        panels: shown(results).flat_map(panel).collect(),
    }
}

fn fig_8(results: &Results) -> Figure {
    let panel = |setting: Setting| {
        let record = results.with(setting).record(Condition::Pair, Subject::R3cpPlus, 1).cloned();
        let curve = |(nth, seconds): (usize, &Vec<Second>)| {
            let points = seconds.iter().enumerate().map(|(at, second)| (at as f64 + 1.0, second.received_kbps));
            Series::curve(["first video", "second video"][nth.min(1)], points.collect())
        };
        Panel {
            title: format!("Received rate, {}", setting.name()),
            x: Axis::new("time", "s"),
            y: Axis::new("rate", "kb/s"),
            series: record.iter().flat_map(|record| record.seconds.iter().enumerate()).map(curve).collect(),
        }
    };
    Figure {
        name: "Fig. 8",
        caption: "Two videos under R3CP+, from 0.33 and 100.19 s on, beside a source of 909 kb/s. First seed.".into(),
        panels: shown(results).map(panel).collect(),
    }
}

fn fig_9(results: &Results) -> Figure {
    let tcp: Plot = ("Goodput of all TCP flows", |record| record.tcp_mbps * 1e3);
    let video: Plot = ("Received rate of the video", |record| record.received_kbps);
    let panel = |setting: Setting, (title, of): Plot, subjects: &[Subject]| {
        let results = results.with(setting);
        let measured = |&subject: &Subject| {
            let point = |&tcp: &u32| (f64::from(tcp), results.values(Condition::Beside { tcp }, subject, of));
            Series::measured(subject, results.plan().beside.iter().map(point))
        };
        Panel {
            title: format!("{title}, {}", setting.name()),
            x: Axis::new("number of TCP flows", ""),
            y: Axis::new("rate", "kb/s"),
            series: subjects.iter().map(measured).collect(),
        }
    };
    let panels =
        shown(results).flat_map(|setting| [panel(setting, tcp, &Subject::BESIDE_TCP), panel(setting, video, &BOTH)]);
    Figure {
        name: "Fig. 9",
        caption: "TCP with and without one video on the link of 1.5 Mb/s.".into(),
        panels: panels.collect(),
    }
}

/// Table 3: the share of playable frames on three paths, in percent, under each setting.
pub fn table_3(results: &Results) -> Comparison<Subject> {
    const PAPER: [(Subject, [f64; 3]); 3] = [
        (Subject::R3cpPlus, [91.25, 90.24, 96.23]),
        (Subject::R3cp, [90.63, 93.36, 92.38]),
        (Subject::NoControl, [9.55, 8.27, 59.16]),
    ];
    let block = |setting: &Setting| {
        let results = results.with(*setting);
        let row = |(subject, paper): (Subject, [f64; 3])| {
            let cell = |(path, paper): (Path, f64)| Pair {
                paper: Some(paper),
                lab: results.estimate(Condition::Internet(path), subject, |record| record.playback * 100.0),
            };
            let cells = Path::ALL.into_iter().zip(paper).map(cell).collect();
            Entry { subject: subject.name().to_owned(), scheme: subject, cells }
        };
        (setting.name().to_owned(), PAPER.into_iter().map(row).collect())
    };
    Comparison {
        name: "Table 3",
        about:
            "Playable frames in percent. Table 2 has the round trip and the loss of the three paths: 10.2, 32.4 and \
                258.9 ms; .127, .052 and .0093. In the lab each is a link of 10 Mb/s with independent losses; what \
                else happened on the paths of the paper is not known."
                .into(),
        columns: &["NTU", "NCTU", "Stanford Univ."],
        blocks: results.plan().settings.iter().map(block).collect(),
    }
}
