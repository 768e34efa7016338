//! Columns of the grid: a contestant's results in a cell, and the file that keeps those of SRT.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::report::Unit;
use crate::statistics::{median, quantile};
use crate::stream::Outcome;

/// The results of a contestant in a cell: sums over its runs, except where noted.
#[derive(Clone, PartialEq, Debug)]
pub struct Column {
    /// The number of runs.
    pub runs: usize,
    /// The number of datagrams that the source sent.
    pub sent: usize,
    /// The number of them that were never delivered.
    pub lost: usize,
    /// The number of runs of consecutive datagrams that were never delivered.
    pub bursts: usize,
    /// Bytes on the wire divided by bytes of media, minus 1: the mean over the runs.
    pub overhead: f64,
    /// The median delay from source to sink, in seconds: the median over the runs.
    pub delay: f64,
}

impl Column {
    /// The results of one run.
    pub fn of(outcome: &Outcome) -> Column {
        Column {
            runs: 1,
            sent: outcome.sent,
            lost: outcome.lost,
            bursts: outcome.bursts,
            overhead: outcome.overhead(),
            delay: quantile(outcome.latencies.iter().copied(), 0.5),
        }
    }

    /// The results of several runs; `None` without any.
    pub fn sum(runs: &[Column]) -> Option<Column> {
        let sum = |count: fn(&Column) -> usize| runs.iter().map(count).sum();
        (!runs.is_empty()).then(|| Column {
            runs: runs.len(),
            sent: sum(|run| run.sent),
            lost: sum(|run| run.lost),
            bursts: sum(|run| run.bursts),
            overhead: runs.iter().map(|run| run.overhead).sum::<f64>() / runs.len() as f64,
            delay: median(runs.iter().map(|run| run.delay)),
        })
    }

    /// The share of the datagrams that was never delivered.
    pub fn loss(&self) -> f64 {
        self.lost as f64 / self.sent as f64
    }

    /// Loss after repair and its bursts, overhead and median delay, for tables.
    pub fn named(&self) -> String {
        let bursts = if self.lost == 0 { String::new() } else { format!(" ({})", self.bursts) };
        let (loss, delay) = (named_loss(self.loss()), Unit::Milliseconds.write(self.delay));
        format!("{loss}{bursts}, {:.1} %, {delay}", self.overhead * 100.0)
    }
}

/// A share of datagrams, for tables.
pub fn named_loss(share: f64) -> String {
    if share == 0.0 { "0".into() } else { format!("{share:.1e}") }
}

/// One of SRT's two columns.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Rival {
    /// Retransmissions alone.
    Resends,
    /// The packet filter, and retransmissions.
    Fec,
}

impl Rival {
    /// Both columns.
    pub const ALL: [Rival; 2] = [Rival::Resends, Rival::Fec];

    /// The name in files and tables.
    pub fn named(self) -> &'static str {
        match self {
            Rival::Resends => "resends",
            Rival::Fec => "fec",
        }
    }
}

/// The file of SRT's columns, so that they are measured once. Each line ends with the conditions of its measurement.
#[derive(Clone, Default, Debug)]
pub struct Kept {
    lines: BTreeMap<(String, Rival), (Column, String)>,
}

impl Kept {
    /// The path of the file in this checkout.
    pub fn file() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("srt-live.txt")
    }

    /// Reads a file; a missing file has no columns.
    pub fn read(file: &Path) -> Result<Kept, String> {
        let text = fs::read_to_string(file).unwrap_or_default();
        let mut kept = Kept::default();
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let entry = parse(line).ok_or_else(|| format!("{}: no column of a cell: {line}", file.display()))?;
            kept.lines.extend([entry]);
        }
        Ok(kept)
    }

    /// A column of a cell, if it has been measured.
    pub fn column(&self, cell: &str, rival: Rival) -> Option<&Column> {
        self.lines.get(&(cell.into(), rival)).map(|(column, _)| column)
    }

    /// Adds or replaces a column of a cell, measured under `conditions`.
    pub fn put(&mut self, cell: &str, rival: Rival, column: Column, conditions: &str) {
        self.lines.insert((cell.into(), rival), (column, conditions.into()));
    }

    /// Writes a file that begins with `head`, each line of which becomes a comment.
    pub fn write(&self, file: &Path, head: &str) -> Result<(), String> {
        let mut text: String = head.lines().map(|line| format!("# {line}\n")).collect();
        for ((cell, rival), (column, conditions)) in &self.lines {
            let Column { runs, sent, lost, bursts, overhead, delay } = column;
            let (rival, delay) = (rival.named(), delay * 1e3);
            text += &format!("{cell} {rival} {runs} {sent} {lost} {bursts} {overhead:.4} {delay:.2} {conditions}\n");
        }
        fs::write(file, text).map_err(|error| format!("cannot write {}: {error}", file.display()))
    }
}

fn parse(line: &str) -> Option<((String, Rival), (Column, String))> {
    let mut words = line.splitn(9, ' ');
    let cell = words.next()?.to_owned();
    let name = words.next()?;
    let rival = Rival::ALL.into_iter().find(|rival| rival.named() == name)?;
    let [runs, sent, lost, bursts] = [words.next()?, words.next()?, words.next()?, words.next()?];
    let count = |word: &str| word.parse().ok();
    let column = Column {
        runs: count(runs)?,
        sent: count(sent)?,
        lost: count(lost)?,
        bursts: count(bursts)?,
        overhead: words.next()?.parse().ok()?,
        delay: words.next()?.parse::<f64>().ok()? / 1e3,
    };
    Some(((cell, rival), (column, words.next()?.to_owned())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scrap::Scrap;

    fn run(lost: usize, overhead: f64, delay: f64) -> Column {
        Column { runs: 1, sent: 1000, lost, bursts: lost / 2, overhead, delay }
    }

    #[test]
    fn counts_are_sums_and_the_rest_is_in_the_middle() {
        let sum = Column::sum(&[run(4, 0.25, 0.1), run(0, 0.75, 0.3), run(2, 0.5, 0.2)]).expect("three runs");
        assert_eq!(sum, Column { runs: 3, sent: 3000, lost: 6, bursts: 3, overhead: 0.5, delay: 0.2 });
        assert_eq!((sum.loss(), Column::sum(&[])), (0.002, None));
    }

    #[test]
    fn a_file_gives_back_what_was_put_into_it_and_keeps_the_rest() {
        let file = Scrap::write("").expect("a file");
        let mut kept = Kept::read(file.path()).expect("an empty file");
        kept.put("rtt100-d40-bursts-10", Rival::Fec, run(4, 0.25, 0.125), "60 s SRT 1.5.1, load 1.0");
        kept.write(file.path(), "two\nlines").expect("written");
        let mut again = Kept::read(file.path()).expect("the file");
        again.put("rtt100-d40-bursts-10", Rival::Resends, run(8, 0.5, 0.25), "later");
        again.write(file.path(), "").expect("written");
        let again = Kept::read(file.path()).expect("the file");
        assert_eq!(again.column("rtt100-d40-bursts-10", Rival::Fec), Some(&run(4, 0.25, 0.125)));
        assert_eq!(again.column("rtt100-d40-bursts-10", Rival::Resends), Some(&run(8, 0.5, 0.25)));
        assert_eq!(again.column("rtt100-d80-bursts-10", Rival::Fec), None);
    }

    #[test]
    fn the_columns_in_this_checkout_can_be_read() {
        let text = fs::read_to_string(Kept::file()).expect("the file");
        let kept = Kept::read(&Kept::file()).expect("columns");
        assert_eq!(kept.lines.len(), text.lines().filter(|line| !line.starts_with('#')).count());
    }
}
