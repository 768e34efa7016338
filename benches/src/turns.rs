//! Runs of the grid: several streams at a time, each of them over a path of its own.

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use crate::attempt::attempt;
use crate::cell::{Cell, Loss};
use crate::column::Column;
use crate::contestant::Contestant;
use crate::report::Unit;
use crate::scrap::Scrap;
use crate::statistics::quantile;
use crate::stream::{Connection, Outcome, Plan};

/// The wait after the first loss, until a contestant has adapted to it.
const AFTER_LOSS: Duration = Duration::from_secs(3);

/// The wait on a path without loss.
const WITHOUT_LOSS: Duration = Duration::from_secs(10);

/// The parameters of all runs.
#[derive(Clone, Debug)]
pub struct Turns {
    /// The `thalweg` binary, which emulates the path.
    pub binary: PathBuf,
    /// Seeds from 1 to this number.
    pub seeds: u64,
    /// The duration of the measured interval.
    pub measured: Duration,
    /// The number of streams at a time.
    pub at_once: usize,
}

impl Turns {
    /// Runs every contestant in its cell with each seed; the same seed is the same path for all. Returns a column for
    /// each contestant, `None` where no run was valid. The reason for a run that is missing is written at once.
    pub fn take(&self, entries: &[(Cell, Contestant)]) -> Vec<Option<Column>> {
        let jobs: Vec<(u64, usize)> =
            (1..=self.seeds).flat_map(|seed| (0..entries.len()).map(move |nth| (seed, nth))).collect();
        let next = AtomicUsize::new(0);
        let columns = Mutex::new(vec![Vec::new(); entries.len()]);
        thread::scope(|scope| {
            for _ in 0..self.at_once.min(jobs.len()) {
                scope.spawn(|| {
                    while let Some(&(seed, nth)) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let (cell, contestant) = &entries[nth];
                        let outcome = self.run(cell, contestant, seed);
                        eprintln!("live: {cell}, {}, seed {seed}: {}", contestant.name, named(&outcome));
                        if let Ok(outcome) = outcome {
                            columns.lock().expect("no run panics")[nth].push(Column::of(&outcome));
                        }
                    }
                });
            }
        });
        columns.into_inner().expect("no run panics").iter().map(|runs| Column::sum(runs)).collect()
    }

    fn run(&self, cell: &Cell, contestant: &Contestant, seed: u64) -> Result<Outcome, String> {
        let scenario = Scrap::write(&cell.path.scenario())?;
        let path = Connection::Emulated { binary: self.binary.clone(), scenario: scenario.path().into(), seed };
        let warm_up = if cell.path.loss == Loss::None { WITHOUT_LOSS } else { AFTER_LOSS };
        attempt(contestant, &Plan { rate: cell.rate(), warm_up, measured: self.measured, path })
    }
}

fn named(outcome: &Result<Outcome, String>) -> String {
    match outcome {
        Ok(outcome) => {
            let late = |q| Unit::Milliseconds.write(quantile(outcome.latencies.iter().copied(), q));
            let (lost, sent, overhead) = (outcome.lost, outcome.sent, Unit::Percent.write(outcome.overhead()));
            format!("{lost} of {sent} lost, bytes {overhead}, p50 {}, p99 {}", late(0.5), late(0.99))
        }
        Err(why) => why.clone(),
    }
}
