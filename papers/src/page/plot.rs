//! Lines over an axis, drawn as SVG.
//!
//! Only the lines are in the SVG, which is stretched to the available area; labels are HTML at percentages of the same
//! area, so that they keep their size on a phone and on a wall.

use std::fmt::Write as _;

use serde::Serialize;

use super::ticks::Ticks;
use super::{Tone, escape};

/// The side of the square that the lines are drawn in before it is stretched.
const SIDE: f64 = 1000.0;

/// Lines over two axes.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Plot {
    /// The heading.
    pub title: String,
    /// The x axis.
    pub x: Axis,
    /// The y axis, which starts at zero.
    pub y: Axis,
    /// The lines, each with its place in the legend.
    pub lines: Vec<Line>,
}

/// An axis of a plot.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Axis {
    /// The quantity.
    pub label: String,
    /// The unit; empty if there is none.
    pub unit: String,
    /// The start of the x axis; `None` is zero, or the least value if that is negative or the axis logarithmic.
    #[serde(skip)]
    pub start: Option<f64>,
    /// The end of the axis; `None` is the largest value of this plot. Plots to be compared have the same end.
    #[serde(skip)]
    pub end: Option<f64>,
    /// True if equal steps are equal factors; for the x axis only.
    #[serde(skip)]
    pub is_logarithmic: bool,
}

/// A line of a plot.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Line {
    /// The name in the legend.
    pub name: String,
    /// The color and dash.
    #[serde(serialize_with = "tone_number")]
    pub tone: Tone,
    /// In the units of the axes, x ascending. A y that is not finite is a gap.
    pub points: Vec<(f64, f64)>,
    /// For measured points, half the width of each interval: the points get marks, and bars where the width is finite.
    #[serde(skip)]
    pub spreads: Option<Vec<f64>>,
}

/// The part of the plane that is shown.
struct View {
    x: (f64, f64),
    is_logarithmic: bool,
    y: f64,
}

impl Axis {
    /// An axis from zero to the largest value of its plot.
    pub fn new(label: &str, unit: &str) -> Axis {
        Axis { label: label.into(), unit: unit.into(), start: None, end: None, is_logarithmic: false }
    }

    /// The same axis between `start` and `end`.
    pub fn between(self, start: f64, end: f64) -> Axis {
        Axis { start: Some(start), end: Some(end), ..self }
    }

    /// The same axis by powers of ten. It begins at the least value that is shown.
    pub fn logarithmic(self) -> Axis {
        Axis { is_logarithmic: true, ..self }
    }

    /// The same axis up to `end`.
    pub fn up_to(self, end: f64) -> Axis {
        Axis { end: Some(end), ..self }
    }

    pub(super) fn name(&self) -> String {
        if self.unit.is_empty() { self.label.clone() } else { format!("{}, {}", self.label, self.unit) }
    }
}

impl Line {
    /// A curve through `points`.
    pub fn new(name: &str, tone: Tone, points: Vec<(f64, f64)>) -> Line {
        Line { name: name.into(), tone, points, spreads: None }
    }

    /// Points with intervals: x, y, and half the width of the interval of y.
    pub fn measured(name: &str, tone: Tone, points: &[(f64, f64, f64)]) -> Line {
        let spreads = points.iter().map(|point| point.2).collect();
        let points = points.iter().map(|point| (point.0, point.1)).collect();
        Line { spreads: Some(spreads), ..Line::new(name, tone, points) }
    }
}

impl Plot {
    pub(super) fn to_html(&self) -> String {
        let view = self.view();
        let data = serde_json::to_string(self).unwrap_or_default().replace('<', "\\u003c");
        let legend: String = self.lines.iter().map(Line::legend).collect();
        format!(
            "<figure class=\"plot\" data-x=\"{} {}\"{} data-y=\"0 {}\">\n<figcaption><b>{}</b><span class=\"legend\">{legend}</span></figcaption>\n\
             <div class=\"frame\"><div class=\"area\" role=\"img\" aria-label=\"{}\">\n{}{}</div></div>\n\
             <p class=\"x-name\">{}</p>\n<script type=\"application/json\">{data}</script>\n</figure>\n",
            view.x.0,
            view.x.1,
            if view.is_logarithmic { " data-logarithmic=\"x\"" } else { "" },
            view.y,
            escape(&self.title),
            escape(&format!("{}: {} over {}", self.title, self.y.name(), self.x.name())),
            self.svg(&view),
            self.labels(&view),
            escape(&self.x.name()),
        )
    }

    fn view(&self) -> View {
        let all = || self.lines.iter().flat_map(|line| &line.points).filter(|point| point.1.is_finite());
        let largest = |pick: fn(&(f64, f64)) -> f64| all().map(pick).fold(0.0, f64::max);
        let least = all().map(|point| point.0).fold(f64::INFINITY, f64::min);
        let is_logarithmic = self.x.is_logarithmic && least > 0.0 && least.is_finite();
        let start = self.x.start.unwrap_or(match least {
            least if is_logarithmic => least,
            least if least.is_finite() => least.min(0.0),
            _ => 0.0,
        });
        let end = self.x.end.unwrap_or_else(|| largest(|point| point.0));
        let top = self.y.end.unwrap_or_else(|| largest(|point| point.1));
        View { x: (start, if end > start { end } else { start + 1.0 }), is_logarithmic, y: Ticks::ceiling(top, 4) }
    }

    fn svg(&self, view: &View) -> String {
        let mut svg =
            format!("<svg viewBox=\"0 0 {SIDE} {SIDE}\" preserveAspectRatio=\"none\" aria-hidden=\"true\">\n");
        for y in Ticks::between(0.0, view.y, 4).at {
            let y = view.down(y);
            let _ = writeln!(svg, "<path class=\"grid\" d=\"M0 {y:.1}H{SIDE}\"/>");
        }
        for line in &self.lines {
            let tone = line.tone.0;
            let _ = writeln!(svg, "<path class=\"line tone-{tone}\" d=\"{}\"/>", line.path(view));
            if line.spreads.is_some() {
                let _ = writeln!(svg, "<path class=\"bar tone-{tone}\" d=\"{}\"/>", line.bars(view));
                let _ = writeln!(svg, "<path class=\"mark tone-{tone}\" d=\"{}\"/>", line.marks(view));
            }
        }
        svg + "</svg>\n"
    }

    fn labels(&self, view: &View) -> String {
        let mut html = String::new();
        let across = match view.is_logarithmic {
            true => Ticks::by_decades(view.x.0, view.x.1),
            false => Ticks::between(view.x.0, view.x.1, 5),
        };
        let up = Ticks::between(0.0, view.y, 4);
        for x in across.at {
            let _ = write!(
                html,
                "<span class=\"x\" style=\"left:{:.2}%\">{x:.*}</span>",
                view.right(x) / SIDE * 100.0,
                across.decimals
            );
        }
        for y in up.at {
            let _ = write!(
                html,
                "<span class=\"y\" style=\"top:{:.2}%\">{y:.*}</span>",
                view.down(y) / SIDE * 100.0,
                up.decimals
            );
        }
        let _ = writeln!(html, "<span class=\"y-name\">{}</span>", escape(&self.y.name()));
        html
    }
}

impl Line {
    fn path(&self, view: &View) -> String {
        let mut path = String::new();
        let mut pen = 'M';
        for &(x, y) in &self.points {
            if x.is_finite() && y.is_finite() {
                let _ = write!(path, "{pen}{:.1} {:.1}", view.right(x), view.down(y));
                pen = 'L';
            } else {
                pen = 'M';
            }
        }
        path
    }

    /// A stroke without length is a dot: it keeps its shape however the drawing is stretched.
    fn marks(&self, view: &View) -> String {
        let seen = self.points.iter().filter(|(x, y)| x.is_finite() && y.is_finite());
        seen.map(|&(x, y)| format!("M{:.1} {:.1}h0", view.right(x), view.down(y))).collect()
    }

    fn bars(&self, view: &View) -> String {
        let spreads = self.spreads.iter().flatten();
        let seen = self.points.iter().zip(spreads).filter(|((_, y), spread)| y.is_finite() && spread.is_finite());
        let ends = |y: f64, spread: f64| [y - spread, y + spread].map(|end| view.down(end.clamp(0.0, view.y)));
        seen.map(|(&(x, y), &spread)| {
            let [low, high] = ends(y, spread);
            format!("M{:.1} {low:.1}V{high:.1}", view.right(x))
        })
        .collect()
    }

    fn legend(&self) -> String {
        format!(
            "<span><svg viewBox=\"0 0 24 6\" aria-hidden=\"true\"><path class=\"line tone-{}\" d=\"M0 3H24\"/></svg>{}</span>",
            self.tone.0,
            escape(&self.name)
        )
    }
}

impl View {
    fn right(&self, x: f64) -> f64 {
        let (low, high) = self.x;
        let share = if self.is_logarithmic { (x / low).ln() / (high / low).ln() } else { (x - low) / (high - low) };
        share * SIDE
    }

    fn down(&self, y: f64) -> f64 {
        SIDE - y / self.y * SIDE
    }
}

fn tone_number<S: serde::Serializer>(tone: &Tone, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(tone.0 as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plot(points: Vec<(f64, f64)>) -> Plot {
        Plot {
            title: "window".into(),
            x: Axis::new("time", "s"),
            y: Axis::new("packets", ""),
            lines: vec![Line::new("a", Tone(0), points)],
        }
    }

    #[test]
    fn zero_is_at_the_bottom_and_time_runs_to_the_right() {
        let html = plot(vec![(0.0, 0.0), (10.0, 20.0)]).to_html();
        assert!(html.contains("M0.0 1000.0L1000.0 0.0"), "{html}");
    }

    #[test]
    fn an_unknown_value_is_a_gap_and_not_a_zero() {
        let html = plot(vec![(0.0, 20.0), (5.0, f64::NAN), (10.0, 20.0)]).to_html();
        assert!(html.contains("M0.0 0.0M1000.0 0.0"), "{html}");
    }

    #[test]
    fn a_power_of_ten_is_a_step_of_a_logarithmic_axis() {
        let plot = plot(vec![(1.0, 0.0), (10.0, 20.0), (100.0, 0.0)]);
        let html = Plot { x: plot.x.clone().logarithmic(), ..plot }.to_html();
        assert!(html.contains("M0.0 1000.0L500.0 0.0L1000.0 1000.0"), "{html}");
    }

    #[test]
    fn a_measured_point_has_a_mark_and_its_interval_a_bar() {
        let line = Line::measured("a", Tone(0), &[(0.0, 10.0, 5.0), (10.0, 20.0, f64::INFINITY)]);
        let html = Plot { lines: vec![line], ..plot(Vec::new()) }.to_html();
        assert!(html.contains("d=\"M0.0 750.0V250.0\""), "no bar where the interval is unknown: {html}");
        assert!(html.contains("d=\"M0.0 500.0h0M1000.0 0.0h0\""), "{html}");
    }

    #[test]
    fn plot_without_points_has_default_axes() {
        let html = plot(Vec::new()).to_html();
        assert!(html.contains("data-x=\"0 1\"") && !html.contains("NaN"), "{html}");
    }
}
