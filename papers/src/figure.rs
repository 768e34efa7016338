//! Figures of published evaluations: curves and panels.

use thalweg_lab::statistics::Estimate;

use crate::page::{Axis, Tone};

/// A subject that a paper compares; it keeps its color in all figures and tables.
pub trait Subject: Copy {
    /// The name in reports.
    fn name(self) -> &'static str;

    /// The color.
    fn tone(self) -> Tone;
}

/// A figure of the paper.
#[derive(Clone, PartialEq, Debug)]
pub struct Figure<S> {
    /// The name in the paper.
    pub name: &'static str,
    /// A description of the figure.
    pub caption: String,
    /// The panels, from left to right.
    pub panels: Vec<Panel<S>>,
}

/// One plot.
#[derive(Clone, PartialEq, Debug)]
pub struct Panel<S> {
    /// A description of the plot.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The series that are drawn.
    pub series: Vec<Series<S>>,
}

/// Points drawn as one series.
#[derive(Clone, PartialEq, Debug)]
pub struct Series<S> {
    /// A description of the points.
    pub name: String,
    /// The subject whose color is used, if any.
    pub subject: Option<S>,
    /// The points, from left to right.
    pub points: Points,
}

/// The points of a series, by the form in which they are drawn.
#[derive(Clone, PartialEq, Debug)]
pub enum Points {
    /// A line.
    Curve(Vec<(f64, f64)>),
    /// Means over seeds with their confidence intervals.
    Measured(Vec<(f64, Estimate)>),
}

impl<S> Series<S> {
    pub(super) fn measured(subject: S, points: impl Iterator<Item = (f64, Vec<f64>)>) -> Series<S>
    where
        S: Subject,
    {
        let points = points.map(|(x, values)| (x, Estimate::of(values)));
        Series { name: subject.name().to_owned(), subject: Some(subject), points: Points::Measured(points.collect()) }
    }

    pub(super) fn curve(name: impl Into<String>, points: Vec<(f64, f64)>) -> Series<S> {
        Series { name: name.into(), subject: None, points: Points::Curve(points) }
    }
}
