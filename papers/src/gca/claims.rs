//! The paper's claims, and the findings about each in a cell and with a setting of alpha and beta.
//!
//! A part that compares GCA with TFRC is judged by the 95 % interval of the difference between runs with the same seed.
//! Arithmetic is computed by the law's own code, and must be exact.

mod arithmetic;
mod cells;
mod list;

pub use self::list::CLAIMS;
use super::cell::Cell;
use super::contender::Contender;
use super::plan::Plan;
use super::record::Record;
use crate::claim::{self, Gate, difference};
use crate::part::{Part, Wanted};

/// A cell, and a setting of GCA.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reading {
    /// The cell.
    pub cell: Cell,
    /// The setting: one of [`Contender::OURS`].
    pub gca: Contender,
}

impl Reading {
    /// The name in reports.
    pub const fn name(self) -> &'static str {
        match (self.cell, self.gca) {
            (Cell::LongSlots, Contender::Diagonal) => "20 us, diagonal",
            (Cell::LongSlots, Contender::Measured) => "20 us, measured",
            (Cell::LongSlots, _) => "20 us, squares",
            (Cell::ShortSlots, Contender::Diagonal) => "9 us, diagonal",
            (Cell::ShortSlots, Contender::Measured) => "9 us, measured",
            (Cell::ShortSlots, _) => "9 us, squares",
        }
    }
}

/// A claim of the paper, or one that follows from it.
pub type Claim = claim::Claim<Plan, Reading>;
/// The results and the reading by which claims are judged.
pub type Evaluator<'a> = claim::Evaluator<'a, Plan, Reading>;

impl Evaluator<'_> {
    /// A value of TFRC for every seed.
    fn tfrc(&self, of: impl Fn(&Record) -> f64) -> Vec<f64> {
        self.results.values(self.reading.cell, Contender::Tfrc, of)
    }

    /// A value of GCA for every seed.
    fn gca(&self, of: impl Fn(&Record) -> f64) -> Vec<f64> {
        self.results.values(self.reading.cell, self.reading.gca, of)
    }

    /// The change of a value from TFRC to GCA.
    fn change(&self, what: &str, of: impl Fn(&Record) -> f64, wanted: Wanted) -> Part {
        Part::new(format!("{what}, GCA - TFRC"), difference(&self.gca(&of), &self.tfrc(&of)), wanted)
    }
}
