//! Tables of published evaluations: what a paper prints, and what came of the same here.

use crate::statistics::Estimate;

/// A table.
#[derive(Clone, PartialEq, Debug)]
pub struct Table<S> {
    /// Its name in the paper.
    pub name: &'static str,
    /// What it is about.
    pub about: String,
    /// Names of a row's cells.
    pub columns: &'static [&'static str],
    /// Blocks of rows, each with its heading.
    pub blocks: Vec<(String, Vec<Row<S>>)>,
}

/// One row.
#[derive(Clone, PartialEq, Debug)]
pub struct Row<S> {
    /// What it is about.
    pub subject: String,
    /// What is compared.
    pub scheme: S,
    /// One cell a column.
    pub cells: Vec<Cell>,
}

/// One number.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Cell {
    /// What the paper prints, if it prints anything.
    pub paper: Option<f64>,
    /// What came of it here; NaN where there is nothing.
    pub lab: Estimate,
}

impl Cell {
    /// Lab over paper, where both are and the paper's is not zero.
    pub fn ratio(&self) -> Option<f64> {
        let paper = self.paper.filter(|paper| *paper != 0.0)?;
        Some(self.lab.mean / paper).filter(|ratio| ratio.is_finite())
    }
}
