//! Sweeps: every point of a grid with every seed, each run in a file of its own ([`part`]).
//!
//! A run whose file is there is not performed again, so that a sweep that was interrupted or killed continues where it was.
//! [`Shard`]s divide a sweep among processes, on one machine or many that share the folder, and whose results one folder
//! collects: the names of the parts are the same everywhere.

use core::fmt;
use core::str::FromStr;
use std::collections::BTreeSet;
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
use crate::run::{Observer, Running, millis};
use crate::source::Source;

/// The runs of a sweep.
#[derive(Clone, PartialEq, Debug)]
pub struct Sweep {
    /// The name of the scenario.
    scenario: String,
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
}

/// One run of a sweep.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Member {
    /// The name of its part.
    part: String,
    point: usize,
    seed: u64,
}

/// A share of the runs of a sweep: the `number`th of `of`, from 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shard {
    number: usize,
    of: usize,
}

/// The runs of a shard.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Swept {
    /// The number of runs whose parts were there before.
    pub before: usize,
    /// The number of runs performed.
    pub performed: usize,
    /// The number of runs that an interruption left out.
    pub missing: usize,
}

impl Shard {
    /// The whole sweep.
    pub const ALL: Shard = Shard { number: 1, of: 1 };
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Shard, String> {
        let numbers = text.split_once('/').and_then(|(k, n)| Some((k.trim().parse().ok()?, n.trim().parse().ok()?)));
        match numbers {
            Some((number, of)) if (1..=of).contains(&number) => Ok(Shard { number, of }),
            _ => Err("expected K/N, the Kth of N shards, such as 3/16".to_owned()),
        }
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

/// All combinations of values, of which the last parameter's vary first.
///
/// # Errors
/// [`Error::Parameter`] if a parameter is given twice, or a value of one, or one has none.
pub fn grid(over: &[(String, Vec<String>)]) -> Result<Vec<Vec<(String, String)>>, Error> {
    let mut points = vec![Vec::new()];
    let mut names = BTreeSet::new();
    for (name, values) in over {
        if !names.insert(name) {
            return Err(Error::Parameter(format!("'{name}' is given twice")));
        }
        let mut distinct = BTreeSet::new();
        if let Some(twice) = values.iter().find(|value| !distinct.insert(*value)) {
            return Err(Error::Parameter(format!("{name}: '{twice}' is given twice")));
        }
        if values.is_empty() {
            return Err(Error::Parameter(format!("{name}: expected one value or more")));
        }
        let with = |point: &Vec<_>| {
            let point = point.clone();
            values.iter().map(move |value| [&point[..], &[(name.clone(), value.clone())]].concat())
        };
        points = points.iter().flat_map(with).collect();
    }
    Ok(points)
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
            Ok(Point { values, blueprint })
        };
        let points = grid(over)?.into_iter().map(point).collect::<Result<Vec<Point>, Error>>()?;
        let of_point = |(point, Point { blueprint, .. }): (usize, &Point)| {
            let member = |seed: &u64| Member { part: part::name(blueprint, *seed, interval), point, seed: *seed };
            seeds.iter().map(member).collect::<Vec<_>>()
        };
        let mut members: Vec<Member> = points.iter().enumerate().flat_map(of_point).collect();
        members.sort();
        // Two texts of one value, as 10 and 10.0, are the same run.
        members.dedup_by(|a, b| a.part == b.part);
        Ok(Sweep { scenario: source.name().to_owned(), points, interval, members })
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

    /// Performs the runs of a shard that have no part in `folder`. Each is kept as it ends.
    ///
    /// # Errors
    /// A run is impossible or finds a fault of the lab, or a file cannot be written.
    pub fn run(&self, folder: &Path, shard: Shard, pool: Pool<'_>) -> Result<Swept, Error> {
        part::prepare(folder)?;
        let own = self.members.iter().skip(shard.number - 1).step_by(shard.of);
        let (there, jobs): (Vec<&Member>, Vec<&Member>) = own.partition(|it| Part::find(folder, &it.part).is_some());
        let durations = self.points.iter().map(|point| {
            let experiment = point.blueprint.experiment(0).map_err(|error| Error::Scenario(error.to_string()))?;
            Ok(millis(experiment.duration))
        });
        let durations = durations.collect::<Result<Vec<u64>, Error>>()?;
        let length = jobs.iter().map(|member| durations[member.point]).sum();
        let performed = pool::run(&jobs, length, pool, |_, member| self.begin(member, folder))?.len();
        part::clean(folder, |name| Part::find(folder, name).is_some())?;
        Ok(Swept { before: there.len(), performed, missing: jobs.len() - performed })
    }

    fn begin<'a>(&'a self, member: &'a Member, folder: &'a Path) -> Result<Running<'a, Keeper<'a>>, Error> {
        let Member { point, seed, .. } = *member;
        let blueprint = &self.points[point].blueprint;
        Running::begin((point, &self.scenario), blueprint, seed, |run| {
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
    folder: &'a Path,
    intervals: Option<Intervals>,
    readings: String,
}

/// The simulated time between two checks for an interruption, where no interval is shorter.
const TURN: Span = Span::from_millis(10);

impl Observer for Keeper<'_> {
    type Record = ();

    fn next(&self, now: Time) -> Time {
        let turn = now + TURN;
        self.intervals.as_ref().map_or(turn, |intervals| turn.min(intervals.next(now)))
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

    fn finish(self, run: Finished) -> Result<(), Error> {
        let Keeper { sweep, member, folder, readings, .. } = self;
        let parameters = part::parameters(&sweep.points[member.point].blueprint);
        let scheme = parameters.get("scheme").and_then(Value::as_str).unwrap_or_default();
        let mut lines = line("summary", object(scheme, &run, reproducible_quantities()));
        flows::objects(scheme, &run).for_each(|flow| lines += &line("flow", flow));
        stations::objects(scheme, &run).for_each(|station| lines += &line("station", station));
        let part = Part {
            name: member.part.clone(),
            version: VERSION.to_owned(),
            scenario: sweep.scenario.clone(),
            seed: run.seed,
            cpu_s: run.cpu.as_secs_f64(),
            lines: lines + &readings,
            parameters,
        };
        part.store(folder)
    }

    fn abandon(self) {}
}

fn line(kind: &str, object: Value) -> String {
    format!("{}\n", Value::Object(Map::from_iter([(kind.to_owned(), object)])))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn over(name: &str, values: &[&str]) -> (String, Vec<String>) {
        (name.to_owned(), values.iter().map(|value| (*value).to_owned()).collect())
    }

    #[test]
    fn a_grid_has_every_combination_once() {
        let points = grid(&[over("a", &["1", "2"]), over("b", &["x", "y", "z"])]).expect("no value twice");
        let texts: Vec<String> =
            points.iter().map(|point| point.iter().map(|(_, value)| value.as_str()).collect()).collect();
        assert_eq!(texts, ["1x", "1y", "1z", "2x", "2y", "2z"]);
        assert_eq!(grid(&[]).expect("a point"), [[]]);
        for wrong in [vec![over("a", &["1", "1"])], vec![over("a", &["1"]), over("a", &["2"])], vec![over("a", &[])]] {
            assert!(matches!(grid(&wrong), Err(Error::Parameter(_))), "{wrong:?}");
        }
    }

    #[test]
    fn shards_count_from_one() {
        assert_eq!("3/16".parse(), Ok(Shard { number: 3, of: 16 }));
        for wrong in ["0/2", "3/2", "1", "1/0", "a/b", "-1/2", ""] {
            assert!(wrong.parse::<Shard>().is_err(), "{wrong}");
        }
    }
}
