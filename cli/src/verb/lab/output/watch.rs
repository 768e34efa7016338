//! Files of one run that are written while it runs: `intervals-SEED.csv`, `hops-SEED.csv`, `packets-SEED.csv`,
//! `packets-SEED.pcap`.

use std::fs;

use serde_json::{Value, json};
use thalweg_core::time::{Span, Time};
use thalweg_core::units::Bytes;
use thalweg_lab::experiment::{Kind, Place, Recorder, Run};
use thalweg_lab::network::Way;
use thalweg_lab::node::watched::{Entry, Event};
use thalweg_lab::packet::{Body, Packet};
use thalweg_lab::tcp::Segment;

use super::{Output, Table, capture, cell, quoted};
use crate::Failure;

/// Whoever watches one run.
pub(in super::super) struct Watch {
    /// What flows and hops show, every so often.
    intervals: Option<Intervals>,
    /// Every packet at one hop.
    packets: Option<Table>,
    /// Those that leave it.
    capture: Option<Table>,
    /// The hop of these two.
    hop: usize,
}

struct Intervals {
    flows: Pair,
    hops: Pair,
    every: Span,
    recorder: Recorder,
}

/// A table, and the same as JSON lines.
struct Pair {
    table: Table,
    lines: Table,
}

/// Packets of no more than this are held in memory.
const HELD: Span = Span::from_millis(20);
/// So much is run between two looks at whether the end was asked for: on a link of 1 Gb/s less than a millisecond's work.
const TURN: Span = Span::from_millis(10);

impl Watch {
    /// Watches the run of `scheme` with `seed`, as far as `output` asks for it.
    pub(in super::super) fn new(output: &Output, scheme: &str, seed: u64, run: &mut Run) -> Result<Watch, Failure> {
        let mut watch = Watch { intervals: None, packets: None, capture: None, hop: 0 };
        let Some(folder) = &output.folder else { return Ok(watch) };
        let path = |what: &str, ending: &str| folder.path.join(file(what, scheme, seed, ending));
        if let Some(interval) = folder.interval {
            let pair = |what: &str, header: &str| {
                let table = Table::create(path(what, "csv"), header)?;
                Ok::<_, Failure>(Pair { table, lines: Table::create(path(what, "jsonl"), "")? })
            };
            watch.intervals = Some(Intervals {
                flows: pair("intervals", "t_s,flow,group,end,probe,value\n")?,
                hops: pair("hops", "t_s,hop,way,probe,value\n")?,
                every: interval,
                recorder: Recorder::new(run),
            });
        }
        if folder.trace {
            let header = "t_s,event,way,flow,size_bytes,number\n";
            watch.packets = Some(Table::create(path("packets", "csv"), header)?);
        }
        if folder.pcap {
            watch.capture = Some(Table::create(path("packets", "pcap"), capture::header())?);
        }
        if folder.trace || folder.pcap {
            watch.hop = folder.hop;
            run.network_mut().watch(folder.hop);
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
        if let Some(intervals) = &mut self.intervals
            && (now.as_nanos().is_multiple_of(intervals.every.as_nanos()) || now == run.end())
        {
            intervals.look(now, run)?;
        }
        if self.packets.is_none() && self.capture.is_none() {
            return Ok(());
        }
        let [forward, backward] = run.network_mut().take_log(self.hop);
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
        let pairs = self.intervals.into_iter().flat_map(|it| [it.flows, it.hops]);
        let shown = pairs.flat_map(|pair| [pair.table, pair.lines]);
        shown.chain(self.packets).chain(self.capture)
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

impl Intervals {
    /// Writes what flows and hops show at the end of an interval.
    fn look(&mut self, now: Time, run: &Run) -> Result<(), Failure> {
        let Intervals { flows, hops, recorder, .. } = self;
        let at = now.as_secs_f64();
        let mut done = Ok(());
        recorder.look(run, &mut |place, name, value| {
            if done.is_err() {
                return;
            }
            done = match place {
                Place::Flow(flow, end) => {
                    let group = run.group_of(flow).map_or("", |group| &run.groups()[group].name);
                    let row = format!("{at},{flow},{},{end},{name},{}\n", quoted(group), cell(value));
                    let end = end.to_string();
                    let object =
                        json!({ "t_s": at, "flow": flow, "group": group, "end": end, "probe": name, "value": value });
                    flows.write(&row, &object)
                }
                Place::Hop(hop, way) => {
                    // As scenarios count them.
                    let hop = hop + 1;
                    let row = format!("{at},{hop},{way},{name},{}\n", cell(value));
                    let way = way.to_string();
                    hops.write(&row, &json!({ "t_s": at, "hop": hop, "way": way, "probe": name, "value": value }))
                }
            };
        });
        done
    }
}

impl Pair {
    fn write(&mut self, row: &str, object: &Value) -> Result<(), Failure> {
        self.table.write(row)?;
        self.lines.write(format!("{object}\n"))
    }
}

fn row(way: Way, entry: &Entry) -> String {
    let Entry { at, event, packet } = entry;
    let event = match event {
        Event::Came => "came",
        Event::Dropped => "dropped",
        Event::Left => "left",
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
pub(super) fn file(what: &str, scheme: &str, seed: u64, ending: &str) -> String {
    let scheme: String = scheme.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect();
    if scheme.is_empty() { format!("{what}-{seed}.{ending}") } else { format!("{what}-{scheme}-{seed}.{ending}") }
}
