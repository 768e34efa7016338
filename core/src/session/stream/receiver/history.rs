//! Bounded history of received packets, for acknowledgements and for detecting duplicates.

use std::collections::VecDeque;

use crate::wire::stream::acknowledgement::State;

/// The length of the history, packets. Ours: as many as one combination covers, and one; a packet further back is no
/// longer reported.
const DEPTH: usize = 4096;
/// The number of acknowledgements that report a packet. If a third of them is lost, one packet in 6500 loses all eight.
const TIMES: usize = 8;
/// The interval, in acknowledgements, at which one reports the whole history. Measured: 0.055 bytes return for each
/// byte of bursts; with the whole history in each it was 0.145.
const WHOLE: u64 = 64;

/// The newest packets and their states, as runs.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct History {
    /// The sequence after the newest.
    next: u64,
    /// Runs, the newest last; neighbors differ in their state.
    runs: VecDeque<Run>,
    /// The number of packets in all runs.
    len: usize,
    /// The lowest sequence that was new in each of the last acknowledgements, the newest last, and since then.
    reported: [u64; TIMES - 1],
    fresh: u64,
    /// The number of acknowledgements sent.
    acknowledged: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Run {
    state: State,
    count: usize,
}

/// The relation of a sequence to the history.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    /// The next sequence, as expected.
    Next,
    /// A sequence that shows others to be late or lost, or is late itself.
    Gap,
    /// A sequence that was received before.
    Known,
    /// A sequence older than the history.
    Forgotten,
}

impl History {
    /// The newest sequence; none if nothing was received.
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
            // After a jump longer than the history no earlier packet is remembered.
            self.append(State::Missing, skipped.min(DEPTH as u64) as usize);
            self.append(state, 1);
            self.cut(DEPTH);
            self.next = sequence + 1;
        } else if let Some((index, behind)) = self.find(sequence) {
            self.change(index, behind, state);
        }
        self.fresh = self.fresh.min(sequence);
    }

    /// The runs of the next acknowledgement, from the newest back: states, each with its number of packets.
    pub(super) fn pending_runs(&self) -> impl Iterator<Item = (State, usize)> {
        let first = if self.acknowledged.is_multiple_of(WHOLE) { Some(&0) } else { self.reported.iter().min() };
        let first = first.map_or(self.fresh, |first| self.fresh.min(*first));
        let mut left = usize::try_from(self.next - first).unwrap_or(usize::MAX);
        self.runs().map_while(move |(state, count)| {
            let count = count.min(left);
            left -= count;
            (count > 0).then_some((state, count))
        })
    }

    /// Records that an acknowledgement was sent.
    pub(super) fn on_sent(&mut self) {
        self.reported.rotate_left(1);
        self.reported[TIMES - 2] = self.fresh;
        (self.fresh, self.acknowledged) = (self.next, self.acknowledged + 1);
    }

    /// Makes the next acknowledgements report the whole history.
    pub(super) fn report_all(&mut self) {
        self.reported = [0; TIMES - 1];
    }

    /// The runs from the newest back: states, each with its number of packets.
    fn runs(&self) -> impl Iterator<Item = (State, usize)> {
        self.runs.iter().rev().map(|run| (run.state, run.count))
    }

    /// Shrinks the history to what an idle stream needs.
    pub(super) fn rest(&mut self) {
        /// Ours: a burst of keystrokes; 32 times less than the history.
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

    /// Drops all but the newest `most` packets.
    fn cut(&mut self, most: usize) {
        while let Some(first) = self.runs.front_mut().filter(|_| self.len > most) {
            let gone = first.count.min(self.len - most);
            (first.count, self.len) = (first.count - gone, self.len - gone);
            if first.count == 0 {
                self.runs.pop_front();
            }
        }
    }

    /// The index of the run that holds a sequence, and the number of newer packets in that run.
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

    /// Changes the state of one packet of a run, in which `newer` packets follow it.
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
        fn runs_hold_the_last_state_of_each_packet(
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
                let runs = history.runs().flat_map(|(state, count)| std::iter::repeat_n(state, count));
                prop_assert!(runs.eq(states.iter().rev().take(DEPTH).copied()));
                prop_assert!(history.runs().zip(history.runs().skip(1)).all(|(one, other)| one.0 != other.0));
            }
        }
    }

    #[test]
    fn changes_are_acknowledged_eight_times_and_all_runs_periodically() {
        let mut history = History::default();
        let mut acknowledge = |sequences: &[u64]| {
            sequences.iter().for_each(|sequence| history.put(*sequence, State::Innovative));
            let count = history.pending_runs().map(|(_, count)| count).sum::<usize>();
            history.on_sent();
            count
        };
        assert_eq!(acknowledge(&[0, 1, 2, 4]), 5);
        assert_eq!((0..7).map(|_| acknowledge(&[])).collect::<Vec<_>>(), [5; 7]);
        // A late packet is reported like a new one, and all newer packets with it.
        assert_eq!((acknowledge(&[5]), acknowledge(&[3]), acknowledge(&[6])), (1, 3, 4));
        assert_eq!((0..9).map(|_| acknowledge(&[])).collect::<Vec<_>>(), [4, 4, 4, 4, 4, 4, 1, 0, 0]);
        assert_eq!((20..65).map(|_| acknowledge(&[])).collect::<Vec<_>>().last(), Some(&7));
    }

    #[test]
    fn packets_are_placed_as_known_gap_next_or_forgotten() {
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
