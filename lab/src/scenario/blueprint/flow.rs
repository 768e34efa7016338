//! `[[flow]]`: flows of one kind, and the keys that all kinds have in common.

use core::ops::Range;

use serde::Deserialize;
use thalweg_core::rng::Rng;
use thalweg_core::time::Span;
use thalweg_core::units::Rate;
use toml::Spanned;

use super::{stored, stream, tcp, tunnel};
use crate::experiment::{AccessRange, Group, Kind, MOST_FLOWS, Source};
use crate::network::{Direction, Hop};
use crate::node::Node;
use crate::scenario::fault::Fault;
use crate::scenario::quantity::{Between, Quantity};
use crate::scenario::section::Section;
use crate::scenario::{Files, Laws, traffic, wifi};

/// `[access]`, or `access` of a flow.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AccessText {
    rate: Spanned<Quantity<Rate>>,
    near: Between,
    far: Between,
}

impl AccessText {
    pub(super) fn read(section: Section<'_>) -> Result<AccessRange, Fault> {
        let AccessText { rate, near, far } = section.rest()?;
        match rate.get_ref().0 {
            zero if zero.as_bps() == 0 => Err(Fault::at(&rate.span(), "the rate of a link must be above zero")),
            rate => Ok(AccessRange { rate, near: near.0, far: far.0 }),
        }
    }
}

/// The flows read so far.
pub(super) struct Flows<'a> {
    hops: &'a [Hop],
    access: Option<AccessRange>,
    rng: &'a Rng,
    /// The duration of the run.
    duration: Span,
    /// The laws of one's own that they may have.
    laws: &'a Laws,
    names: Vec<String>,
    groups: Vec<Group>,
    /// The place of each group in the text.
    places: Vec<Range<usize>>,
}

impl<'a> Flows<'a> {
    /// No flows yet, which will cross `hops` in a run of `duration`; `access` is for flows that have none of their own.
    pub(super) fn new(
        hops: &'a [Hop],
        access: Option<AccessRange>,
        rng: &'a Rng,
        duration: Span,
        laws: &'a Laws,
    ) -> Flows<'a> {
        Flows { hops, access, rng, duration, laws, names: Vec::new(), groups: Vec::new(), places: Vec::new() }
    }

    /// The groups, and the place of each in the text.
    pub(super) fn into_groups(self) -> (Vec<Group>, Vec<Range<usize>>) {
        (self.groups, self.places)
    }

    /// Adds the flows that one `[[flow]]` describes.
    pub(super) fn add(&mut self, mut section: Section<'_>, files: &mut Files<'_>) -> Result<(), Fault> {
        let span = section.span.clone();
        let rate_at = section.table.get("rate").map_or_else(|| span.clone(), Spanned::span);
        let (kind, name) = section.kind_and_name()?;
        self.register(&name, &span)?;
        let count = section.optional::<Spanned<usize>>("count")?.map_or(Ok(1), few)?;
        let when = section.span_of("every").or_else(|| section.span_of("start")).unwrap_or_else(|| span.clone());
        let start = section.optional::<Between>("start")?.map_or(Span::ZERO..Span::ZERO, |start| start.0);
        let every = section.optional::<Quantity<Span>>("every")?.map_or(Span::ZERO, |every| every.0);
        let last = start.start + every * (count as u64).saturating_sub(1);
        if count > 0 && last > self.duration {
            let why = format!("a flow of '{name}' starts at {last} or later, but the run ends at {}", self.duration);
            return Err(Fault::at(&when, why));
        }
        let access = self.access(&mut section)?;
        let (hops, direction, stations) = self.course(&mut section)?;
        let need = section.optional("need")?.map(|need| needed(need, access.rate)).transpose()?;
        let group = |name: String, kind, count| Group {
            name,
            kind,
            count,
            start: start.clone(),
            every,
            access: access.clone(),
            hops: hops.clone(),
            direction,
            stations: stations.clone(),
            need,
        };
        let listens = match kind.get_ref().as_str() {
            "tcp" => Kind::Tcp(tcp::read(section, self.laws)?),
            "transfers" => tcp::transfers(section, self.laws)?,
            "tunnel" => tunnel::read(section, files)?,
            "stream" | "tfrc" => stream::read(kind.get_ref(), section, self.laws)?,
            "stored" | "cbr" | "on_off" | "poisson" | "video" | "video_trace" => {
                // Sources with random draws have draws of their own, so each is a group of its own.
                for member in 0..count {
                    let rng = self.rng.fork(&name).fork(&member.to_string());
                    let (kind, rate) = self.drawn(&kind, section.clone(), rng, files)?;
                    if let Some(rate) = rate {
                        carried(rate, &access).map_err(|why| Fault::at(&rate_at, why))?;
                    }
                    let name = if count == 1 { name.clone() } else { format!("{name}/{}", member + 1) };
                    let late = every * member as u64;
                    let start = start.start + late..start.end + late;
                    let stations = one_of(&stations, member);
                    self.groups.push(Group { start, stations, ..group(name, kind, 1) });
                    self.places.push(span.clone());
                }
                return Ok(());
            }
            other => return Err(Fault::at(&kind.span(), format!("no flow of kind '{other}', expected {KINDS}"))),
        };
        if let Some(rate) = stream::least_rate(&listens) {
            carried(rate, &access).map_err(|why| Fault::at(&rate_at, why))?;
        }
        if self.instant(&group(String::new(), listens.clone(), count)) {
            return Err(Fault::at(&span, "the round trip is zero: give its hops or its 'access' a delay"));
        }
        self.groups.push(group(name, listens, count));
        self.places.push(span);
        Ok(())
    }

    /// The access links of a flow: its own, or those of all flows.
    fn access(&self, section: &mut Section<'_>) -> Result<AccessRange, Fault> {
        let own = section.section("access")?.map(AccessText::read).transpose()?;
        let access = own.or_else(|| self.access.clone());
        access.ok_or_else(|| Fault::at(&section.span, "missing 'access', here or as [access] for all flows"))
    }

    /// A flow with random draws of its own, and the mean rate of a source without feedback.
    fn drawn(
        &self,
        kind: &Spanned<String>,
        mut section: Section<'_>,
        rng: Rng,
        files: &mut Files<'_>,
    ) -> Result<(Kind, Option<Rate>), Fault> {
        if kind.get_ref() == "stored" {
            return Ok((stored::read(section, &rng, self.duration, files)?, None));
        }
        let until = section.optional::<Quantity<Span>>("until")?.map(|until| until.0);
        let (traffic, rate) = traffic::read(kind, section, rng, files)?;
        Ok((Kind::Open(Source { traffic, until }), Some(rate)))
    }

    /// Notes a name, which no other flow may have.
    fn register(&mut self, name: &str, span: &Range<usize>) -> Result<(), Fault> {
        if self.names.iter().any(|other| other == name) {
            let why = format!("a second flow named '{name}': give one of them another 'name'");
            return Err(Fault::at(span, why));
        }
        self.names.push(name.to_owned());
        Ok(())
    }

    /// True if the round trip of a flow takes no time apart from transmission times.
    fn instant(&self, group: &Group) -> bool {
        let hops = &self.hops[group.hops.clone()];
        if hops.iter().any(|hop| hop.cell().is_some()) {
            return false;
        }
        let lanes = hops.iter().flat_map(|hop| [Direction::Forward, Direction::Backward].map(|way| hop.lane(way)));
        let mut delays = lanes.flatten().map(Node::least_delay);
        delays.all(|delay| delay == Span::ZERO) && group.access.near.start + group.access.far.start == Span::ZERO
    }

    /// The hops that a flow crosses, its direction, and the stations at its end.
    fn course(&self, section: &mut Section<'_>) -> Result<(Range<usize>, Direction, Range<usize>), Fault> {
        let hops = section.optional("hops")?.map_or(Ok(0..self.hops.len()), |text| self.crossed(text))?;
        let direction = section.optional::<WayText>("way")?.map_or(Direction::Forward, Direction::from);
        let station = section.optional("station")?;
        let stations = self.stations(station, &hops, &section.span)?;
        Ok((hops, direction, stations))
    }

    /// The stations of the name `station`; none if the flow, which crosses `hops`, crosses no cell.
    fn stations(
        &self,
        station: Option<Spanned<String>>,
        hops: &Range<usize>,
        span: &Range<usize>,
    ) -> Result<Range<usize>, Fault> {
        let Some(cell) = self.hops[hops.clone()].iter().find_map(Hop::cell) else {
            return match station {
                Some(station) => {
                    Err(Fault::at(&station.span(), "'station' needs a hop of kind 'wifi' among the flow's"))
                }
                None => Ok(0..0),
            };
        };
        let names: Vec<&str> = cell.stations().iter().map(|station| wifi::base(&station.name)).collect();
        let known = || {
            let mut known = names.clone();
            known.dedup();
            known.join(", ")
        };
        let Some(station) = station else {
            let why = format!("missing 'station': the flow crosses a cell, expected one of {}", known());
            return Err(Fault::at(span, why));
        };
        let named = |name: &&str| *name == station.get_ref();
        match names.iter().position(named) {
            Some(first) => Ok(first..first + names.iter().filter(|name| named(name)).count()),
            None => {
                let why = format!("no station named '{}', expected one of {}", station.get_ref(), known());
                Err(Fault::at(&station.span(), why))
            }
        }
    }

    /// The hops that a flow crosses, which its text counts from 1.
    fn crossed(&self, text: Spanned<HopsText>) -> Result<Range<usize>, Fault> {
        let (first, last) = match *text.get_ref() {
            HopsText::One(hop) => (hop, hop),
            HopsText::FromTo(first, last) => (first, last),
        };
        if (1..=last).contains(&first) && last <= self.hops.len() {
            return Ok(first - 1..last);
        }
        let why = format!("hops {first} to {last}, expected numbers from 1 to {}, in ascending order", self.hops.len());
        Err(Fault::at(&text.span(), why))
    }
}

/// The station of one of a group's flows.
fn one_of(stations: &Range<usize>, member: usize) -> Range<usize> {
    let station = stations.start + member % stations.len().max(1);
    station..station + stations.len().min(1)
}

/// Checks that access links, whose queues are unlimited, can carry a source of `rate`.
fn carried(rate: Rate, access: &AccessRange) -> Result<(), String> {
    if rate <= access.rate {
        return Ok(());
    }
    Err(format!(
        "a source of {rate}, expected at most the {} of its access links: lower 'rate' or raise that of 'access'",
        access.rate
    ))
}

/// A need, which access links of the rate `most` can carry.
fn needed(need: Spanned<Quantity<Rate>>, most: Rate) -> Result<Rate, Fault> {
    let rate = need.get_ref().0;
    if rate.as_bps() > 0 && rate <= most {
        return Ok(rate);
    }
    Err(Fault::at(
        &need.span(),
        format!("a need of {rate}, expected one above zero, and at most the {most} of 'access'"),
    ))
}

/// `way` of a flow.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum WayText {
    Forward,
    Backward,
}

impl From<WayText> for Direction {
    fn from(way: WayText) -> Direction {
        match way {
            WayText::Forward => Direction::Forward,
            WayText::Backward => Direction::Backward,
        }
    }
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "expected the number of a hop, or of the first and the last such as [1, 3]")]
enum HopsText {
    One(usize),
    FromTo(usize, usize),
}

const KINDS: &str = "tcp, transfers, stream, tfrc, tunnel, stored, cbr, on_off, poisson, video or video_trace";

fn few(count: Spanned<usize>) -> Result<usize, Fault> {
    match *count.get_ref() {
        few if few <= MOST_FLOWS => Ok(few),
        many => Err(Fault::at(&count.span(), format!("{many} flows, expected at most {MOST_FLOWS}"))),
    }
}
