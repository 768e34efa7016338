//! The table on the terminal and the report.

use thalweg_core::time::Span;
use thalweg_papers::page::{Axis, Element, Line, Number, Page, Plot, Row, Section, Table, Tone};

use super::run::{Run, Stream};
use super::{SETTLING, STREAMS, Way};

/// The report.
pub(super) fn page(runs: &[Run], length: Span) -> Page {
    let numbers = runs.iter().enumerate().map(|(nth, run)| number(nth, run)).collect();
    let result = Section {
        title: "Result".into(),
        text: vec![format!(
            "Means of the media that arrived after the first {SETTLING}. Satisfaction is the rate that arrived over the rate that the \
             stream needs."
        )],
        elements: vec![Element::Table(table(runs))],
    };
    Page {
        title: "Three streams over one Wi-Fi".into(),
        head: invalid(runs).map(Element::Alert).into_iter().chain([Element::Numbers(numbers)]).collect(),
        summary: conclusion(runs),
        sections: vec![result, over_time(runs, length), method(length)],
    }
}

/// The reason that the results are invalid, if the machine was so busy that it lost packets beside those of the path.
pub(super) fn invalid(runs: &[Run]) -> Option<String> {
    let fault = |run: &Run| Some(format!("{}: {}", run.way.name(), run.fault.as_ref()?));
    let faults: Vec<String> = runs.iter().filter_map(fault).collect();
    let because = "this machine was too busy and lost packets itself";
    (!faults.is_empty()).then(|| format!("invalid: run again; {because} ({})", faults.join("; ")))
}

fn percent(share: f64) -> String {
    format!("{:.0}\u{a0}%", 100.0 * share)
}

/// The spread of a run.
fn number(nth: usize, run: &Run) -> Number {
    let each = |stream: &Stream| format!("{} {}", stream.name, percent(stream.satisfaction()));
    let all: Vec<String> = run.streams.iter().map(each).collect();
    Number {
        subject: run.way.name().to_owned(),
        tone: tone(nth),
        value: format!("{:.2}", run.spread()),
        caption: format!("spread of satisfaction: {} of what each needs.", all.join(", ")),
    }
}

/// One row a stream and run.
pub(super) fn table(runs: &[Run]) -> Table {
    let head = ["way", "stream", "needs", "gets", "satisfaction", "alpha"].map(String::from).to_vec();
    let rows = runs.iter().enumerate().flat_map(|(nth, run)| {
        run.streams.iter().map(move |stream| Row {
            subject: run.way.name().to_owned(),
            tone: Some(tone(nth)),
            cells: vec![
                stream.name.to_owned(),
                format!("{:.0} Mb/s", stream.need),
                format!("{:.2} Mb/s", stream.rate()),
                percent(stream.satisfaction()),
                format!("{:.2}", stream.greediness()),
            ],
        })
    });
    Table { head, rows: rows.collect() }
}

/// One sentence: the spreads of both ways, and all that arrived.
fn conclusion(runs: &[Run]) -> String {
    let [tfrc, shared] = runs else { return String::new() };
    let sum = |run: &Run| run.streams.iter().map(Stream::rate).sum::<f64>();
    let least = |run: &Run| run.streams.iter().map(Stream::satisfaction).fold(f64::INFINITY, f64::min);
    format!(
        "With TFRC the least satisfied stream got {} of what it needs, shared by need {}; the spread of satisfaction \
         was {:.2} and {:.2}. Together they got {:.1} and {:.1} Mb/s of the {} that they need.",
        percent(least(tfrc)),
        percent(least(shared)),
        tfrc.spread(),
        shared.spread(),
        sum(tfrc),
        sum(shared),
        STREAMS.iter().map(|stream| stream.1).sum::<u64>(),
    )
}

/// Rates, a plot a run, both on one scale; and the parameters of the second.
fn over_time(runs: &[Run], length: Span) -> Section {
    let top = STREAMS.iter().map(|stream| stream.1).max().unwrap_or_default() as f64;
    let time = || Axis::new("time", "s").up_to(length.as_secs_f64());
    let plot = |title: String, y: Axis, streams: &[Stream], points: fn(&Stream) -> &Vec<(f64, f64)>| {
        let line = |(nth, stream): (usize, &Stream)| {
            Line::new(&format!("{}, needs {:.0} Mb/s", stream.name, stream.need), tone(nth), points(stream).clone())
        };
        Element::Plot(Plot { title, x: time(), y, lines: streams.iter().enumerate().map(line).collect() })
    };
    let rates = runs.iter().map(|run| {
        let y = Axis::new("arrived", "Mb/s").up_to(top);
        plot(format!("Rate, {}", run.way.name()), y, &run.streams, |stream| &stream.arrived)
    });
    let shared = runs.iter().filter(|run| run.way == Way::Shared);
    let alphas =
        shared.map(|run| plot("Alpha, by need".into(), Axis::new("alpha", ""), &run.streams, |stream| &stream.alpha));
    Section {
        title: "Rates, second by second".into(),
        text: vec![
            "The media that each receiver got. Alpha is how greedy a stream is: 1 as a TCP, and its rate grows with the square root."
                .into(),
        ],
        elements: rates.chain(alphas).collect(),
    }
}

fn method(length: Span) -> Section {
    let text = format!(
        "Each run took {length}: one share, an emulated Wi-Fi cell of 802.11g and three recv on loopback. The streams follow the rate \
         that share wants from them, once a second, up to what they need, without repair. In the first run each is in a group of its \
         own, so that it is as greedy as a TCP (TFRC); in the second all are in one. The configurations are beside this page."
    );
    let commands = "thalweg recv --listen 127.0.0.1:7001 --output udp://127.0.0.1:9000    # and 7002, 7003\n\
        thalweg emulate share --listen :6001 --to 127.0.0.1:7001 \\\n    --listen :6002 --to 127.0.0.1:7002 --listen :6003 --to 127.0.0.1:7003\n\
        thalweg share share.toml\n";
    Section { title: "How it was measured".into(), text: vec![text], elements: vec![Element::Code(commands.into())] }
}

fn tone(nth: usize) -> Tone {
    Tone([0, 1, 2][nth % 3])
}
