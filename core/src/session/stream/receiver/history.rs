//! Which packets have come, as far back as anybody wants to know.

use std::collections::VecDeque;

use crate::wire::stream::acknowledgement::State;

/// How far back, packets.
const DEPTH: usize = 4096;
/// News is told so many times: with a third of the acknowledgements lost, one packet in 6500 is never told of by itself.
const TIMES: usize = 8;
/// One acknowledgement in so many tells all that is remembered.
const WHOLE: u64 = 64;

/// The newest packets and what they were worth, run by run.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct History {
    /// The sequence behind the newest.
    next: u64,
    /// The newest last, no two neighbours alike.
    runs: VecDeque<Run>,
    /// Packets in all of them.
    len: usize,
    /// The first packet that was news to each of the last acknowledgements, the newest last, and since then.
    told: [u64; TIMES - 1],
    fresh: u64,
    /// Acknowledgements.
    acknowledged: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Run {
    state: State,
    count: usize,
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
            None => match self.find(sequence).map(|(index, _)| self.runs[index].state) {
                Some(State::Missing) => Place::Gap,
                Some(_) => Place::Known,
                None => Place::Forgotten,
            },
        }
    }

    pub(super) fn put(&mut self, sequence: u64, state: State) {
        if let Some(skipped) = sequence.checked_sub(self.next) {
            // A leap longer than the memory leaves nothing but itself.
            self.append(State::Missing, skipped.min(DEPTH as u64) as usize);
            self.append(state, 1);
            self.cut(DEPTH);
            self.next = sequence + 1;
        } else if let Some((index, behind)) = self.find(sequence) {
            self.change(index, behind, state);
        }
        self.fresh = self.fresh.min(sequence);
    }

    /// What the next acknowledgement tells, from the newest back: states, and how many packets have each.
    pub(super) fn news(&self) -> impl Iterator<Item = (State, usize)> {
        let first = if self.acknowledged.is_multiple_of(WHOLE) { Some(&0) } else { self.told.iter().min() };
        let first = first.map_or(self.fresh, |first| self.fresh.min(*first));
        let mut left = usize::try_from(self.next - first).unwrap_or(usize::MAX);
        self.runs().map_while(move |(state, count)| {
            let told = count.min(left);
            left -= told;
            (told > 0).then_some((state, told))
        })
    }

    /// An acknowledgement has left.
    pub(super) fn told(&mut self) {
        self.told.rotate_left(1);
        self.told[TIMES - 2] = self.fresh;
        (self.fresh, self.acknowledged) = (self.next, self.acknowledged + 1);
    }

    /// The next acknowledgements tell all that is remembered.
    pub(super) fn tell_all(&mut self) {
        self.told = [0; TIMES - 1];
    }

    /// From the newest back: states, and how many packets have each.
    fn runs(&self) -> impl Iterator<Item = (State, usize)> {
        self.runs.iter().rev().map(|run| (run.state, run.count))
    }

    /// Gives memory back: as much as an idle stream needs.
    pub(super) fn rest(&mut self) {
        const IDLE: usize = 128;
        self.cut(IDLE);
        self.runs.shrink_to(IDLE);
    }

    fn append(&mut self, state: State, count: usize) {
        self.len += count;
        match self.runs.back_mut() {
            Some(last) if last.state == state => last.count += count,
            _ if count > 0 => self.runs.push_back(Run { state, count }),
            _ => {}
        }
    }

    /// Forgets all but the newest `most`.
    fn cut(&mut self, most: usize) {
        while let Some(first) = self.runs.front_mut().filter(|_| self.len > most) {
            let gone = first.count.min(self.len - most);
            (first.count, self.len) = (first.count - gone, self.len - gone);
            if first.count == 0 {
                self.runs.pop_front();
            }
        }
    }

    /// The run of a sequence, and how many packets of it are newer.
    fn find(&self, sequence: u64) -> Option<(usize, usize)> {
        let mut newer = usize::try_from(self.next.checked_sub(sequence)?).ok()?.checked_sub(1)?;
        for (index, run) in self.runs.iter().enumerate().rev() {
            if newer < run.count {
                return Some((index, newer));
            }
            newer -= run.count;
        }
        None
    }

    /// Gives one packet of a run, behind which `newer` are, another state.
    fn change(&mut self, index: usize, newer: usize, state: State) {
        let tail = self.runs.split_off(index + 1);
        let Some(run) = self.runs.pop_back() else { return };
        self.len -= run.count + tail.iter().map(|run| run.count).sum::<usize>();
        let parts = [(run.state, run.count - newer - 1), (state, 1), (run.state, newer)];
        for (state, count) in parts.into_iter().chain(tail.into_iter().map(|run| (run.state, run.count))) {
            self.append(state, count);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn runs_say_of_each_packet_what_was_put_last(
            puts in prop::collection::vec((0u64..40, 0..3u8, any::<bool>()), 1..300),
        ) {
            let (mut history, mut states) = (History::default(), Vec::new());
            for (far, state, is_late) in puts {
                let state = [State::Missing, State::Innovative, State::Redundant][usize::from(state)];
                let next = states.len() as u64;
                let sequence = if is_late { next.saturating_sub(far * 20) } else { next + far };
                history.put(sequence, state);
                states.resize(states.len().max(sequence as usize + 1), State::Missing);
                if sequence + DEPTH as u64 >= states.len() as u64 {
                    states[sequence as usize] = state;
                }
                let told = history.runs().flat_map(|(state, count)| std::iter::repeat_n(state, count));
                prop_assert!(told.eq(states.iter().rev().take(DEPTH).copied()));
                prop_assert!(history.runs().zip(history.runs().skip(1)).all(|(one, other)| one.0 != other.0));
            }
        }
    }

    #[test]
    fn news_is_told_eight_times_and_now_and_then_everything() {
        let mut history = History::default();
        let mut tell = |sequences: &[u64]| {
            sequences.iter().for_each(|sequence| history.put(*sequence, State::Innovative));
            let count = history.news().map(|(_, count)| count).sum::<usize>();
            history.told();
            count
        };
        assert_eq!(tell(&[0, 1, 2, 4]), 5);
        assert_eq!((0..7).map(|_| tell(&[])).collect::<Vec<_>>(), [5; 7]);
        // What comes late is news again, and with it what lies behind.
        assert_eq!((tell(&[5]), tell(&[3]), tell(&[6])), (1, 3, 4));
        assert_eq!((0..9).map(|_| tell(&[])).collect::<Vec<_>>(), [4, 4, 4, 4, 4, 4, 1, 0, 0]);
        assert_eq!((20..65).map(|_| tell(&[])).collect::<Vec<_>>().last(), Some(&7));
    }

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
        let runs = [(Redundant, 1), (Innovative, 1), (Missing, 1), (Innovative, 1)];
        assert_eq!(history.runs().collect::<Vec<_>>(), runs);
        history.put(1, Innovative);
        assert_eq!(history.runs().collect::<Vec<_>>(), [(Redundant, 1), (Innovative, 3)]);
        history.put(1_000_000, Innovative);
        assert_eq!(history.runs().map(|(_, count)| count).sum::<usize>(), DEPTH);
        assert_eq!(
            [3, 1_000_000 - 4096, 1_000_000 - 4095].map(|n| history.place(n)),
            [Place::Forgotten, Place::Forgotten, Place::Gap]
        );
    }
}
