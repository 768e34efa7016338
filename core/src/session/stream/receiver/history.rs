//! Which packets have come, as far back as anybody wants to know.

use std::collections::VecDeque;

use crate::wire::stream::acknowledgement::State;

/// How far back, packets.
const DEPTH: usize = 1024;

/// The newest packets and what they were worth.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct History {
    /// The sequence behind the newest.
    next: u64,
    /// The newest packets, the newest last.
    states: VecDeque<State>,
}

/// What a sequence means here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    /// The one that was expected next.
    Next,
    /// It shows that others are late or lost, or is late itself.
    Gap,
    /// It has come before.
    Known,
    /// So far back that nobody can tell.
    Forgotten,
}

impl History {
    /// The newest sequence, none if nothing has come.
    pub(super) fn newest(&self) -> Option<u64> {
        self.next.checked_sub(1)
    }

    pub(super) fn place(&self, sequence: u64) -> Place {
        match sequence.checked_sub(self.next) {
            Some(0) => Place::Next,
            Some(_) => Place::Gap,
            None => match self.index(sequence).map(|index| self.states[index]) {
                Some(State::Missing) => Place::Gap,
                Some(_) => Place::Known,
                None => Place::Forgotten,
            },
        }
    }

    pub(super) fn put(&mut self, sequence: u64, state: State) {
        let skipped = (sequence + 1).saturating_sub(self.next);
        if skipped > 0 {
            // A leap longer than the memory leaves nothing but itself.
            let kept = skipped.min(DEPTH as u64) as usize;
            self.states.drain(..(self.states.len() + kept).saturating_sub(DEPTH));
            self.states.extend(std::iter::repeat_n(State::Missing, kept));
            self.next = sequence + 1;
        }
        if let Some(index) = self.index(sequence) {
            self.states[index] = state;
        }
    }

    /// From the newest back.
    pub(super) fn states(&self) -> impl Iterator<Item = State> {
        self.states.iter().rev().copied()
    }

    /// Gives memory back: as much as an idle stream needs.
    pub(super) fn rest(&mut self) {
        const IDLE: usize = 128;
        self.states.drain(..self.states.len().saturating_sub(IDLE));
        self.states.shrink_to(IDLE);
    }

    fn index(&self, sequence: u64) -> Option<usize> {
        let back = usize::try_from(self.next.checked_sub(sequence)?).ok()?;
        self.states.len().checked_sub(back).filter(|index| *index < self.states.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_known_late_or_forgotten() {
        let mut history = History::default();
        assert_eq!((history.newest(), history.place(0)), (None, Place::Next));
        history.put(0, State::Innovative);
        history.put(3, State::Redundant);
        assert_eq!(
            [0, 1, 3, 4, 5].map(|n| history.place(n)),
            [Place::Known, Place::Gap, Place::Known, Place::Next, Place::Gap]
        );
        history.put(2, State::Innovative);
        use State::{Innovative, Missing, Redundant};
        assert_eq!(history.states().collect::<Vec<_>>(), [Redundant, Innovative, Missing, Innovative]);
        history.put(1_000_000, Innovative);
        assert_eq!(history.states().count(), DEPTH);
        assert_eq!(
            [3, 1_000_000 - 1024, 1_000_000 - 1023].map(|n| history.place(n)),
            [Place::Forgotten, Place::Forgotten, Place::Gap]
        );
    }
}
