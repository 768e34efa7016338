//! Segments received out of order.

use std::collections::VecDeque;

use crate::tcp::ack::{BLOCKS, Run};

/// Runs of segments with gaps between them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Gaps {
    /// The runs, in the order of their numbers.
    runs: VecDeque<Run>,
    /// The runs that changed last, the latest first; empty ones are unused. One more than can be reported: two of them
    /// may become one.
    recent: [Run; BLOCKS + 1],
    held: u64,
}

impl Gaps {
    pub(super) fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    pub(super) fn held(&self) -> u64 {
        self.held
    }

    /// The runs that changed last, the latest first.
    pub(super) fn recent(&self) -> impl Iterator<Item = Run> {
        self.recent.into_iter().filter(|run| run.to > run.from)
    }

    /// Keeps a segment behind a gap; returns false if it has arrived before.
    pub(super) fn insert(&mut self, number: u64) -> bool {
        // Nearly always the segment belongs to the last run or behind it.
        let place = match self.runs.back() {
            Some(last) if last.from <= number => self.runs.len(),
            _ => self.runs.partition_point(|run| run.from <= number),
        };
        let before = place.checked_sub(1).map(|index| self.runs[index]).filter(|run| run.to >= number);
        if let Some(run) = before.filter(|run| run.contains(number)) {
            self.mark_recent(run);
            return false;
        }
        let after = self.runs.get(place).copied().filter(|run| run.from == number + 1);
        let whole = Run { from: before.map_or(number, |run| run.from), to: after.map_or(number + 1, |run| run.to) };
        match (before.is_some(), after.is_some()) {
            (false, false) => self.runs.insert(place, whole),
            (true, false) => self.runs[place - 1] = whole,
            (false, true) => self.runs[place] = whole,
            (true, true) => {
                self.runs[place - 1] = whole;
                self.runs.remove(place);
            }
        }
        self.held += 1;
        self.mark_recent(whole);
        true
    }

    /// Returns the first segment that is missing once all segments before `next` have arrived.
    pub(super) fn fill(&mut self, next: u64) -> u64 {
        match self.runs.front() {
            Some(first) if first.from == next => {
                let first = *first;
                self.runs.pop_front();
                self.held -= first.to - first.from;
                self.remove_recent(first);
                first.to
            }
            _ => next,
        }
    }

    fn mark_recent(&mut self, run: Run) {
        self.remove_recent(run);
        self.recent.rotate_right(1);
        self.recent[0] = run;
    }

    /// Removes the runs that lie in `run` from the recent ones, and moves empty places to the end.
    fn remove_recent(&mut self, run: Run) {
        let mut kept = [Run::default(); BLOCKS + 1];
        let others = self.recent.into_iter().filter(|old| old.to > old.from && !run.contains(old.from));
        for (place, old) in kept.iter_mut().zip(others) {
            *place = old;
        }
        self.recent = kept;
    }
}
