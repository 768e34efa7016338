//! Sweeps: every point of a grid with every seed, each run in a file of its own ([`part`]).
//!
//! A run whose file is there is not performed again, so that a sweep that was interrupted or killed continues where it was.
//! [`Shard`]s divide a sweep among processes, on one machine or many that share the folder, and whose results one folder
//! collects: the names of the parts are the same everywhere.

mod grid;
mod shard;

use std::path::Path;

use serde_json::{Map, Value};
use thalweg_core::time::{Span, Time};
use thalweg_lab::experiment::{Place, Run};
use thalweg_lab::scenario::Blueprint;

use crate::campaign::{Finished, reproducible_quantities};
use crate::error::Error;
use crate::intervals::{Intervals, LEAST_INTERVAL};
use crate::output::{flows, object, object_of, stations};
use crate::part::{self, Part, VERSION};
use crate::pool::{self, Pool};
use crate::run::{Faulted, Observer, Running, millis};
use crate::source::Source;

pub use self::grid::grid;
pub use self::shard::Shard;

/// The runs of a sweep.
#[derive(Clone, PartialEq, Debug)]
pub struct Sweep {
    /// The scenario.
    source: Source,
    points: Vec<Point>,
    interval: Option<Span>,
    /// Every run, in the order of the names of the parts: neighbors have nothing in common, so that shards take equally long.
    members: Vec<Member>,
}

/// A point of the grid.
#[derive(Clone, PartialEq, Debug)]
pub struct Point {
    /// The values of the parameters that are varied, by name, in the order of the grid.
    pub values: Vec<(String, String)>,
    blueprint: Blueprint,
    duration: Span,
}

impl Point {
    /// The values as text, such as `tcp=cubic, rtt_ms=10`.
    fn name(&self) -> String {
        self.values.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(", ")
    }
}

/// One run of a sweep.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Member {
    /// The name of its part.
    part: String,
    point: usize,
    seed: u64,
}

/// The runs of a shard.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Swept {
    /// The number of runs whose parts were there before.
    pub before: usize,
    /// The number of runs performed.
    pub performed: usize,
    /// The number of runs that an interruption left out.
    pub missing: usize,
    /// The runs that a law of one's own has ended by a fault, which have no parts.
    pub faults: Vec<Faulted>,
}

/// The record of a run.
enum Kept {
    /// Its part is in the folder.
    Stored,
    /// Its part, which is kept elsewhere.
    Part(Part),
    /// It has none.
    Fault(Faulted),
}

impl Sweep {
    /// A sweep of a scenario with `settings` over a [`grid`]; with an interval, readings are kept, too.
    ///
    /// # Errors
    /// [`Error::Parameter`] if the settings, the grid or the interval is at fault, otherwise [`Error::Scenario`].
    pub fn new(
        source: &Source,
        settings: &[(String, String)],
        over: &[(String, Vec<String>)],
        seeds: &[u64],
        interval: Option<Span>,
    ) -> Result<Sweep, Error> {
        if let Some((name, value)) = settings.iter().find(|(set, _)| over.iter().any(|(name, _)| name == set)) {
            return Err(Error::Parameter(format!("{name} = '{value}' is varied as well; leave it out")));
        }
        if interval.is_some_and(|interval| interval < LEAST_INTERVAL) {
            return Err(Error::Parameter(format!("an interval must be at least {LEAST_INTERVAL}")));
        }
        let point = |values: Vec<(String, String)>| {
            let blueprint = source.blueprint(&[settings, &values].concat())?;
            let experiment = blueprint.experiment(0).map_err(|error| Error::Scenario(error.to_string()))?;
            Ok(Point { values, blueprint, duration: experiment.duration })
        };
        let points = grid(over)?.into_iter().map(point).collect::<Result<Vec<Point>, Error>>()?;
        let of_point = |(point, Point { blueprint, .. }): (usize, &Point)| {
            let member = |seed: &u64| Member {
                part: part::name(blueprint, source.versions(), *seed, interval),
                point,
                seed: *seed,
            };
            seeds.iter().map(member).collect::<Vec<_>>()
        };
        let mut members: Vec<Member> = points.iter().enumerate().flat_map(of_point).collect();
        members.sort();
        // Two texts of one value, as 10 and 10.0, are the same run.
        members.dedup_by(|a, b| a.part == b.part);
        Ok(Sweep { source: source.clone(), points, interval, members })
    }

    /// The points of the grid.
    pub fn points(&self) -> &[Point] {
        &self.points
    }

    /// The number of runs.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// True without runs.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// The runs of a shard that have no part in `folder`, by their indices, and the number of those that have one.
    ///
    /// # Errors
    /// The folder cannot be made, or written.
    pub fn missing(&self, folder: &Path, shard: Shard) -> Result<(Vec<usize>, usize), Error> {
        part::prepare(folder)?;
        let own = (0..self.members.len()).skip(shard.number - 1).step_by(shard.of);
        let (there, missing): (Vec<usize>, Vec<usize>) =
            own.partition(|member| Part::find(folder, &self.members[*member].part).is_some());
        Ok((missing, there.len()))
    }

    /// Performs the runs of a shard that have no part in `folder`. Each is kept as it ends.
    ///
    /// # Errors
    /// A run is impossible or finds a fault of the lab, or a file cannot be written.
    pub fn run(&self, folder: &Path, shard: Shard, pool: Pool<'_>) -> Result<Swept, Error> {
        let (missing, before) = self.missing(folder, shard)?;
        let kept = self.perform(&missing, Some(folder), pool)?;
        part::clean(folder, |name| Part::find(folder, name).is_some())?;
        let (left, all) = (missing.len() - kept.len(), kept.len());
        let faults: Vec<Faulted> = kept
            .into_iter()
            .filter_map(|kept| if let Kept::Fault(fault) = kept { Some(fault) } else { None })
            .collect();
        Ok(Swept { before, performed: all - faults.len(), missing: left, faults })
    }

    /// Performs some of the runs, and returns their parts, for a process that keeps them elsewhere, and those without one. Indices beyond the runs
    /// are left out.
    ///
    /// # Errors
    /// A run is impossible or finds a fault of the lab.
    pub fn parts_of(&self, members: &[usize], pool: Pool<'_>) -> Result<(Vec<Part>, Vec<Faulted>), Error> {
        let (mut parts, mut faults) = (Vec::new(), Vec::new());
        for kept in self.perform(members, None, pool)? {
            match kept {
                Kept::Part(part) => parts.push(part),
                Kept::Fault(fault) => faults.push(fault),
                Kept::Stored => {}
            }
        }
        Ok((parts, faults))
    }

    /// The simulated time of a run; zero if there is none of this index.
    pub fn duration(&self, member: usize) -> Span {
        self.members.get(member).map_or(Span::ZERO, |member| self.points[member.point].duration)
    }

    /// Performs runs; each is kept in `folder` as it ends, or returned.
    fn perform(&self, members: &[usize], folder: Option<&Path>, pool: Pool<'_>) -> Result<Vec<Kept>, Error> {
        let jobs: Vec<&Member> = members.iter().filter_map(|member| self.members.get(*member)).collect();
        let length = jobs.iter().map(|member| millis(self.points[member.point].duration)).sum();
        let performed = pool::run(&jobs, length, pool, |_, member| self.begin(member, folder))?;
        Ok(performed.into_iter().map(|(_, part)| part).collect())
    }

    fn begin<'a>(&'a self, member: &'a Member, folder: Option<&'a Path>) -> Result<Running<'a, Keeper<'a>>, Error> {
        let Member { point, seed, .. } = *member;
        let blueprint = &self.points[point].blueprint;
        Running::begin((point, self.source.name()), blueprint, seed, |run| {
            let intervals = self.interval.map(|every| Intervals::new(every, run));
            Ok(Keeper { sweep: self, member, folder, intervals, readings: String::new() })
        })
    }

    /// The parts of the sweep in `folder`, each with the index of its point; in the order of the points and the seeds.
    pub fn parts(&self, folder: &Path) -> Vec<(usize, Part)> {
        let found = |member: &Member| Some((member.point, Part::find(folder, &member.part)?));
        let mut parts: Vec<(usize, Part)> = self.members.iter().filter_map(found).collect();
        parts.sort_by_key(|(point, part)| (*point, part.seed));
        parts
    }
}

/// A digest of parts: of all their values but the processor times.
pub fn digest<'a>(parts: impl IntoIterator<Item = &'a Part>) -> String {
    let mut parts: Vec<&Part> = parts.into_iter().collect();
    parts.sort_by(|a, b| a.name.cmp(&b.name));
    part::digest(parts.iter().flat_map(|part| [part.name.as_str(), part.lines.as_str()]))
}

/// The observer of a sweep's run, which makes its part.
struct Keeper<'a> {
    sweep: &'a Sweep,
    member: &'a Member,
    folder: Option<&'a Path>,
    intervals: Option<Intervals>,
    readings: String,
}

impl Observer for Keeper<'_> {
    type Record = Kept;

    fn next(&self, now: Time) -> Option<Time> {
        self.intervals.as_ref().map(|intervals| intervals.next(now))
    }

    fn look(&mut self, now: Time, run: &mut Run) -> Result<(), Error> {
        let Keeper { intervals, readings, .. } = self;
        if let Some(intervals) = intervals {
            intervals.look(now, run, &mut |reading| {
                let kind = if let Place::Flow(..) = reading.place { "interval" } else { "hop" };
                *readings += &line(kind, object_of(reading));
            });
        }
        Ok(())
    }

    fn finish(self, run: Finished) -> Result<Kept, Error> {
        let Keeper { sweep, member, folder, readings, .. } = self;
        let blueprint = &sweep.points[member.point].blueprint;
        let parameters = part::parameters(blueprint);
        let scheme = parameters.get("scheme").and_then(Value::as_str).unwrap_or_default();
        let mut lines = line("summary", object(scheme, &run, reproducible_quantities()));
        flows::objects(scheme, &run).for_each(|flow| lines += &line("flow", flow));
        stations::objects(scheme, &run).for_each(|station| lines += &line("station", station));
        let part = Part {
            name: member.part.clone(),
            version: VERSION.to_owned(),
            scenario: sweep.source.name().to_owned(),
            sources: part::sources(sweep.source.name(), blueprint, sweep.source.versions()),
            seed: run.seed,
            cpu_s: run.cpu.as_secs_f64(),
            lines: lines + &readings,
            parameters,
        };
        match folder {
            Some(folder) => part.store(folder).map(|()| Kept::Stored),
            None => Ok(Kept::Part(part)),
        }
    }

    fn fault(self, run: Faulted) -> Result<Kept, Error> {
        Ok(Kept::Fault(Faulted { variant: self.sweep.points[self.member.point].name(), ..run }))
    }

    fn abandon(self) {}
}

fn line(kind: &str, object: Value) -> String {
    format!("{}\n", Value::Object(Map::from_iter([(kind.to_owned(), object)])))
}
