//! The paper's figures and tables as those of a page.

use thalweg_lab::paper::geneva::Scheme;
use thalweg_lab::paper::geneva::figures::{self, Panel, Points, Scale, Series};
use thalweg_lab::paper::geneva::tables::{self, COLUMNS, Cell};

use super::super::table::number;
use crate::report::{Axis, Figure, Line, Plot, Row, Section, Table, Tone};

/// A figure of the paper.
pub(super) fn figure(figure: &figures::Figure) -> Section {
    let figures = figure.panels.iter().map(|panel| Figure::Plot(plot(panel))).collect();
    let mut text = vec![figure.caption.clone()];
    if figure.panels.is_empty() {
        text.push("Nothing of it was run.".into());
    }
    Section { title: figure.name.into(), text, figures }
}

fn plot(panel: &Panel) -> Plot {
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
fn line(nth: usize, series: &Series) -> Option<Line> {
    let tone = series.scheme.map_or(Tone([2, 1, 3, 5][nth % 4]), tone);
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

/// The colour that a scheme keeps.
fn tone(scheme: Scheme) -> Tone {
    Tone(match scheme {
        Scheme::GenevaInteger => 2,
        Scheme::GenevaReal => 3,
        Scheme::Static8 | Scheme::Udp => 1,
        Scheme::Static12 => 0,
        Scheme::DpFec => 5,
        Scheme::Tfrc => 4,
    })
}

/// A table of the paper: each cell is the paper's value, ours, and ours over the paper's.
pub(super) fn table(table: &tables::Table) -> Section {
    let text = vec![
        table.about.into(),
        "Each cell: paper | lab | lab / paper. The lab's value is the mean over the seeds; bursty events are scaled to the \
         paper's 180 s."
            .into(),
    ];
    let blocks = table.blocks.iter().map(|(heading, rows)| {
        let head = std::iter::once(heading.as_str()).chain(COLUMNS).map(str::to_owned).collect();
        let row = |row: &tables::Row| Row {
            subject: row.subject.clone(),
            tone: Some(tone(row.scheme)),
            cells: row.cells.iter().map(cell).collect(),
        };
        Figure::Table(Table { head, rows: rows.iter().map(row).collect() })
    });
    Section { title: table.name.into(), text, figures: blocks.collect() }
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
