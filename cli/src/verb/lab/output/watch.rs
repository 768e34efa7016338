//! Files of one run that are written while it runs: `intervals-SEED.csv`, `hops-SEED.csv`, `packets-SEED.csv`,
//! `packets-SEED.pcap`.

use std::fs;

use serde_json::{Value, json};
use thalweg_core::time::{Span, Time};
use thalweg_core::units::Bytes;
use thalweg_lab::experiment::{Kind, Place, Recorder, Run};
use thalweg_lab::network::Direction;
use thalweg_lab::node::watched::{Entry, Event};
use thalweg_lab::packet::{Body, Packet};

use super::capture;
use super::csv::{cell, quoted};
use super::folder::Folder;
use super::table::Table;
use crate::failure::Failure;

/// The observer of one run, which writes its files.
pub(in super::super) struct Watch {
    /// The probes of flows and hops, at regular intervals.
    intervals: Option<Intervals>,
    /// Every packet at one hop.
    packets: Option<Table>,
    /// The headers of the packets that leave that hop.
    capture: Option<Table>,
    /// The hop of `packets` and `capture`.
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

/// The longest time for which packets are held in memory.
const HELD: Span = Span::from_millis(20);
/// The simulated time between two checks for an interruption: on a link of 1 Gb/s less than a millisecond's work.
const TURN: Span = Span::from_millis(10);

impl Watch {
    /// Watches the run of `scheme` with `seed`, as far as files are to be written of it.
    pub(super) fn new(folder: Option<&Folder>, scheme: &str, seed: u64, run: &mut Run) -> Result<Watch, Failure> {
        let mut watch = Watch { intervals: None, packets: None, capture: None, hop: 0 };
        let Some(folder) = folder else { return Ok(watch) };
        let path = |what: &str, ending: &str| folder.path.join(file_name(what, scheme, seed, ending));
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

    /// The time of the next [`Watch::look`] at a run that stands at `now`.
    pub(in super::super) fn next(&self, now: Time) -> Time {
        let held = self.packets.is_some() || self.capture.is_some();
        let next = now + if held { HELD } else { TURN };
        match &self.intervals {
            Some(Intervals { every, .. }) => next.min(Time::ZERO + *every * (now.as_nanos() / every.as_nanos() + 1)),
            None => next,
        }
    }

    /// Writes the observations of a run that stands at `now`.
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
        let directions = [(Direction::Forward, forward), (Direction::Backward, backward)];
        let mut entries: Vec<(Direction, Entry)> = directions
            .into_iter()
            .flat_map(|(direction, log)| log.into_iter().map(move |entry| (direction, entry)))
            .collect();
        entries.sort_by_key(|(_, entry)| entry.at);
        for (direction, entry) in &entries {
            if let Some(table) = &mut self.packets {
                table.write(row(*direction, entry))?;
            }
            if let (Some(table), Event::Left) = (&mut self.capture, entry.event) {
                table.write(capture::record(entry.at, *direction, &entry.packet, mss(run, entry.packet.flow)))?;
            }
        }
        Ok(())
    }

    fn tables(self) -> impl Iterator<Item = Table> {
        let pairs = self.intervals.into_iter().flat_map(|it| [it.flows, it.hops]);
        let shown = pairs.flat_map(|pair| [pair.table, pair.lines]);
        shown.chain(self.packets).chain(self.capture)
    }

    /// Completes the files.
    pub(in super::super) fn end(self) -> Result<(), Failure> {
        self.tables().try_for_each(|mut table| table.flush())
    }

    /// Removes the files of a run that did not reach its end.
    pub(in super::super) fn abandon(self) {
        for table in self.tables() {
            let _ = fs::remove_file(&table.path);
        }
    }
}

impl Intervals {
    /// Writes the probes of flows and hops at the end of an interval.
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
                Place::Hop(hop, direction) => {
                    // Scenarios count hops from 1.
                    let hop = hop + 1;
                    let row = format!("{at},{hop},{direction},{name},{}\n", cell(value));
                    let direction = direction.to_string();
                    hops.write(&row, &json!({ "t_s": at, "hop": hop, "way": direction, "probe": name, "value": value }))
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

fn row(direction: Direction, entry: &Entry) -> String {
    let Entry { at, event, packet, .. } = entry;
    let event = match event {
        Event::Came => "came",
        Event::Dropped => "dropped",
        Event::Left => "left",
    };
    let number = number(packet).map_or(String::new(), |number| number.to_string());
    format!("{},{event},{direction},{},{},{number}\n", at.as_secs_f64(), packet.flow, packet.size.0)
}

/// The number that a packet carries.
fn number(packet: &Packet) -> Option<u64> {
    match &packet.body {
        Body::Segment { number, .. } => Some(*number),
        Body::Ack(ack) => Some(ack.next),
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
pub(super) fn file_name(what: &str, scheme: &str, seed: u64, ending: &str) -> String {
    let scheme: String = scheme.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect();
    if scheme.is_empty() { format!("{what}-{seed}.{ending}") } else { format!("{what}-{scheme}-{seed}.{ending}") }
}
