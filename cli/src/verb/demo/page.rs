//! The table on the terminal and the report.

use std::path::Path;

use thalweg_core::time::Time;

use super::cast::LATENCY;
use super::picture::{Moment, Still};
use super::take::{Stage, Take};
use super::words::{Result, conclusion, name, or_unknown, percent};
use super::{Showing, picture};
use crate::report::{Axis, Figure, Image, Line, Number, Page, Plot, Row, Section, Table, Tone};

/// The report.
pub(super) fn page(stage: &Stage, input: &Path, showings: &[Showing], moment: Option<&Moment>) -> Page {
    let takes: Vec<&Take> = showings.iter().map(|showing| &showing.take).collect();
    let results: Vec<Result> = takes.iter().map(|take| Result::of(take)).collect();
    let numbers = showings.iter().enumerate().map(|(nth, showing)| number(nth, showing)).collect();
    let mut sections = Vec::from_iter(moment.map(|moment| stills(moment, &takes)));
    sections.push(Section {
        title: "Result".into(),
        text: warnings(showings),
        figures: vec![Figure::Table(table(stage, showings))],
    });
    sections.extend([repair(&takes), loss(&takes), rate_and_latency(&takes), method(stage, input, &takes)]);
    Page {
        title: "A video over a lossy link".into(),
        head: invalid(&takes).map(Figure::Alert).into_iter().chain([Figure::Numbers(numbers)]).collect(),
        summary: conclusion(&results),
        sections,
    }
}

/// Why nothing here is to be believed, if a machine that was too busy has lost what the link did not.
pub(super) fn invalid(takes: &[&Take]) -> Option<String> {
    let fault = |take: &&Take| Some(format!("{}: {}", name(&take.repair), take.fault()?));
    let faults: Vec<String> = takes.iter().filter_map(fault).collect();
    let because = "this machine was too busy, so that not only the link lost packets";
    (!faults.is_empty()).then(|| format!("invalid: run again; {because} ({})", faults.join("; ")))
}

/// Loss of a run after repair, and the overhead that it took.
fn number(nth: usize, showing: &Showing) -> Number {
    let take = &showing.take;
    let damaged = showing.picture.map(|picture| format!("; {} of {} frames damaged", picture.damaged, picture.frames));
    let overhead = take.overhead().map(|overhead| format!(" {} more bytes than media.", percent(overhead)));
    Number {
        subject: name(&take.repair),
        tone: tone(nth),
        value: percent(take.delivery.loss()),
        caption: format!("lost for good{}.{}", damaged.unwrap_or_default(), overhead.unwrap_or_default()),
    }
}

/// The same moment in every run.
fn stills(moment: &Moment, takes: &[&Take]) -> Section {
    let image = |(nth, (still, take)): (usize, (&Still, &&Take))| Image {
        jpeg: still.jpeg.clone(),
        width: still.size.width,
        height: still.size.height,
        subject: name(&take.repair),
        tone: tone(nth),
        caption: still.fidelity.psnr().map_or("as it was sent".into(), |db| format!("differs, PSNR {db:.1} dB")),
    };
    let images = moment.stills.iter().zip(takes).enumerate().map(image).collect();
    Section {
        title: "The same moment".into(),
        text: vec![format!(
            "The frame {:.2} s after the start, as a viewer would have seen it. Of all frames that were decoded it is the one in              which the runs differ most.",
            moment.at.as_secs_f64()
        )],
        figures: vec![Figure::Images(images)],
    }
}

/// One row a run.
pub(super) fn table(stage: &Stage, showings: &[Showing]) -> Table {
    let pictures = showings.iter().any(|showing| showing.picture.is_some());
    let damaged = format!("damaged, first {}", picture::compared(stage.length));
    let mut head =
        vec!["repair", "lost on link", "lost after repair", "bursts", "overhead", "p50 ms", "p99 ms", "max ms", "CPU"];
    if pictures {
        head.extend([&damaged, "PSNR"]);
    }
    let row = |(nth, showing): (usize, &Showing)| {
        let mut cells = cells(&showing.take);
        if pictures {
            let damaged = showing.picture.map(|picture| format!("{} of {} frames", picture.damaged, picture.frames));
            let psnr = showing
                .picture
                .map(|picture| picture.psnr().map_or("no difference".into(), |db| format!("{db:.1} dB")));
            cells.extend([or_unknown(damaged), or_unknown(psnr)]);
        }
        Row { subject: name(&showing.take.repair), tone: Some(tone(nth)), cells }
    };
    Table { head: head.into_iter().map(String::from).collect(), rows: showings.iter().enumerate().map(row).collect() }
}

fn cells(take: &Take) -> Vec<String> {
    let delivery = &take.delivery;
    let latency = |quantile| or_unknown(delivery.latency_ms(quantile).map(|ms| format!("{ms:.1}")));
    vec![
        or_unknown(take.link.loss().map(percent)),
        format!("{} ({})", percent(delivery.loss()), delivery.lost),
        or_unknown(take.bursty_events().map(|events| format!("{events:.0}"))),
        or_unknown(take.overhead().map(percent)),
        latency(0.5),
        latency(0.99),
        latency(1.0),
        or_unknown(take.cpu.map(percent)),
    ]
}

/// Notes for the reader.
pub(super) fn warnings(showings: &[Showing]) -> Vec<String> {
    let warn = |showing: &Showing| {
        let (take, delivery) = (&showing.take, &showing.take.delivery);
        (delivery.reordered + delivery.unexpected > 0).then(|| {
            format!(
                "{}: {} datagrams came out of order and {} came twice or were never sent.",
                name(&take.repair),
                delivery.reordered,
                delivery.unexpected
            )
        })
    };
    showings.iter().filter_map(warn).collect()
}

fn repair(takes: &[&Take]) -> Section {
    let w = |take: &Take| send(take, "w_packets", 1.0);
    Section {
        title: "How much repair".into(),
        text: vec![
            "The repair window is the number of repair packets that follow each block of media. W is GENEVA's whole \
             window, media and repair of one round trip; it grows with each loss and shrinks with each delivery."
                .into(),
        ],
        figures: vec![
            Figure::Plot(over_time(takes, "Repair window, mean over each second", "packets a block", window)),
            Figure::Plot(over_time(takes, "W, the whole window, once a second", "packets", w)),
        ],
    }
}

/// Repair packets a block. The law moves its window a hundred times a second: the counters tell the mean of what it did,
/// the gauge only what it did last.
fn window(take: &Take) -> Vec<(f64, f64)> {
    let block = send(take, "block_packets", 1.0);
    let repair = send(take, "repair_packets_total", 1.0);
    let source = send(take, "source_packets_total", 1.0);
    if repair.iter().all(|sent| sent.1 == 0.0) {
        // Without repair there are no blocks either.
        return repair;
    }
    let rows = repair.windows(2).zip(source.windows(2)).zip(block.iter().skip(1));
    rows.map(|((repair, source), block)| (block.0, block.1 * (repair[1].1 - repair[0].1) / (source[1].1 - source[0].1)))
        .collect()
}

/// On the link and after repair, a plot a run, all on one scale.
fn loss(takes: &[&Take]) -> Section {
    let all = takes.iter().flat_map(|take| losses(take)).flatten();
    let top = all.map(|point| point.1).filter(|loss| loss.is_finite()).fold(0.0, f64::max);
    let plot = |(nth, take): (usize, &&Take)| {
        let [link, after] = losses(take);
        Figure::Plot(Plot {
            title: name(&take.repair),
            x: time(take),
            y: Axis::new("lost", "%").up_to(top),
            lines: vec![Line::new("on the link", Tone::QUIET, link), Line::new("after repair", tone(nth), after)],
        })
    };
    Section {
        title: "Loss, second by second".into(),
        text: vec![
            "Of what was sent since the point before: packets that the link lost, and datagrams of the video that never came out.              Both curves have the same points and one clock."
                .into(),
        ],
        figures: takes.iter().enumerate().map(plot).collect(),
    }
}

/// Percent lost on the link and after repair in the same intervals, which the relay's counts make.
fn losses(take: &Take) -> [Vec<(f64, f64)>; 2] {
    let link = take.link.losses(take.from, take.to);
    let ends: Vec<Time> = link.iter().map(|point| point.0).collect();
    let after = take.delivery.losses(&ends);
    let point = |(end, loss): (&Time, f64)| (end.since(take.from).as_secs_f64(), loss * 100.0);
    [link.iter().map(|(end, loss)| point((end, *loss))).collect(), ends.iter().zip(after).map(point).collect()]
}

fn rate_and_latency(takes: &[&Take]) -> Section {
    let rate = over_time(takes, "Rate on the wire, repair included", "Mb/s", |take| send(take, "wire_rate_bps", 1e-6));
    let line = |(nth, take): (usize, &&Take)| Line::new(&name(&take.repair), tone(nth), take.delivery.latency_cdf());
    let latency = Plot {
        title: "Latency from input to output".into(),
        x: Axis::new("latency", "ms"),
        y: Axis::new("datagrams that took no longer", "%"),
        lines: takes.iter().enumerate().map(line).collect(),
    };
    Section {
        title: "What it costs".into(),
        text: vec![format!(
            "Repair takes rate, and waiting for it takes time. Both ends were told to keep within {LATENCY}. The slowest 0.1 % of \
             the datagrams are in the table alone."
        )],
        figures: vec![Figure::Plot(rate), Figure::Plot(latency)],
    }
}

fn method(stage: &Stage, input: &Path, takes: &[&Take]) -> Section {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let mut text = vec![
        format!(
            "{} (MPEG-TS, {:.1} Mb/s) was played in a loop for {} a run on a machine with {cores} cores. Each run is three \
             processes on loopback: send, emulate and recv. The link is {}; its seed is the same in every run. One process \
             feeds the video in and takes it out: it finds every datagram again by its content, so that loss and latency \
             come from one clock.",
            input.display(),
            stage.film.rate.as_mbps_f64(),
            stage.length,
            stage.scenario.display(),
        ),
        "Lost on link counts media and repair packets, as the relay that emulates the link has lost them. A burst is four or more packets lost \
         in a row. Overhead is all bytes on the wire over media bytes, minus one. CPU is that of sender and receiver, where \
         100 % is one core."
            .into(),
    ];
    if picture::is_possible() {
        text.push(format!(
            "The first {} of what arrived were decoded by ffmpeg and compared with the original; a frame is damaged if any \
             pixel differs, and a missing frame leaves the one before it on the screen. PSNR is that of the luma over all \
             frames.",
            picture::compared(stage.length)
        ));
    }
    let repair = takes.last().map_or("geneva", |take| &take.repair);
    let scenario = stage.scenario.display();
    let commands = format!(
        "thalweg recv --listen 127.0.0.1:6000 --output udp://127.0.0.1:7000 --latency {LATENCY}\n\
         thalweg emulate {scenario} --listen 127.0.0.1:5500 --to 127.0.0.1:6000\n\
         thalweg send --input udp://127.0.0.1:5000 --to 127.0.0.1:5500 --repair {repair} --latency {LATENCY}\n"
    );
    Section { title: "How it was measured".into(), text, figures: vec![Figure::Code(commands)] }
}

fn over_time(takes: &[&Take], title: &str, unit: &str, points: impl Fn(&Take) -> Vec<(f64, f64)>) -> Plot {
    let lines = takes.iter().enumerate().map(|(nth, take)| Line::new(&name(&take.repair), tone(nth), points(take)));
    Plot {
        title: title.into(),
        x: takes.first().map_or(Axis::new("time", "s"), |take| time(take)),
        y: Axis::new(unit, ""),
        lines: lines.filter(|line| !line.points.is_empty()).collect(),
    }
}

/// The axis of the video's time, the same in every plot.
fn time(take: &Take) -> Axis {
    Axis::new("time", "s").up_to(take.to.since(take.from).as_secs_f64())
}

/// A metric of the sender while the video was played.
fn send(take: &Take, metric: &str, scale: f64) -> Vec<(f64, f64)> {
    take.send.points(metric, take.from, take.to).into_iter().map(|(t, value)| (t, value * scale)).collect()
}

fn tone(nth: usize) -> Tone {
    // The background's tone is nobody's.
    Tone([0, 1, 2, 3, 5][nth % 5])
}
