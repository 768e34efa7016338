//! The cells that are held to bars, and whether results hold them.

use crate::cell::{Cell, Loss};
use crate::column::{Column, Rival, named_loss};
use crate::report::Unit;
use crate::statistics::{binomial_tail, holm, poisson_limit};

/// A bar of one cell.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Bar {
    /// The column to compare with.
    pub rival: Rival,
    /// The most that may be lost, as one part in so many of the rival's loss.
    pub part: f64,
    /// The most bytes on the wire divided by bytes of media, minus 1.
    pub overhead: f64,
}

const fn bar(rival: Rival, part: f64, overhead: f64) -> Option<Bar> {
    Some(Bar { rival, part, overhead })
}

/// The cells that are held to bars. Each round trip, each multiple of it as time for repair, each loss and each rate
/// occurs at least twice, and four cells have a key.
pub const HELD: [(&str, Option<Bar>); 24] = [
    ("rtt100-d40-bursts-10", bar(Rival::Fec, 4.0, 0.40)),
    ("rtt100-d80-bursts-10", bar(Rival::Fec, 10.0, 0.30)),
    ("rtt100-d120-bursts-10", bar(Rival::Resends, 10.0, 0.08)),
    ("rtt100-d200-bursts-10", bar(Rival::Resends, 10.0, 0.08)),
    ("rtt100-d40-iid5-10", bar(Rival::Fec, 10.0, 0.32)),
    ("rtt100-d120-iid5-10", bar(Rival::Resends, 20.0, 0.18)),
    ("rtt100-d200-iid5-10", bar(Rival::Resends, 20.0, 0.18)),
    ("rtt100-d40-heavy-10", bar(Rival::Fec, 8.0, 0.42)),
    ("rtt100-d80-heavy-10", bar(Rival::Fec, 8.0, 0.42)),
    ("rtt100-d120-heavy-10", bar(Rival::Resends, 8.0, 0.18)),
    ("rtt20-d8-iid1-10", None),
    ("rtt200-d80-iid1-30", None),
    ("rtt200-d160-bursts-2", None),
    ("rtt20-d24-bursts-10", None),
    ("rtt20-d40-heavy-30", None),
    ("rtt200-d400-iid1-10-key", None),
    ("rtt20-d80-iid5-2", None),
    ("rtt100-d400-bursts-30-key", None),
    ("rtt200-d800-heavy-10", None),
    ("rtt20-d120-bursts-2-key", None),
    ("rtt200-d1200-iid5-10", None),
    ("rtt100-d120-none-10", None),
    ("rtt20-d16-none-2-key", None),
    ("rtt200-d240-none-30", None),
];

/// The error rate of all cells of a run together, and of a limit by itself.
const ALPHA: f64 = 0.05;

/// Bars that allow fewer losses in the sample are limits of a Poisson distribution.
const FEW: f64 = 10.0;

/// The most bytes beyond media on a path without loss, without and with a key, and the most delay beyond one way in
/// seconds.
const NO_LOSS: ([f64; 2], f64) = ([0.04, 0.065], 0.003);

/// A cell's results.
#[derive(Clone, Debug)]
pub struct Row {
    /// The conditions.
    pub cell: Cell,
    /// SRT's columns, in the order of [`Rival::ALL`].
    pub rivals: [Column; 2],
    /// The column of `thalweg`.
    pub own: Column,
}

/// One bar, beside the results.
#[derive(Clone, Debug)]
pub struct Check {
    /// The value, the bound and its source.
    pub bound: String,
    /// True if the value is within the bound.
    pub is_within: bool,
    /// The probability of such a value or a worse one if the bound is just kept. Zero for a value that has no chance in
    /// it.
    pub chance: f64,
}

impl Row {
    /// The bars of this cell.
    pub fn checks(&self) -> Vec<Check> {
        let name = self.cell.to_string();
        let bar = HELD.iter().find(|(held, _)| *held == name).and_then(|(_, bar)| *bar);
        let [resends, fec] = &self.rivals;
        let better = if resends.loss() <= fec.loss() { Rival::Resends } else { Rival::Fec };
        let mut checks = vec![self.no_more_loss(better, 1.0)];
        let mut most = vec![(fec.overhead, "fec")];
        if let Some(bar) = bar {
            checks.push(self.no_more_loss(bar.rival, bar.part));
            most.push((bar.overhead, "the cell"));
        }
        if self.cell.path.loss == Loss::None {
            let ([open, secret], late) = NO_LOSS;
            most.push((if self.cell.has_key { secret } else { open }, "without loss"));
            let late = self.cell.path.rtt.as_secs_f64() / 2.0 + late;
            let (own, late_text) = (Unit::Milliseconds.write(self.own.delay), Unit::Milliseconds.write(late));
            checks.push(certain(format!("median delay {own}, at most {late_text}"), self.own.delay <= late));
        }
        let (most, whose) = most.into_iter().min_by(|one, other| one.0.total_cmp(&other.0)).expect("one at least");
        let text = format!("bytes {:.1} %, at most {:.1} % ({whose})", self.own.overhead * 100.0, most * 100.0);
        checks.push(certain(text, self.own.overhead <= most));
        checks
    }

    /// Compares loss with one part in `part` of a rival's. Bursts are the rare events, as losses within one are not
    /// independent; those of both are Poisson variables, and losses of each are its bursts times their mean length.
    fn no_more_loss(&self, rival: Rival, part: f64) -> Check {
        let theirs = &self.rivals[rival as usize];
        let most = theirs.loss() / part;
        let allowed = most * self.own.sent as f64;
        let scale = self.own.sent as f64 / theirs.sent as f64 / part;
        let of = if part > 1.0 { format!("1/{part} of ") } else { String::new() };
        let own = named_loss(self.own.loss());
        let bound = format!("loss {own}, at most {} ({of}{})", named_loss(most), rival.named());
        if part > 1.0 && allowed < FEW {
            let limit = poisson_limit(theirs.bursts as f64 * scale, 1.0 - ALPHA);
            let bound = format!("{bound}, bursts {}, at most {limit}", self.own.bursts);
            return certain(bound, self.own.bursts as u64 <= limit);
        }
        let mean = |column: &Column| column.lost as f64 / column.bursts as f64;
        let length = if theirs.bursts == 0 || self.own.bursts == 0 { 1.0 } else { mean(theirs) / mean(&self.own) };
        let odds = scale * length;
        let bursts = (self.own.bursts + theirs.bursts) as u64;
        let chance = binomial_tail(self.own.bursts as u64, bursts, odds / (1.0 + odds));
        Check { bound, is_within: self.own.loss() <= most, chance }
    }
}

fn certain(bound: String, is_within: bool) -> Check {
    Check { bound, is_within, chance: 0.0 }
}

/// A cell's verdict.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// All values are within their bounds.
    Holds,
    /// Some are not, but by no more than chance.
    HoldsByChance,
    /// The bounds that are missed.
    Fails(Vec<String>),
}

/// The verdict of each row. A cell counts once among all of them, with the least probable of its values.
pub fn verdicts(rows: &[Vec<Check>]) -> Vec<Verdict> {
    let missed = |checks: &[Check]| checks.iter().filter(|check| !check.is_within).cloned().collect::<Vec<_>>();
    let missed: Vec<Vec<Check>> = rows.iter().map(|checks| missed(checks)).collect();
    let by_chance =
        |checks: &Vec<Check>| checks.iter().map(|check| check.chance).filter(|&p| p > 0.0).fold(1.0, f64::min);
    let rejected = holm(&missed.iter().map(by_chance).collect::<Vec<_>>(), ALPHA);
    let verdict = |missed: Vec<Check>| {
        let failed = missed.iter().filter(|check| check.chance <= rejected.max(0.0));
        let failed: Vec<String> = failed.map(|check| check.bound.clone()).collect();
        match (missed.len(), failed.len()) {
            (0, _) => Verdict::Holds,
            (_, 0) => Verdict::HoldsByChance,
            _ => Verdict::Fails(failed),
        }
    };
    missed.into_iter().map(verdict).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(lost: usize, bursts: usize, overhead: f64) -> Column {
        Column { runs: 5, sent: 285_000, lost, bursts, overhead, delay: 0.0525 }
    }

    fn verdict(name: &str, resends: Column, fec: Column, own: Column) -> Verdict {
        let cell = name.parse().expect("a cell");
        verdicts(&[Row { cell, rivals: [resends, fec], own }.checks()]).remove(0)
    }

    #[test]
    fn cells_cover_every_round_trip_time_loss_and_rate_twice_and_four_have_a_key() {
        let cells: Vec<Cell> = HELD.iter().map(|(name, _)| name.parse().expect("a cell")).collect();
        let at_least_twice = |all: &[u128], of: &dyn Fn(&Cell) -> u128| {
            all.iter().all(|value| cells.iter().filter(|cell| of(cell) == *value).count() >= 2)
                && cells.iter().all(|cell| all.contains(&of(cell)))
        };
        assert!(at_least_twice(&[20, 100, 200], &|cell| cell.path.rtt.as_millis()));
        let multiple = |cell: &Cell| cell.budget.as_millis() * 10 / cell.path.rtt.as_millis();
        assert!(at_least_twice(&[4, 8, 12, 20, 40, 60], &multiple));
        assert!(at_least_twice(&[2, 10, 30], &|cell| cell.megabits.into()));
        for (name, loss) in crate::cell::LOSSES {
            assert!(cells.iter().filter(|cell| cell.path.loss == loss).count() >= 2, "{name}");
        }
        assert_eq!(cells.iter().filter(|cell| cell.has_key).count(), 4);
    }

    #[test]
    fn a_loss_beyond_chance_fails_and_one_within_holds() {
        let of = |own| verdict("rtt20-d24-bursts-10", column(0, 0, 0.03), column(90, 90, 0.45), own);
        assert_eq!(of(column(0, 0, 0.1)), Verdict::Holds);
        // Five of five coins fall on one side with a probability of 1/32, four of four with 1/16.
        assert_eq!(of(column(8, 4, 0.1)), Verdict::HoldsByChance);
        assert!(matches!(of(column(10, 5, 0.1)), Verdict::Fails(_)));
        assert!(matches!(of(column(0, 0, 0.46)), Verdict::Fails(_)), "more bytes than fec");
    }

    #[test]
    fn few_allowed_losses_are_a_limit_of_bursts() {
        // A tenth of 30 losses in 10 bursts: at an expectation of one burst, three are the limit.
        let of = |own| verdict("rtt100-d120-bursts-10", column(30, 10, 0.03), column(30, 10, 0.45), own);
        assert_eq!(of(column(9, 3, 0.07)), Verdict::Holds);
        assert!(matches!(of(column(4, 4, 0.07)), Verdict::Fails(_)));
    }

    #[test]
    fn a_path_without_loss_has_bars_of_its_own() {
        let none = column(0, 0, 0.01);
        let of = |name: &str, overhead| verdict(name, none.clone(), column(0, 0, 0.45), column(0, 0, overhead));
        assert_eq!(of("rtt100-d120-none-10", 0.039), Verdict::Holds);
        assert!(matches!(of("rtt100-d120-none-10", 0.05), Verdict::Fails(_)));
        assert_eq!(of("rtt100-d120-none-10-key", 0.05), Verdict::Holds);
        // The median delay of 52.5 ms is far beyond half a round trip of 20 ms.
        assert!(matches!(of("rtt20-d16-none-2-key", 0.05), Verdict::Fails(_)));
    }
}
