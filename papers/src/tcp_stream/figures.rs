//! The figures, and plots of what the paper discusses but does not show: playback of the videos, and the windows.

use super::carrier::Carrier;
use super::condition::Condition;
use super::record::Record;
use super::results::Results;
use super::series;
use crate::figure::{self, Points, Subject};
use crate::page::Axis;

/// A figure of the paper.
pub type Figure = figure::Figure<Carrier>;
/// One plot.
pub type Panel = figure::Panel<Carrier>;
/// Points drawn as one series.
pub type Series = figure::Series<Carrier>;

/// All figures, from the jobs that have been run.
pub fn all(results: &Results) -> Vec<Figure> {
    vec![fig_3(results), fig_5(results), in_numbers(results), playing(results), windows(results)]
}

/// A plot over the number of FTP connections: its title, its axis, its carriers and its value.
struct Over<'a> {
    title: &'a str,
    y: Axis,
    carriers: &'a [Carrier],
    of: fn(&Record) -> f64,
}

/// A plot for every carrier.
fn over(title: &str, y: Axis, of: fn(&Record) -> f64) -> Over<'_> {
    Over { title, y, carriers: &Carrier::ALL, of }
}

/// The same plots for each queue.
fn for_each_queue(results: &Results, plots: &[Over<'_>]) -> Vec<Panel> {
    let panel = |queue: u32, plot: &Over<'_>| Panel {
        title: format!("{}, queue of {queue}", plot.title),
        x: Axis::new("number of TCP connections for FTP", ""),
        y: plot.y.clone(),
        series: plot.carriers.iter().map(|carrier| over_n(results, queue, *carrier, plot.of)).collect(),
    };
    results.plan().queues.iter().flat_map(|queue| plots.iter().map(|plot| panel(*queue, plot))).collect()
}

fn over_n(results: &Results, queue: u32, carrier: Carrier, of: fn(&Record) -> f64) -> Series {
    let point =
        |n_ftp: &u32| (f64::from(*n_ftp), results.values(Condition::Simulation { n_ftp: *n_ftp, queue }, carrier, of));
    Series::measured(carrier, results.plan().n_ftp.iter().map(point))
}

fn fig_3(results: &Results) -> Figure {
    let plots = [
        over("(a) Average throughput of a video", Axis::new("throughput", "Mb/s"), |record| record.video_mbps),
        over("(b) Average total throughput for FTP", Axis::new("throughput", "Mb/s"), |record| record.ftp_mbps),
        over("(c) Average packet loss probability", Axis::new("loss", "%"), |record| record.loss * 100.0),
    ];
    Figure {
        name: "Fig. 3",
        caption: "Ten videos of 3.6 Mb/s beside FTP over NewReno and 30 Mb/s of UDP on a link of 100 Mb/s. The paper \
                  compares TCP Stream with NewReno, and gives neither the queue nor the numbers of connections; the \
                  other carriers are ours."
            .into(),
        panels: for_each_queue(results, &plots),
    }
}

/// The carriers that are drawn over time.
const OVER_TIME: [Carrier; 3] = [Carrier::Printed, Carrier::VegasThresholds, Carrier::Cubic];

fn fig_5(results: &Results) -> Figure {
    let panel = |title: &str, queue: u32, of: fn(&series::Series) -> &Vec<f64>| {
        let curve = |carrier: Carrier| {
            let record = results.record(Condition::Testbed { queue }, carrier, 1)?;
            let rates = of(record.series.as_ref()?).iter().enumerate();
            // The rate of a second is drawn at its middle.
            let points = rates.map(|(second, mbps)| (second as f64 + 0.5, *mbps)).collect();
            Some(Series { name: carrier.name().to_owned(), subject: Some(carrier), points: Points::Curve(points) })
        };
        Panel {
            title: format!("{title}, queue of {queue}"),
            x: Axis::new("time", "s"),
            y: Axis::new("throughput", "Mb/s"),
            series: OVER_TIME.into_iter().filter_map(curve).collect(),
        }
    };
    let panels = results.plan().queues.iter().flat_map(|&queue| {
        [panel("(a) The video", queue, |it| &it.video), panel("(b) Background", queue, |it| &it.background)]
    });
    Figure {
        name: "Fig. 5",
        caption: "One video of 3.6 Mb/s on a link of 100 Mb/s with a round trip of 30 ms: alone from 0 to 30 s, \
                  beside one CUBIC connection from 30 to 60 s. The first seed, payload in each second."
            .into(),
        panels: panels.collect(),
    }
}

fn in_numbers(results: &Results) -> Figure {
    let mut queues = results.plan().queues.clone();
    queues.sort_unstable();
    let panel = |title: &str, of: fn(&series::Series) -> f64| {
        let measured = |carrier: Carrier| {
            let rates = |queue| results.rates(Condition::Testbed { queue }, carrier, of);
            Series::measured(carrier, queues.iter().map(|queue| (f64::from(*queue), rates(*queue))))
        };
        Panel {
            title: title.to_owned(),
            x: Axis::new("queue", "packets"),
            y: Axis::new("throughput", "Mb/s"),
            series: Carrier::ALL.into_iter().map(measured).collect(),
        }
    };
    Figure {
        name: "Fig. 5 in numbers",
        caption: "The same over all seeds, for every carrier.".into(),
        panels: vec![
            panel("The video alone, 20 to 30 s", |series| series.video_mbps(20, 30)),
            panel("The video beside CUBIC, 30 to 60 s", |series| series.video_mbps(30, 60)),
            panel("Background, 30 to 60 s", |series| series.background_mbps(30, 60)),
        ],
    }
}

/// The carriers that get their share beside FTP.
const FED: [Carrier; 5] =
    [Carrier::Printed, Carrier::VegasThresholds, Carrier::NewReno, Carrier::Cubic, Carrier::Clamp];

fn playing(results: &Results) -> Figure {
    let fed = |plot| Over { carriers: &FED, ..plot };
    let plots = [
        over("Videos that were delivered", Axis::new("share", "%"), |record| record.delivered * 100.0),
        over("Stalls of a video", Axis::new("stalls", ""), |record| record.stalls),
        fed(over("Time that a video stood still", Axis::new("time", "s"), |record| record.stalled_s)),
        over("Start-up", Axis::new("time", "s"), |record| record.start_up_s),
        fed(over("Least playout delay without a stall", Axis::new("delay", "s"), |record| record.delay_s)),
    ];
    Figure {
        name: "Playing",
        caption: "Playback in the runs of Fig. 3, about which the paper argues without showing it. Playback begins 10 \
                  s after a video's start, stops when the buffer is empty, and continues when 2 s of video are in the \
                  buffer. Start-up is the time until the first 2 s are received. The buffer holds the whole video. \
                  Vegas starves beside FTP, and is left out where its times would determine the scale of the figure."
            .into(),
        panels: for_each_queue(results, &plots),
    }
}

fn windows(results: &Results) -> Figure {
    let plots = [
        over("lwnd", Axis::new("window", "packets"), |record| record.windows.lwnd),
        over("dwnd", Axis::new("window", "packets"), |record| record.windows.dwnd),
        over("dwnd over swnd", Axis::new("share", "%"), |record| record.windows.share_of_dwnd() * 100.0),
        over("The ceiling of lwnd", Axis::new("window", "packets"), |record| record.windows.cap),
        over("Diff", Axis::new("packets in the queue", ""), |record| record.windows.diff),
        over("Time with the delay window at work", Axis::new("share", "%"), |it| it.windows.delay_on * 100.0),
    ];
    Figure {
        name: "The windows",
        caption:
            "TCP Stream's windows in the runs of Fig. 3, averaged over videos and time while videos are under way."
                .into(),
        panels: for_each_queue(results, &plots.map(|plot| Over { carriers: &Carrier::OURS, ..plot })),
    }
}
