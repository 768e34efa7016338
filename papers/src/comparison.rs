//! Tables of published evaluations: the numbers of a paper beside those of the lab.

use thalweg_lab::statistics::Estimate;

/// A table of a paper, with the numbers of the lab beside its own.
#[derive(Clone, PartialEq, Debug)]
pub struct Comparison<S> {
    /// The name in the paper.
    pub name: &'static str,
    /// A description of the table.
    pub about: String,
    /// The names of a row's cells.
    pub columns: &'static [&'static str],
    /// Blocks of rows, each with its heading.
    pub blocks: Vec<(String, Vec<Entry<S>>)>,
}

impl<S: PartialEq> Comparison<S> {
    /// For each column, the smallest and the largest ratio of lab to paper in the rows of `scheme`, if there are any.
    pub fn ratios(&self, scheme: &S) -> Vec<(&'static str, Option<(f64, f64)>)> {
        let rows = || self.blocks.iter().flat_map(|(_, rows)| rows).filter(|row| row.scheme == *scheme);
        let of = |nth: usize| {
            let ratios = || rows().filter_map(|row| row.cells.get(nth)?.ratio());
            let (least, largest) = (ratios().reduce(f64::min)?, ratios().reduce(f64::max)?);
            Some((least, largest))
        };
        self.columns.iter().enumerate().map(|(nth, column)| (*column, of(nth))).collect()
    }
}

/// One row.
#[derive(Clone, PartialEq, Debug)]
pub struct Entry<S> {
    /// The name of the row.
    pub subject: String,
    /// The scheme that is compared.
    pub scheme: S,
    /// One pair of numbers for each column.
    pub cells: Vec<Pair>,
}

/// A number of the paper, and that of the lab.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Pair {
    /// The paper's number, if it prints one.
    pub paper: Option<f64>,
    /// The lab's estimate; NaN if there is none.
    pub lab: Estimate,
}

impl Pair {
    /// The ratio of lab to paper, if both exist and the paper's number is not zero.
    pub fn ratio(&self) -> Option<f64> {
        let paper = self.paper.filter(|paper| *paper != 0.0)?;
        Some(self.lab.mean / paper).filter(|ratio| ratio.is_finite())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_those_of_a_schemes_rows_alone() {
        let cell = |paper, lab| Pair { paper, lab: Estimate { mean: lab, half_width: 0.0, count: 1 } };
        let row = |scheme, cells| Entry { subject: String::new(), scheme, cells };
        let first =
            vec![row("ours", vec![cell(Some(2.0), 1.0), cell(None, 1.0)]), row("theirs", vec![cell(Some(1.0), 9.0)])];
        let second = vec![row("ours", vec![cell(Some(4.0), 3.0), cell(Some(0.0), 1.0)])];
        let blocks = vec![("one".into(), first), ("two".into(), second)];
        let table = Comparison { name: "Table", about: String::new(), columns: &["loss", "window"], blocks };
        assert_eq!(table.ratios(&"ours"), [("loss", Some((0.5, 0.75))), ("window", None)]);
        assert_eq!(table.ratios(&"nobody's"), [("loss", None), ("window", None)]);
    }
}
