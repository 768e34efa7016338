//! Sending times: GENEVA's pairs of packet number and time (§3.2.2).

use thalweg_core::time::{Span, Time};

/// The number of packets remembered: more than a second of 90 Mb/s with all the repair that the paper allows.
const MEMORY: u64 = 1 << 14;

/// The newest sending times.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct History {
    /// The time of packet `number` is at `number - 1` modulo [`MEMORY`].
    times: Vec<Time>,
    newest: u64,
}

impl History {
    /// Records that the next packet leaves; returns its number. The first is 1.
    pub(super) fn note(&mut self, now: Time) -> u64 {
        match self.times.get_mut((self.newest % MEMORY) as usize) {
            Some(time) => *time = now,
            None => self.times.push(now),
        }
        self.newest += 1;
        self.newest
    }

    /// The sending time of packet `number`, if it is remembered.
    pub(super) fn sent(&self, number: u64) -> Option<Time> {
        let known = (self.oldest()..=self.newest).contains(&number);
        known.then(|| self.times[((number - 1) % MEMORY) as usize])
    }

    /// The mean sending time of the last `count` packets up to `highest`, as far as they are remembered.
    pub(super) fn mean_sent(&self, highest: u64, count: u64) -> Option<Time> {
        let first = highest.checked_sub(count)? + 1;
        let times = || (first.max(self.oldest())..=highest.min(self.newest)).filter_map(|number| self.sent(number));
        let base = times().next()?;
        let (sum, count) = times().fold((Span::ZERO, 0), |(sum, count), time| (sum + time.since(base), count + 1));
        Some(base + sum / count)
    }

    fn oldest(&self) -> u64 {
        self.newest.saturating_sub(MEMORY) + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_packets_are_remembered_and_no_others() {
        let mut history = History::default();
        assert_eq!((history.sent(0), history.sent(1)), (None, None));
        for number in 1..=3 * MEMORY {
            assert_eq!(history.note(Time::from_nanos(10 * number)), number);
        }
        let newest = 3 * MEMORY;
        assert_eq!(history.sent(newest), Some(Time::from_nanos(10 * newest)));
        assert_eq!(history.sent(newest - MEMORY + 1), Some(Time::from_nanos(10 * (newest - MEMORY + 1))));
        assert_eq!((history.sent(newest - MEMORY), history.sent(newest + 1)), (None, None));
        assert_eq!(history.times.len() as u64, MEMORY);
        // 31 packets, the middle one 15 before the highest.
        assert_eq!(history.mean_sent(newest, 31), history.sent(newest - 15));
        assert_eq!(history.mean_sent(newest - 2 * MEMORY, 31), None);
        assert_eq!((history.mean_sent(0, 1), history.mean_sent(newest, 0)), (None, None));
        assert_eq!(history.mean_sent(u64::MAX, 3), None);
    }
}
