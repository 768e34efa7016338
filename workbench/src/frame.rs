//! Results in columns, under the names of the files of `lab run --out`.

use serde_json::{Map, Value};

use crate::campaign::{CPU, quantities};
use crate::output::{flows, stations};
use crate::part::Part;
use crate::record::{Readings, Recorded};

/// A table whose columns are equally long.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Frame {
    /// The columns, each with its name.
    pub columns: Vec<(String, Column)>,
}

/// The values of a column.
#[derive(Clone, PartialEq, Debug)]
pub enum Column {
    /// Numbers; NaN where there is none, and infinite where a probe is. The files have neither.
    Numbers(Vec<f64>),
    /// Whole numbers.
    Whole(Vec<u64>),
    /// True or false.
    Flags(Vec<bool>),
    /// Texts, of which many are equal: an index into the names.
    Names {
        /// The index of each value.
        index: Vec<u32>,
        /// The names.
        names: Vec<String>,
    },
}

impl Column {
    /// The number of values.
    pub fn len(&self) -> usize {
        match self {
            Column::Numbers(values) => values.len(),
            Column::Whole(values) => values.len(),
            Column::Flags(values) => values.len(),
            Column::Names { index, .. } => index.len(),
        }
    }

    /// True without values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A column of texts.
    fn texts<'a>(texts: impl IntoIterator<Item = &'a str>) -> Column {
        let (mut index, mut names) = (Vec::new(), Vec::<String>::new());
        for text in texts {
            // Equal texts mostly follow each other.
            let last = index.last().map(|last: &u32| *last as usize).filter(|last| names[*last] == text);
            let found = last.or_else(|| names.iter().position(|name| name == text));
            index.push(found.unwrap_or_else(|| {
                names.push(text.to_owned());
                names.len() - 1
            }) as u32);
        }
        Column::Names { index, names }
    }
}

impl Frame {
    /// The number of rows.
    pub fn len(&self) -> usize {
        self.columns.first().map_or(0, |(_, column)| column.len())
    }

    /// True without rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn with(mut self, name: &str, column: Column) -> Frame {
        self.columns.push((name.to_owned(), column));
        self
    }

    /// Adds columns of numbers, of rows that have a number for each of the names.
    fn with_numbers<'a>(self, names: impl Iterator<Item = &'a str>, rows: &[impl AsRef<[f64]>]) -> Frame {
        names.enumerate().fold(self, |frame, (nth, name)| {
            frame.with(name, Column::Numbers(rows.iter().map(|row| row.as_ref()[nth]).collect()))
        })
    }
}

/// The columns `scheme` and `seed`, where each run has so many rows.
fn of_runs(runs: &[Recorded], rows: impl Fn(&Recorded) -> usize) -> Frame {
    let each = || runs.iter().flat_map(|it| std::iter::repeat_n(it, rows(it)));
    let schemes = Column::texts(each().map(|it| it.variant.as_str()));
    Frame::default().with("scheme", schemes).with("seed", Column::Whole(each().map(|it| it.run.seed).collect()))
}

/// A row for each run, with all its [`quantities`].
pub fn summary(runs: &[Recorded]) -> Frame {
    quantities().fold(of_runs(runs, |_| 1), |frame, (name, _)| {
        frame.with(name, Column::Numbers(runs.iter().map(|it| it.run.value(name)).collect()))
    })
}

/// A row for each flow, as in `flows.csv`.
pub fn flows(runs: &[Recorded]) -> Frame {
    let each = || runs.iter().flat_map(|it| it.run.outcome.flows.iter().enumerate().map(move |flow| (it, flow)));
    let numbers: Vec<Vec<f64>> = each().map(|(_, (_, flow))| flows::numbers(flow)).collect();
    of_runs(runs, |it| it.run.outcome.flows.len())
        .with("flow", Column::Whole(each().map(|(_, (number, _))| number as u64).collect()))
        .with("group", Column::texts(each().map(|(it, (_, flow))| it.run.group_of(flow))))
        .with("kind", Column::texts(each().map(|(_, (_, flow))| flows::kind(&flow.ended))))
        .with_numbers(flows::names(), &numbers)
}

/// A row for each way of each station of a Wi-Fi cell, as in `stations.csv`.
pub fn stations(runs: &[Recorded]) -> Frame {
    let each = || runs.iter().flat_map(|it| stations::numbers(&it.run));
    let numbers: Vec<[f64; 7]> = each().map(|(.., numbers)| numbers).collect();
    of_runs(runs, |it| stations::numbers(&it.run).count())
        .with("station", Column::texts(each().map(|(station, ..)| station)))
        .with("way", Column::texts(each().map(|(_, way, _)| way)))
        .with_numbers(stations::names(), &numbers)
}

/// A row for each reading of a flow, as in `intervals-SEED.csv`.
pub fn intervals(runs: &[Recorded]) -> Frame {
    let groups = runs.iter().flat_map(|it| it.flows.number.iter().map(move |flow| it.run.group_of_number(*flow)));
    let frame = of_runs(runs, |it| it.flows.at.len());
    readings(frame, runs.iter().map(|it| &it.flows), ["flow", "end"], Some(Column::texts(groups)))
}

/// A row for each reading of a hop, as in `hops-SEED.csv`.
pub fn hops(runs: &[Recorded]) -> Frame {
    let frame = of_runs(runs, |it| it.hops.at.len());
    readings(frame, runs.iter().map(|it| &it.hops), ["hop", "way"], None)
}

fn readings<'a, Side: ToString + PartialEq + 'a>(
    frame: Frame,
    all: impl Iterator<Item = &'a Readings<Side>> + Clone,
    [number, side]: [&str; 2],
    groups: Option<Column>,
) -> Frame {
    let frame = frame
        .with("t_s", Column::Numbers(all.clone().flat_map(|it| it.at.iter().copied()).collect()))
        .with(number, Column::Whole(all.clone().flat_map(|it| it.number.iter().copied()).collect()));
    let frame = match groups {
        Some(groups) => frame.with("group", groups),
        None => frame,
    };
    frame
        .with(side, indexed(all.clone().flat_map(|it| it.side.iter()), ToString::to_string))
        .with("probe", probes(all.clone()))
        .with("value", Column::Numbers(all.flat_map(|it| it.value.iter().copied()).collect()))
}

/// A column of the texts of values, of which there are a few.
fn indexed<'a, T: PartialEq + 'a>(values: impl Iterator<Item = &'a T>, text: impl Fn(&T) -> String) -> Column {
    let (mut index, mut known) = (Vec::new(), Vec::<&T>::new());
    for value in values {
        let found = known.iter().position(|it| *it == value);
        index.push(found.unwrap_or_else(|| {
            known.push(value);
            known.len() - 1
        }) as u32);
    }
    Column::Names { index, names: known.into_iter().map(text).collect() }
}

/// The probes of all readings, each of which has indices of its own.
fn probes<'a, Side: 'a>(all: impl Iterator<Item = &'a Readings<Side>>) -> Column {
    let (mut index, mut names) = (Vec::new(), Vec::<&str>::new());
    for readings in all {
        let place = |probe: &&'static str| {
            names.iter().position(|name| name == probe).unwrap_or_else(|| {
                names.push(probe);
                names.len() - 1
            }) as u32
        };
        let places: Vec<u32> = readings.probes.iter().map(place).collect();
        index.extend(readings.probe.iter().map(|probe| places[usize::from(*probe)]));
    }
    Column::Names { index, names: names.into_iter().map(str::to_owned).collect() }
}

/// The lines of one kind of all parts of a sweep, such as `summary`: the values of the parameters, the seed, and those of the
/// line. A summary has the processor time, too.
pub fn of_parts(parts: &[Part], kind: &str) -> Frame {
    let lines: Vec<(&Part, Map<String, Value>)> =
        parts.iter().flat_map(|part| part.of(kind).map(move |line| (part, line)).collect::<Vec<_>>()).collect();
    let known: Vec<&str> = names(kind).collect();
    let parameters = parts.first().into_iter().flat_map(|part| part.parameters.keys());
    // The scheme is in the lines.
    let of_lines = parameters.filter(|name| !known.contains(&name.as_str())).fold(Frame::default(), |frame, name| {
        frame.with(name, of_parameter(lines.iter().map(|(part, _)| part.parameters.get(name))))
    });
    let frame = of_lines.with("seed", Column::Whole(lines.iter().map(|(part, _)| part.seed).collect()));
    known.into_iter().fold(frame, |frame, name| {
        let column = match name {
            CPU => Column::Numbers(lines.iter().map(|(part, _)| part.cpu_s).collect()),
            name => of_line(name, lines.iter().map(|(_, line)| line.get(name))),
        };
        frame.with(name, column)
    })
}

/// The names of the values of a line beside the seed, in the order of the files; JSON objects are sorted.
fn names(kind: &str) -> Box<dyn Iterator<Item = &'static str>> {
    match kind {
        "summary" => Box::new(["scheme"].into_iter().chain(quantities().map(|(name, _)| name))),
        "flow" => Box::new(["scheme", "flow", "group", "kind"].into_iter().chain(flows::names())),
        "station" => Box::new(["scheme", "station", "way"].into_iter().chain(stations::names())),
        "interval" => Box::new(["t_s", "flow", "group", "end", "probe", "value"].into_iter()),
        _ => Box::new(["t_s", "hop", "way", "probe", "value"].into_iter()),
    }
}

/// A column of a line's values; its name says of which type they are.
fn of_line<'a>(name: &str, values: impl Iterator<Item = Option<&'a Value>>) -> Column {
    match name {
        "flow" | "hop" => {
            Column::Whole(values.map(|value| value.and_then(Value::as_u64).unwrap_or_default()).collect())
        }
        "scheme" | "group" | "kind" | "station" | "way" | "end" | "probe" => {
            Column::texts(values.map(|value| value.and_then(Value::as_str).unwrap_or_default()))
        }
        _ => Column::Numbers(values.map(|value| value.and_then(Value::as_f64).unwrap_or(f64::NAN)).collect()),
    }
}

/// A column of a parameter's values, which are of one type in a scenario.
fn of_parameter<'a>(values: impl Iterator<Item = Option<&'a Value>> + Clone) -> Column {
    match values.clone().flatten().next() {
        Some(Value::String(_)) => Column::texts(values.map(|value| value.and_then(Value::as_str).unwrap_or_default())),
        Some(Value::Bool(_)) => {
            Column::Flags(values.map(|value| value.and_then(Value::as_bool).unwrap_or_default()).collect())
        }
        _ => Column::Numbers(values.map(|value| value.and_then(Value::as_f64).unwrap_or(f64::NAN)).collect()),
    }
}
