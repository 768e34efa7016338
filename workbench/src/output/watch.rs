//! Files of one run that are written while it runs: `intervals-SEED.csv`, `hops-SEED.csv`, `packets-SEED.csv`,
//! `packets-SEED.pcap`.

use std::fs;

use serde_json::Value;
use thalweg_core::time::Time;
use thalweg_core::units::Bytes;
use thalweg_lab::experiment::{Kind, Place, Run};
use thalweg_lab::network::Direction;
use thalweg_lab::node::watched::{Entry, Event};
use thalweg_lab::packet::{Body, Packet};

use super::Files;
use super::capture;
use super::csv::{cell, quoted};
use super::json::object_of;
use super::table::Table;
use crate::error::Error;
use crate::intervals::{Intervals, Reading};

/// The observer of one run, which writes its files.
#[derive(Debug)]
pub(crate) struct Watch {
    /// The probes of flows and hops, at regular intervals.
    readings: Option<Readings>,
    /// Every packet at one hop.
    packets: Option<Table>,
    /// The headers of the packets that leave that hop.
    capture: Option<Table>,
    /// The hop of `packets` and `capture`.
    hop: usize,
}

#[derive(Debug)]
struct Readings {
    intervals: Intervals,
    flows: Pair,
    hops: Pair,
}

/// A table, and the same as JSON lines.
#[derive(Debug)]
struct Pair {
    table: Table,
    lines: Table,
}

impl Watch {
    /// Watches the run of `scheme` with `seed`, as far as files are to be written of it.
    pub(super) fn new(files: Option<&Files>, scheme: &str, seed: u64, run: &mut Run) -> Result<Watch, Error> {
        let mut watch = Watch { readings: None, packets: None, capture: None, hop: 0 };
        let Some(files) = files else { return Ok(watch) };
        let path = |what: &str, ending: &str| files.folder.join(file_name(what, scheme, seed, ending));
        if let Some(interval) = files.interval {
            let pair = |what: &str, header: &str| {
                let table = Table::create(path(what, "csv"), header)?;
                Ok::<_, Error>(Pair { table, lines: Table::create(path(what, "jsonl"), "")? })
            };
            watch.readings = Some(Readings {
                intervals: Intervals::new(interval, run),
                flows: pair("intervals", "t_s,flow,group,end,probe,value\n")?,
                hops: pair("hops", "t_s,hop,way,probe,value\n")?,
            });
        }
        if files.trace {
            let header = "t_s,event,way,flow,size_bytes,number\n";
            watch.packets = Some(Table::create(path("packets", "csv"), header)?);
        }
        if files.pcap {
            watch.capture = Some(Table::create(path("packets", "pcap"), capture::header())?);
        }
        if files.trace || files.pcap {
            watch.hop = files.hop;
            run.network_mut().watch(files.hop);
        }
        Ok(watch)
    }

    /// The end of the interval in which `now` is, if there are intervals.
    pub(crate) fn next(&self, now: Time) -> Option<Time> {
        self.readings.as_ref().map(|readings| readings.intervals.next(now))
    }

    /// Writes the observations of a run that stands at `now`.
    pub(crate) fn look(&mut self, now: Time, run: &mut Run) -> Result<(), Error> {
        if let Some(readings) = &mut self.readings {
            readings.look(now, run)?;
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
                table.write(packet_row(*direction, entry))?;
            }
            if let (Some(table), Event::Left) = (&mut self.capture, entry.event) {
                table.write(capture::record(entry.at, *direction, &entry.packet, mss(run, entry.packet.flow)))?;
            }
        }
        Ok(())
    }

    fn tables(self) -> impl Iterator<Item = Table> {
        let pairs = self.readings.into_iter().flat_map(|it| [it.flows, it.hops]);
        let shown = pairs.flat_map(|pair| [pair.table, pair.lines]);
        shown.chain(self.packets).chain(self.capture)
    }

    /// Completes the files.
    pub(crate) fn end(self) -> Result<(), Error> {
        self.tables().try_for_each(|mut table| table.flush())
    }

    /// Removes the files of a run that did not reach its end.
    pub(crate) fn abandon(self) {
        for table in self.tables() {
            let _ = fs::remove_file(&table.path);
        }
    }
}

impl Readings {
    /// Writes the probes of flows and hops at the end of an interval.
    fn look(&mut self, now: Time, run: &Run) -> Result<(), Error> {
        let Readings { intervals, flows, hops } = self;
        let mut done = Ok(());
        intervals.look(now, run, &mut |reading| {
            let pair = if let Place::Flow(..) = reading.place { &mut *flows } else { &mut *hops };
            if done.is_ok() {
                done = pair.write(&row_of(reading), &object_of(reading));
            }
        });
        done
    }
}

/// A reading in CSV.
fn row_of(reading: &Reading<'_>) -> String {
    let Reading { at, place, group, probe, value } = *reading;
    let (at, value) = (at.as_secs_f64(), cell(value));
    match place {
        Place::Flow(flow, end) => format!("{at},{flow},{},{end},{probe},{value}\n", quoted(group)),
        // Scenarios count hops from 1.
        Place::Hop(hop, direction) => format!("{at},{},{direction},{probe},{value}\n", hop + 1),
    }
}

impl Pair {
    fn write(&mut self, row: &str, object: &Value) -> Result<(), Error> {
        self.table.write(row)?;
        self.lines.write(format!("{object}\n"))
    }
}

fn packet_row(direction: Direction, entry: &Entry) -> String {
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
