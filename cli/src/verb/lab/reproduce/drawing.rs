//! A paper's figures, tables and errors as those of a page.

use thalweg_lab::paper::erratum::Erratum;
use thalweg_lab::paper::figure::{self, Panel, Points, Scale, Series};
use thalweg_lab::paper::table::{self, Cell};
use thalweg_lab::scenario::Parameter;

use super::super::table::number;
use crate::report::{Axis, Figure, Line, Plot, Row, Section, Table, Tone};

/// Of errors in a paper that has tables.
pub(super) const AS_PRINTED: &str = "The tables above show the paper's numbers as they are printed.";

/// What keeps a colour.
pub(super) trait Toned: Copy {
    /// Its colour.
    fn tone(self) -> Tone;
}

/// A figure of the paper.
pub(super) fn figure<S: Toned>(figure: &figure::Figure<S>) -> Section {
    let figures = figure.panels.iter().map(|panel| Figure::Plot(plot(panel))).collect();
    let mut text = vec![figure.caption.clone()];
    if figure.panels.is_empty() {
        text.push("Nothing of it was run.".into());
    }
    Section { title: figure.name.into(), text, figures }
}

fn plot<S: Toned>(panel: &Panel<S>) -> Plot {
    let lines: Vec<Line> = panel.series.iter().enumerate().filter_map(|(nth, series)| line(nth, series)).collect();
    let x = Axis::new(panel.x.label, panel.x.unit);
    let x = match panel.x.scale {
        Scale::Logarithmic => x.logarithmic(),
        Scale::Linear => with_room(x, &lines),
    };
    Plot { title: panel.title.clone(), x, y: Axis::new(panel.y.label, panel.y.unit), lines }
}

/// Points that were measured at a few places stand apart from the edges.
fn with_room(axis: Axis, lines: &[Line]) -> Axis {
    let places =
        || lines.iter().filter(|line| line.spreads.is_some()).flat_map(|line| &line.points).map(|point| point.0);
    let (least, largest) = (places().fold(f64::INFINITY, f64::min), places().fold(f64::NEG_INFINITY, f64::max));
    if !(least.is_finite() && largest > least) {
        return axis;
    }
    let room = (largest - least) / 12.0;
    axis.between(least - room, largest + room)
}

/// None if there is nothing to draw.
fn line<S: Toned>(nth: usize, series: &Series<S>) -> Option<Line> {
    let tone = series.subject.map_or(Tone([2, 1, 3, 5][nth % 4]), Toned::tone);
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

/// A table of the paper: each cell is the paper's value, ours, and ours over the paper's. `lab` says what ours is.
pub(super) fn table<S: Toned>(table: &table::Table<S>, lab: &str) -> Section {
    let text = vec![table.about.clone(), format!("Each cell: paper | lab | lab / paper. {lab}")];
    let blocks = table.blocks.iter().map(|(heading, rows)| {
        let head = std::iter::once(heading.as_str()).chain(table.columns.iter().copied()).map(str::to_owned).collect();
        let row = |row: &table::Row<S>| Row {
            subject: row.subject.clone(),
            tone: Some(row.scheme.tone()),
            cells: row.cells.iter().map(cell).collect(),
        };
        Figure::Table(Table { head, rows: rows.iter().map(row).collect() })
    });
    Section { title: table.name.into(), text, figures: blocks.collect() }
}

/// What is wrong in the paper itself; `note` is what else there is to say.
pub(super) fn errors(errata: &[Erratum], note: &str) -> Section {
    let row = |erratum: &Erratum| Row {
        subject: erratum.at.into(),
        tone: None,
        cells: vec![erratum.printed.into(), erratum.correct.into()],
    };
    let head = ["where", "printed", "what it should be"].map(str::to_owned).to_vec();
    let table = Table { head, rows: errata.iter().map(row).collect() };
    Section { title: "Errors of the paper".into(), text: vec![note.into()], figures: vec![Figure::Words(table)] }
}

/// How a page was made: `about` the paper and the lab, and the `command` that wrote it.
pub(super) fn made(about: &str, runs: usize, command: &str) -> Section {
    let command = format!("{command}    # version {}, {runs} runs\n", env!("CARGO_PKG_VERSION"));
    Section { title: "What this is".into(), text: vec![about.to_owned()], figures: vec![Figure::Code(command)] }
}

/// Every parameter of every scenario, a line for each condition.
pub(super) fn options(text: &[&str], conditions: impl Iterator<Item = (String, Vec<Parameter>)>) -> Section {
    let row = |(subject, parameters): (String, Vec<Parameter>)| {
        let written = parameters.iter().map(|parameter| format!("{}={}", parameter.name, parameter.value));
        Row { subject, tone: None, cells: vec![written.collect::<Vec<_>>().join(" ")] }
    };
    let head = ["condition", "parameters of its scenario (thalweg lab run)"].map(str::to_owned).to_vec();
    let table = Table { head, rows: conditions.map(row).collect() };
    let text = text.iter().copied().map(str::to_owned).collect();
    Section { title: "Options".into(), text, figures: vec![Figure::Words(table)] }
}

fn cell(cell: &Cell) -> String {
    let ratio = cell.ratio().map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.2}"));
    match (cell.paper, cell.lab.mean.is_finite()) {
        (None, false) => "-".into(),
        (None, true) => format!("- | {} | {ratio}", number(cell.lab.mean)),
        (Some(paper), false) => format!("{paper} | - | {ratio}"),
        (Some(paper), true) => format!("{paper} | {} | {ratio}", number(cell.lab.mean)),
    }
}
