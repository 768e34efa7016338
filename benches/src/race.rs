//! Contests of pure computation: contestants take turns, so that a noisy machine disturbs all alike.

use std::time::{Duration, Instant};

use crate::statistics::median;

/// The number of turns of each contestant.
const ROUNDS: usize = 101;

/// The shortest duration of a turn.
const TURN: Duration = Duration::from_millis(1);

/// A contestant: a name, and a function that does the common work once.
pub type Contestant<'a> = (String, Box<dyn FnMut() + 'a>);

/// The seconds that the contestant's work took once, for each turn.
#[derive(Clone, Debug)]
pub struct Times(Vec<f64>);

impl Times {
    /// The median over the turns.
    pub fn median(&self) -> f64 {
        median(self.0.iter().copied())
    }

    /// The ratio of `other`'s time to this contestant's: the median over turns that were taken side by side.
    pub fn speed_over(&self, other: &Times) -> f64 {
        median(self.0.iter().zip(&other.0).map(|(own, others)| others / own))
    }
}

/// Lets all contestants work in turn.
pub fn race(contestants: &mut [Contestant<'_>]) -> Vec<Times> {
    let repeats: Vec<u32> = contestants.iter_mut().map(|(_, work)| repeats(work)).collect();
    let mut all = vec![Times(Vec::with_capacity(ROUNDS)); contestants.len()];
    for _ in 0..ROUNDS {
        for (((_, work), &repeats), times) in contestants.iter_mut().zip(&repeats).zip(&mut all) {
            times.0.push(time(work, repeats).as_secs_f64() / f64::from(repeats));
        }
    }
    all
}

/// The number of executions of `work` that fill a turn (a power of 2).
fn repeats(work: &mut dyn FnMut()) -> u32 {
    let mut repeats = 1;
    while time(work, repeats) < TURN {
        repeats *= 2;
    }
    repeats
}

fn time(work: &mut dyn FnMut(), repeats: u32) -> Duration {
    let start = Instant::now();
    (0..repeats).for_each(|_| work());
    start.elapsed()
}
