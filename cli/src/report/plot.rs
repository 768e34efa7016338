//! Lines over an axis, drawn as SVG.
//!
//! Only the lines are in the SVG, which is stretched to whatever room there is; labels are HTML at percentages of the
//! same area, so that they keep their size on a phone and on a wall.

use std::fmt::Write as _;

use serde::Serialize;

use super::ticks::Ticks;
use super::{Tone, escape};

/// The side of the square that the lines are drawn in before it is stretched.
const SIDE: f64 = 1000.0;

#[derive(Serialize)]
pub(crate) struct Plot {
    pub(crate) title: String,
    pub(crate) x: Axis,
    /// Starts at zero, like every quantity here.
    pub(crate) y: Axis,
    pub(crate) lines: Vec<Line>,
}

#[derive(Clone, Serialize)]
pub(crate) struct Axis {
    pub(crate) label: String,
    pub(crate) unit: String,
    /// Where it ends; none is the largest value of this plot. Plots that are to be compared name the same.
    #[serde(skip)]
    pub(crate) end: Option<f64>,
}

#[derive(Serialize)]
pub(crate) struct Line {
    pub(crate) name: String,
    #[serde(serialize_with = "tone_number")]
    pub(crate) tone: Tone,
    /// In the units of the axes, x ascending. A y that is not finite is a gap.
    pub(crate) points: Vec<(f64, f64)>,
}

/// What of the plane is shown.
struct View {
    x: (f64, f64),
    y: f64,
}

impl Axis {
    pub(crate) fn new(label: &str, unit: &str) -> Axis {
        Axis { label: label.into(), unit: unit.into(), end: None }
    }

    /// The same axis up to `end`.
    pub(crate) fn up_to(self, end: f64) -> Axis {
        Axis { end: Some(end), ..self }
    }

    fn name(&self) -> String {
        if self.unit.is_empty() { self.label.clone() } else { format!("{}, {}", self.label, self.unit) }
    }
}

impl Line {
    pub(crate) fn new(name: &str, tone: Tone, points: Vec<(f64, f64)>) -> Line {
        Line { name: name.into(), tone, points }
    }
}

impl Plot {
    pub(super) fn to_html(&self) -> String {
        let view = self.view();
        let data = serde_json::to_string(self).unwrap_or_default().replace('<', "\\u003c");
        let legend: String = self.lines.iter().map(Line::legend).collect();
        format!(
            "<figure class=\"plot\" data-x=\"{} {}\" data-y=\"0 {}\">\n<figcaption><b>{}</b><span class=\"legend\">{legend}</span></figcaption>\n\
             <div class=\"frame\"><div class=\"area\" role=\"img\" aria-label=\"{}\">\n{}{}</div></div>\n\
             <p class=\"x-name\">{}</p>\n<script type=\"application/json\">{data}</script>\n</figure>\n",
            view.x.0,
            view.x.1,
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
        let start = all().map(|point| point.0).fold(f64::INFINITY, f64::min);
        let start = if start.is_finite() { start.min(0.0) } else { 0.0 };
        let end = self.x.end.unwrap_or_else(|| largest(|point| point.0));
        let top = self.y.end.unwrap_or_else(|| largest(|point| point.1));
        View { x: (start, if end > start { end } else { start + 1.0 }), y: Ticks::ceiling(top, 4) }
    }

    fn svg(&self, view: &View) -> String {
        let mut svg =
            format!("<svg viewBox=\"0 0 {SIDE} {SIDE}\" preserveAspectRatio=\"none\" aria-hidden=\"true\">\n");
        for y in Ticks::between(0.0, view.y, 4).at {
            let y = view.down(y);
            let _ = writeln!(svg, "<path class=\"grid\" d=\"M0 {y:.1}H{SIDE}\"/>");
        }
        for line in &self.lines {
            let _ = writeln!(svg, "<path class=\"line tone-{}\" d=\"{}\"/>", line.tone.0, line.path(view));
        }
        svg + "</svg>\n"
    }

    fn labels(&self, view: &View) -> String {
        let mut html = String::new();
        let across = Ticks::between(view.x.0, view.x.1, 5);
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
        (x - self.x.0) / (self.x.1 - self.x.0) * SIDE
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
    fn a_plot_without_points_is_still_a_plot() {
        let html = plot(Vec::new()).to_html();
        assert!(html.contains("data-x=\"0 1\"") && !html.contains("NaN"), "{html}");
    }
}
