//! Figures of published evaluations: what is drawn, over which axis.

use crate::statistics::Estimate;

/// What a paper compares: it keeps its colour in all figures and tables.
pub trait Subject: Copy {
    /// What reports call it.
    fn name(self) -> &'static str;
}

/// A figure of the paper.
#[derive(Clone, PartialEq, Debug)]
pub struct Figure<S> {
    /// Its name in the paper.
    pub name: &'static str,
    /// What it shows.
    pub caption: String,
    /// What it is made of, from left to right.
    pub panels: Vec<Panel<S>>,
}

/// One plot.
#[derive(Clone, PartialEq, Debug)]
pub struct Panel<S> {
    /// What it shows.
    pub title: String,
    /// Across.
    pub x: Axis,
    /// Up.
    pub y: Axis,
    /// What is drawn.
    pub series: Vec<Series<S>>,
}

/// An axis.
#[derive(Clone, PartialEq, Debug)]
pub struct Axis {
    /// What it shows.
    pub label: &'static str,
    /// In which unit; empty if in none.
    pub unit: &'static str,
    /// How it is divided.
    pub scale: Scale,
}

/// How an axis is divided.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scale {
    /// Evenly, from zero.
    Linear,
    /// By powers of ten.
    Logarithmic,
}

/// Points that belong together.
#[derive(Clone, PartialEq, Debug)]
pub struct Series<S> {
    /// What they are.
    pub name: String,
    /// Which subject they keep their colour with, if any.
    pub subject: Option<S>,
    /// From left to right.
    pub points: Points,
}

/// What is drawn of a series.
#[derive(Clone, PartialEq, Debug)]
pub enum Points {
    /// A line.
    Curve(Vec<(f64, f64)>),
    /// Means over seeds with their intervals.
    Measured(Vec<(f64, Estimate)>),
}

impl Axis {
    pub(super) const fn linear(label: &'static str, unit: &'static str) -> Axis {
        Axis { label, unit, scale: Scale::Linear }
    }

    pub(super) const fn logarithmic(label: &'static str, unit: &'static str) -> Axis {
        Axis { label, unit, scale: Scale::Logarithmic }
    }
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
