//! The table on the terminal and the report.

use std::path::Path;

use thalweg_core::time::Time;
use thalweg_papers::page::{Axis, Element, Image, Line, Number, Page, Plot, Row, Section, Table, Tone};

use super::chain::LATENCY;
use super::picture::{Moment, Still};
use super::run::{Run, Setup};
use super::words::{Result, conclusion, name, or_unknown, percent};
use super::{Outcome, picture};

/// The report.
pub(super) fn page(setup: &Setup, input: &Path, outcomes: &[Outcome], moment: Option<&Moment>) -> Page {
    let runs: Vec<&Run> = outcomes.iter().map(|outcome| &outcome.run).collect();
    let results: Vec<Result> = runs.iter().map(|run| Result::of(run)).collect();
    let numbers = outcomes.iter().enumerate().map(|(nth, outcome)| number(nth, outcome)).collect();
    let mut sections = Vec::from_iter(moment.map(|moment| stills(moment, &runs)));
    sections.push(Section {
        title: "Result".into(),
        text: warnings(outcomes),
        elements: vec![Element::Table(table(setup, outcomes))],
    });
    sections.extend([repair(&runs), loss(&runs), rate_and_latency(&runs), method(setup, input, &runs)]);
    Page {
        title: "A video over a lossy link".into(),
        head: invalid(&runs).map(Element::Alert).into_iter().chain([Element::Numbers(numbers)]).collect(),
        summary: conclusion(&results),
        sections,
    }
}

/// The reason that the results are invalid, if the machine was so busy that it lost packets beside those of the link.
pub(super) fn invalid(runs: &[&Run]) -> Option<String> {
    let fault = |run: &&Run| Some(format!("{}: {}", name(&run.repair), run.fault()?));
    let faults: Vec<String> = runs.iter().filter_map(fault).collect();
    let because = "this machine was too busy and lost packets itself";
    (!faults.is_empty()).then(|| format!("invalid: run again; {because} ({})", faults.join("; ")))
}

/// Loss of a run after repair, and the overhead that it took.
fn number(nth: usize, outcome: &Outcome) -> Number {
    let run = &outcome.run;
    let damaged = outcome.picture.map(|picture| format!("; {} of {} frames damaged", picture.damaged, picture.frames));
    let overhead = run.overhead().map(|overhead| format!(" {} more bytes than media.", percent(overhead)));
    Number {
        subject: name(&run.repair),
        tone: tone(nth),
        value: percent(run.delivery.loss()),
        caption: format!("lost after repair{}.{}", damaged.unwrap_or_default(), overhead.unwrap_or_default()),
    }
}

/// The same moment in every run.
fn stills(moment: &Moment, runs: &[&Run]) -> Section {
    let image = |(nth, (still, run)): (usize, (&Still, &&Run))| Image {
        jpeg: still.jpeg.clone(),
        width: still.size.width,
        height: still.size.height,
        subject: name(&run.repair),
        tone: tone(nth),
        caption: still.fidelity.psnr().map_or("as it was sent".into(), |db| format!("damaged, PSNR {db:.1} dB")),
    };
    let images = moment.stills.iter().zip(runs).enumerate().map(image).collect();
    Section {
        title: "The same moment".into(),
        text: vec![format!(
            "The frame {:.2} s after the start, as a viewer would have seen it: of all decoded frames the one in which \
             the runs differ most.",
            moment.at.as_secs_f64()
        )],
        elements: vec![Element::Images(images)],
    }
}

/// One row a run.
pub(super) fn table(setup: &Setup, outcomes: &[Outcome]) -> Table {
    let pictures = outcomes.iter().any(|outcome| outcome.picture.is_some());
    let damaged = format!("damaged, first {}", picture::compared(setup.length));
    let mut head =
        vec!["repair", "lost on link", "lost after repair", "bursts", "overhead", "p50 ms", "p99 ms", "max ms", "CPU"];
    if pictures {
        head.extend([&damaged, "PSNR"]);
    }
    let row = |(nth, outcome): (usize, &Outcome)| {
        let mut cells = cells(&outcome.run);
        if pictures {
            let damaged = outcome.picture.map(|picture| format!("{} of {} frames", picture.damaged, picture.frames));
            let psnr = outcome
                .picture
                .map(|picture| picture.psnr().map_or("no difference".into(), |db| format!("{db:.1} dB")));
            cells.extend([or_unknown(damaged), or_unknown(psnr)]);
        }
        Row { subject: name(&outcome.run.repair), tone: Some(tone(nth)), cells }
    };
    Table { head: head.into_iter().map(String::from).collect(), rows: outcomes.iter().enumerate().map(row).collect() }
}

fn cells(run: &Run) -> Vec<String> {
    let delivery = &run.delivery;
    let latency = |quantile| or_unknown(delivery.latency_ms(quantile).map(|ms| format!("{ms:.1}")));
    vec![
        or_unknown(run.link.loss().map(percent)),
        format!("{} ({})", percent(delivery.loss()), delivery.lost),
        or_unknown(run.bursty_events().map(|events| format!("{events:.0}"))),
        or_unknown(run.overhead().map(percent)),
        latency(0.5),
        latency(0.99),
        latency(1.0),
        or_unknown(run.cpu.map(percent)),
    ]
}

/// Notes for the reader.
pub(super) fn warnings(outcomes: &[Outcome]) -> Vec<String> {
    let warn = |outcome: &Outcome| {
        let (run, delivery) = (&outcome.run, &outcome.run.delivery);
        (delivery.reordered + delivery.unexpected > 0).then(|| {
            format!(
                "{}: {} datagrams were delivered out of order, {} twice or without having been sent.",
                name(&run.repair),
                delivery.reordered,
                delivery.unexpected
            )
        })
    };
    outcomes.iter().filter_map(warn).collect()
}

fn repair(runs: &[&Run]) -> Section {
    let w = |run: &Run| send(run, "w_packets", 1.0);
    Section {
        title: "Amount of repair".into(),
        text: vec![
            "The repair window is the number of repair packets that follow each block of media. W is GENEVA's whole \
             window, media and repair of one round trip; it grows with each loss and shrinks with each delivery."
                .into(),
        ],
        elements: vec![
            Element::Plot(over_time(runs, "Repair window, mean over each second", "packets a block", window)),
            Element::Plot(over_time(runs, "W, the whole window, once a second", "packets", w)),
        ],
    }
}

/// Repair packets a block. The law updates its window a hundred times a second: the counters give the mean, the gauge
/// only the last value.
fn window(run: &Run) -> Vec<(f64, f64)> {
    let block = send(run, "block_packets", 1.0);
    let repair = send(run, "repair_packets_total", 1.0);
    let source = send(run, "source_packets_total", 1.0);
    if repair.iter().all(|sent| sent.1 == 0.0) {
        // Without repair there are no blocks either.
        return repair;
    }
    let rows = repair.windows(2).zip(source.windows(2)).zip(block.iter().skip(1));
    rows.map(|((repair, source), block)| (block.0, block.1 * (repair[1].1 - repair[0].1) / (source[1].1 - source[0].1)))
        .collect()
}

/// Loss on the link and after repair, a plot a run, all on one scale.
fn loss(runs: &[&Run]) -> Section {
    let all = runs.iter().flat_map(|run| losses(run)).flatten();
    let top = all.map(|point| point.1).filter(|loss| loss.is_finite()).fold(0.0, f64::max);
    let plot = |(nth, run): (usize, &&Run)| {
        let [link, after] = losses(run);
        Element::Plot(Plot {
            title: name(&run.repair),
            x: time(run),
            y: Axis::new("lost", "%").up_to(top),
            lines: vec![Line::new("on the link", Tone::QUIET, link), Line::new("after repair", tone(nth), after)],
        })
    };
    Section {
        title: "Loss, second by second".into(),
        text: vec![
            "Of the packets sent since the previous point, the share that the link lost; of the video's datagrams, the \
             share that was not delivered. Both curves have the same points and one clock."
                .into(),
        ],
        elements: runs.iter().enumerate().map(plot).collect(),
    }
}

/// Percent lost on the link and after repair, both in the intervals between the relay's reports.
fn losses(run: &Run) -> [Vec<(f64, f64)>; 2] {
    let link = run.link.losses(run.from, run.to);
    let ends: Vec<Time> = link.iter().map(|point| point.0).collect();
    let after = run.delivery.losses(&ends);
    let point = |(end, loss): (&Time, f64)| (end.since(run.from).as_secs_f64(), loss * 100.0);
    [link.iter().map(|(end, loss)| point((end, *loss))).collect(), ends.iter().zip(after).map(point).collect()]
}

fn rate_and_latency(runs: &[&Run]) -> Section {
    let rate = over_time(runs, "Rate on the wire, repair included", "Mb/s", |run| send(run, "wire_rate_bps", 1e-6));
    let line = |(nth, run): (usize, &&Run)| Line::new(&name(&run.repair), tone(nth), run.delivery.latency_cdf());
    let latency = Plot {
        title: "Latency from input to output".into(),
        x: Axis::new("latency", "ms"),
        y: Axis::new("datagrams within this latency", "%"),
        lines: runs.iter().enumerate().map(line).collect(),
    };
    Section {
        title: "Rate and latency".into(),
        text: vec![format!(
            "Repair adds to the rate, and waiting for it to the latency. Sender and receiver ran with --latency \
             {LATENCY}. The slowest 0.1 % of the datagrams are only in the table."
        )],
        elements: vec![Element::Plot(rate), Element::Plot(latency)],
    }
}

fn method(setup: &Setup, input: &Path, runs: &[&Run]) -> Section {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let mut text = vec![
        format!(
            "{} (MPEG-TS, {:.1} Mb/s) was looped for {} in each run, on a machine with {cores} cores. Each run is three \
             processes on loopback: send, emulate and recv. The link is {}; its seed is the same in every run. One more \
             process is source and sink of the video: it recognizes every datagram by its content, so that loss and latency \
             are measured by one clock.",
            input.display(),
            setup.video.rate.as_mbps_f64(),
            setup.length,
            setup.scenario.display(),
        ),
        "Lost on link is the share of media and repair packets that the emulated link lost. A burst is four or more packets \
         lost in a row. Overhead is all bytes on the wire over media bytes, minus one. CPU is the processor time of sender \
         and receiver, where 100 % is one core."
            .into(),
    ];
    if picture::is_possible() {
        text.push(format!(
            "ffmpeg decoded the first {} of each received video for a comparison with the original. A frame is damaged \
             if any pixel differs; a missing frame leaves the previous one on the screen. PSNR is that of the luma over \
             all frames.",
            picture::compared(setup.length)
        ));
    }
    let repair = runs.last().map_or("geneva", |run| &run.repair);
    let scenario = setup.scenario.display();
    let commands = format!(
        "thalweg recv --listen 127.0.0.1:6000 --output udp://127.0.0.1:7000 --latency {LATENCY}\n\
         thalweg emulate {scenario} --listen 127.0.0.1:5500 --to 127.0.0.1:6000\n\
         thalweg send --input udp://127.0.0.1:5000 --to 127.0.0.1:5500 --repair {repair} --latency {LATENCY}\n"
    );
    Section { title: "How it was measured".into(), text, elements: vec![Element::Code(commands)] }
}

fn over_time(runs: &[&Run], title: &str, unit: &str, points: impl Fn(&Run) -> Vec<(f64, f64)>) -> Plot {
    let lines = runs.iter().enumerate().map(|(nth, run)| Line::new(&name(&run.repair), tone(nth), points(run)));
    Plot {
        title: title.into(),
        x: runs.first().map_or(Axis::new("time", "s"), |run| time(run)),
        y: Axis::new(unit, ""),
        lines: lines.filter(|line| !line.points.is_empty()).collect(),
    }
}

/// The axis of the video's time, the same in every plot.
fn time(run: &Run) -> Axis {
    Axis::new("time", "s").up_to(run.to.since(run.from).as_secs_f64())
}

/// A metric of the sender while the video was played.
fn send(run: &Run, metric: &str, scale: f64) -> Vec<(f64, f64)> {
    run.send.points(metric, run.from, run.to).into_iter().map(|(t, value)| (t, value * scale)).collect()
}

fn tone(nth: usize) -> Tone {
    // No run has the tone of the background.
    Tone([0, 1, 2, 3, 5][nth % 5])
}
