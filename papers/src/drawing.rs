//! A paper's figures, tables and errors as those of a page.

use thalweg_lab::scenario::Parameter;

use crate::comparison::{Comparison, Entry, Pair};
use crate::erratum::Erratum;
use crate::figure::{self, Panel, Points, Series, Subject};
use crate::page::{Axis, Element, Line, Plot, Row, Section, Table, Tone, number};

/// A note on the errors of a paper that has tables.
pub const AS_PRINTED: &str = "The tables above show the paper's numbers as they are printed.";

/// A figure of the paper.
pub fn figure<S: Subject>(figure: &figure::Figure<S>) -> Section {
    let elements = figure.panels.iter().map(|panel| Element::Plot(plot(panel))).collect();
    let mut text = vec![figure.caption.clone()];
    if figure.panels.is_empty() {
        text.push("Nothing of it was run.".into());
    }
    Section { title: figure.name.into(), text, elements }
}

fn plot<S: Subject>(panel: &Panel<S>) -> Plot {
    let lines: Vec<Line> = panel.series.iter().enumerate().filter_map(|(nth, series)| line(nth, series)).collect();
    let x = panel.x.clone();
    let x = if x.is_logarithmic { x } else { with_margin(x, &lines) };
    Plot { title: panel.title.clone(), x, y: panel.y.clone(), lines }
}

/// Widens the axis, so that points measured at a few places stand apart from the edges.
fn with_margin(axis: Axis, lines: &[Line]) -> Axis {
    let places =
        || lines.iter().filter(|line| line.spreads.is_some()).flat_map(|line| &line.points).map(|point| point.0);
    let (least, largest) = (places().fold(f64::INFINITY, f64::min), places().fold(f64::NEG_INFINITY, f64::max));
    if !(least.is_finite() && largest > least) {
        return axis;
    }
    let margin = (largest - least) / 12.0;
    axis.between(least - margin, largest + margin)
}

/// A line; `None` if there is nothing to draw.
fn line<S: Subject>(nth: usize, series: &Series<S>) -> Option<Line> {
    let tone = series.subject.map_or(Tone([2, 1, 3, 5][nth % 4]), Subject::tone);
    let line = match &series.points {
        Points::Curve(points) => Line::new(&series.name, tone, points.clone()),
        Points::Measured(points) => {
            let points = points.iter().filter(|(_, estimate)| estimate.mean.is_finite());
            let points: Vec<_> = points.map(|(x, estimate)| (*x, estimate.mean, estimate.half_width)).collect();
            Line::measured(&series.name, tone, &points)
        }
    };
    (!line.points.is_empty()).then_some(line)
}

/// A table of the paper: each cell has the paper's value, the lab's, and lab / paper. `lab` explains the lab's value.
pub fn table<S: Subject>(table: &Comparison<S>, lab: &str) -> Section {
    let text = vec![table.about.clone(), format!("Each cell: paper | lab | lab / paper. {lab}")];
    let blocks = table.blocks.iter().map(|(heading, rows)| {
        let head = std::iter::once(heading.as_str()).chain(table.columns.iter().copied()).map(str::to_owned).collect();
        let row = |row: &Entry<S>| Row {
            subject: row.subject.clone(),
            tone: Some(row.scheme.tone()),
            cells: row.cells.iter().map(cell).collect(),
        };
        Element::Table(Table { head, rows: rows.iter().map(row).collect() })
    });
    Section { title: table.name.into(), text, elements: blocks.collect() }
}

/// Errors in the paper itself; `note` is an additional remark.
pub fn errors(errata: &[Erratum], note: &str) -> Section {
    let row = |erratum: &Erratum| Row {
        subject: erratum.at.into(),
        tone: None,
        cells: vec![erratum.printed.into(), erratum.correct.into()],
    };
    let head = ["where", "printed", "what it should be"].map(str::to_owned).to_vec();
    let table = Table { head, rows: errata.iter().map(row).collect() };
    Section { title: "Errors of the paper".into(), text: vec![note.into()], elements: vec![Element::Words(table)] }
}

/// The section on the making of a page: `about` the paper and the lab, and the `command` that wrote it.
pub fn made(about: &str, runs: usize, command: &str) -> Section {
    let command = format!("{command}    # version {}, {runs} runs\n", env!("CARGO_PKG_VERSION"));
    Section { title: "What this is".into(), text: vec![about.to_owned()], elements: vec![Element::Code(command)] }
}

/// Every parameter of every scenario, a line for each condition.
pub fn options(text: &[&str], conditions: impl Iterator<Item = (String, Vec<Parameter>)>) -> Section {
    let row = |(subject, parameters): (String, Vec<Parameter>)| {
        let written = parameters.iter().map(|parameter| format!("{}={}", parameter.name, parameter.value));
        Row { subject, tone: None, cells: vec![written.collect::<Vec<_>>().join(" ")] }
    };
    let head = ["condition", "parameters of its scenario (thalweg lab run)"].map(str::to_owned).to_vec();
    let table = Table { head, rows: conditions.map(row).collect() };
    let text = text.iter().copied().map(str::to_owned).collect();
    Section { title: "Options".into(), text, elements: vec![Element::Words(table)] }
}

fn cell(cell: &Pair) -> String {
    let ratio = cell.ratio().map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.2}"));
    match (cell.paper, cell.lab.mean.is_finite()) {
        (None, false) => "-".into(),
        (None, true) => format!("- | {} | {ratio}", number(cell.lab.mean)),
        (Some(paper), false) => format!("{paper} | - | {ratio}"),
        (Some(paper), true) => format!("{paper} | {} | {ratio}", number(cell.lab.mean)),
    }
}
