//! Files of one run that are written while it runs: `intervals-SEED.csv`, `packets-SEED.csv`, `packets-SEED.pcap`.

use std::fmt::Write as _;
use std::fs;

use serde_json::json;
use thalweg_core::time::{Span, Time};
use thalweg_core::units::Bytes;
use thalweg_lab::experiment::{Kind, Run};
use thalweg_lab::node::watched::{Entry, Event};
use thalweg_lab::packet::{Body, Packet};
use thalweg_lab::tcp::Segment;

use super::{Output, Table, capture, cell, quoted};
use crate::Failure;

/// Whoever watches one run.
pub(in super::super) struct Watch {
    /// What the ends of every flow show, every so often.
    intervals: Option<Intervals>,
    /// Every packet at the first hop.
    packets: Option<Table>,
    /// Those that leave it.
    capture: Option<Table>,
}

struct Intervals {
    table: Table,
    /// The same as JSON lines.
    lines: Table,
    every: Span,
}

/// Where a packet goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Way {
    Forward,
    Backward,
}

/// Packets of no more than this are held in memory.
const HELD: Span = Span::from_millis(20);
/// So much is run between two looks at whether the end was asked for: on a link of 1 Gb/s less than a millisecond's work.
const TURN: Span = Span::from_millis(10);

impl Watch {
    /// Watches the run of `scheme` with `seed`, as far as `output` asks for it.
    pub(in super::super) fn new(output: &Output, scheme: &str, seed: u64, run: &mut Run) -> Result<Watch, Failure> {
        let mut watch = Watch { intervals: None, packets: None, capture: None };
        let Some(folder) = &output.folder else { return Ok(watch) };
        let path = |what: &str, ending: &str| folder.path.join(file(what, scheme, seed, ending));
        if let Some(interval) = folder.interval {
            let table = Table::create(path("intervals", "csv"), "t_s,flow,group,probe,value\n")?;
            let lines = Table::create(path("intervals", "jsonl"), "")?;
            watch.intervals = Some(Intervals { table, lines, every: interval });
        }
        if folder.trace {
            let header = "t_s,event,way,flow,size_bytes,number\n";
            watch.packets = Some(Table::create(path("packets", "csv"), header)?);
        }
        if folder.pcap {
            watch.capture = Some(Table::create(path("packets", "pcap"), capture::header())?);
        }
        if folder.trace || folder.pcap {
            run.network_mut().watch(0);
        }
        Ok(watch)
    }

    /// When it must look again at a run, which stands at `now`.
    pub(in super::super) fn next(&self, now: Time) -> Time {
        let held = self.packets.is_some() || self.capture.is_some();
        let next = now + if held { HELD } else { TURN };
        match &self.intervals {
            Some(Intervals { every, .. }) => next.min(Time::ZERO + *every * (now.as_nanos() / every.as_nanos() + 1)),
            None => next,
        }
    }

    /// Looks at the run, which stands at `now`.
    pub(in super::super) fn look(&mut self, now: Time, run: &mut Run) -> Result<(), Failure> {
        if let Some(Intervals { table, lines, every }) = &mut self.intervals
            && (now.as_nanos().is_multiple_of(every.as_nanos()) || now == run.end())
        {
            let (rows, objects) = probes(now, run);
            table.write(rows)?;
            lines.write(objects)?;
        }
        if self.packets.is_none() && self.capture.is_none() {
            return Ok(());
        }
        let [forward, backward] = run.network_mut().take_log(0);
        let ways = [(Way::Forward, forward), (Way::Backward, backward)];
        let mut entries: Vec<(Way, Entry)> =
            ways.into_iter().flat_map(|(way, log)| log.into_iter().map(move |entry| (way, entry))).collect();
        entries.sort_by_key(|(_, entry)| entry.at);
        for (way, entry) in &entries {
            if let Some(table) = &mut self.packets {
                table.write(row(*way, entry))?;
            }
            if let (Some(table), Event::Left) = (&mut self.capture, entry.event) {
                table.write(capture::record(entry.at, *way, &entry.packet, mss(run, entry.packet.flow)))?;
            }
        }
        Ok(())
    }

    fn tables(self) -> impl Iterator<Item = Table> {
        let (table, lines) = self.intervals.map(|it| (it.table, it.lines)).unzip();
        [table, lines, self.packets, self.capture].into_iter().flatten()
    }

    /// Leaves complete files.
    pub(in super::super) fn end(self) -> Result<(), Failure> {
        self.tables().try_for_each(|mut table| table.flush())
    }

    /// Leaves nothing of a run that did not reach its end.
    pub(in super::super) fn abandon(self) {
        for table in self.tables() {
            let _ = fs::remove_file(&table.path);
        }
    }
}

/// What the ends of every flow show, as rows of CSV and as lines of JSON.
fn probes(now: Time, run: &Run) -> (String, String) {
    let (mut text, mut lines) = (String::new(), String::new());
    for (flow, group) in (0..).map_while(|flow| run.group_of(flow).map(|group| (flow, group))) {
        let (at, group) = (now.as_secs_f64(), &run.groups()[group].name);
        let start = format!("{at},{flow},{}", quoted(group));
        run.probe(flow, &mut |name, value| {
            let _ = writeln!(text, "{start},{name},{}", cell(value));
            let object = json!({ "t_s": at, "flow": flow, "group": group, "probe": name, "value": value });
            let _ = writeln!(lines, "{object}");
        });
    }
    (text, lines)
}

fn row(way: Way, entry: &Entry) -> String {
    let Entry { at, event, packet } = entry;
    let event = match event {
        Event::Came => "came",
        Event::Dropped => "dropped",
        Event::Left => "left",
    };
    let way = match way {
        Way::Forward => "forward",
        Way::Backward => "backward",
    };
    let number = number(packet).map_or(String::new(), |number| number.to_string());
    format!("{},{event},{way},{},{},{number}\n", at.as_secs_f64(), packet.flow, packet.size.0)
}

/// The number that a packet bears.
fn number(packet: &Packet) -> Option<u64> {
    match &packet.body {
        Body::Segment(Segment::Data { number, .. }) => Some(*number),
        Body::Segment(Segment::Ack(ack)) => Some(ack.next),
        Body::Media(symbol) => Some(symbol.sequence),
        Body::Report(report) => Some(report.number),
        Body::Tfrc(data) => Some(data.sequence),
        Body::TfrcReport(_) | Body::Datagram(_) | Body::Length => None,
    }
}

/// The payload of a segment of that flow.
fn mss(run: &Run, flow: u32) -> Option<Bytes> {
    match &run.groups()[run.group_of(flow)?].kind {
        Kind::Tcp(tcp) | Kind::Transfers(tcp, _) => Some(tcp.mss),
        _ => None,
    }
}

/// The name of a file of one run.
fn file(what: &str, scheme: &str, seed: u64, ending: &str) -> String {
    let scheme: String = scheme.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect();
    if scheme.is_empty() { format!("{what}-{seed}.{ending}") } else { format!("{what}-{scheme}-{seed}.{ending}") }
}
