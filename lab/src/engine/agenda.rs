//! What is to happen when: a calendar queue (R. Brown, Communications of the ACM 31 (10), 1988).
//!
//! Time is cut into slots. Those of the near future are a ring of lists, which take an entry in constant time; what lies
//! further ahead waits in a heap. Only the slot that is being worked through is sorted. In a network nearly everything
//! is near: of the packets on a link only the first has an entry.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use thalweg_core::time::Time;

/// Nanoseconds in a slot, as a power of two: a packet's time on a link of 1 Gb/s. Shorter ones are mostly empty, longer
/// ones take longer to sort.
const SLOT_BITS: u32 = 14;
/// Slots in the ring, 4 ms together: so few that they stay in the processor's cache.
const SLOTS: u64 = 1 << 8;

/// One entry; entries come out in the order of time, and of insertion where times are equal.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Entry {
    at: Time,
    order: u64,
    who: u32,
}

impl Entry {
    fn slot(self) -> u64 {
        self.at.as_nanos() >> SLOT_BITS
    }
}

/// Entries in the order of their time.
#[derive(Clone, Debug)]
pub(super) struct Agenda {
    /// What is left of the slot that is being worked through, the last first.
    current: Vec<Entry>,
    /// The number of that slot.
    slot: u64,
    ring: Vec<Vec<Entry>>,
    /// A bit for each slot of the ring that holds something.
    busy: Vec<u64>,
    far: BinaryHeap<Reverse<Entry>>,
    inserted: u64,
}

impl Default for Agenda {
    fn default() -> Agenda {
        Agenda {
            current: Vec::new(),
            slot: 0,
            ring: vec![Vec::new(); SLOTS as usize],
            busy: vec![0; SLOTS as usize / 64],
            far: BinaryHeap::new(),
            inserted: 0,
        }
    }
}

impl Agenda {
    /// Remembers that it is `who`'s turn at `at`.
    pub(super) fn push(&mut self, at: Time, who: u32) {
        let entry = Entry { at, order: self.inserted, who };
        self.inserted += 1;
        let slot = entry.slot();
        if slot <= self.slot {
            let place = self.current.partition_point(|later| *later > entry);
            self.current.insert(place, entry);
        } else if slot - self.slot < SLOTS {
            let place = (slot % SLOTS) as usize;
            self.ring[place].push(entry);
            self.busy[place / 64] |= 1 << (place % 64);
        } else {
            self.far.push(Reverse(entry));
        }
    }

    /// The first entry that is due by `end`.
    pub(super) fn pop(&mut self, end: Time) -> Option<(Time, u32)> {
        while self.current.is_empty() {
            self.turn_page()?;
        }
        if self.current.last()?.at > end {
            return None;
        }
        self.current.pop().map(|entry| (entry.at, entry.who))
    }

    /// Goes on to the next slot that holds something.
    fn turn_page(&mut self) -> Option<()> {
        let far = self.far.peek().map(|Reverse(entry)| entry.slot());
        let near = self.next_busy();
        let slot = [near, far].into_iter().flatten().min()?;
        self.slot = slot;
        if near == Some(slot) {
            let place = (slot % SLOTS) as usize;
            core::mem::swap(&mut self.current, &mut self.ring[place]);
            self.busy[place / 64] &= !(1 << (place % 64));
        }
        while let Some(Reverse(entry)) = self.far.peek()
            && entry.slot() == slot
        {
            self.current.push(*entry);
            self.far.pop();
        }
        self.current.sort_unstable_by(|a, b| b.cmp(a));
        Some(())
    }

    /// The first slot of the ring, after the current one, that holds something.
    fn next_busy(&self) -> Option<u64> {
        let from = self.slot + 1;
        let first = (from % SLOTS) as usize;
        let words = self.busy.len();
        // The word that `first` lies in comes twice: first for its end, then for its beginning.
        (0..=words).find_map(|step| {
            let index = (first / 64 + step) % words;
            let mask = match step {
                0 => u64::MAX << (first % 64),
                _ if step == words => !(u64::MAX << (first % 64)),
                _ => u64::MAX,
            };
            let word = self.busy[index] & mask;
            let place = (index * 64) as u64 + u64::from(word.trailing_zeros());
            (word != 0).then(|| from + (place + SLOTS - first as u64) % SLOTS)
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Beside a sorted list, with entries put in while others come out.
        #[test]
        fn entries_come_out_in_the_order_of_time_and_of_insertion(
            steps in prop::collection::vec((prop::collection::vec((0u32..28, any::<u64>()), 0..6), 0u64..60_000_000), 1..60),
        ) {
            let mut agenda = Agenda::default();
            let mut list: Vec<(Time, u32)> = Vec::new();
            let (mut now, mut who) = (0, 0);
            for (entries, ahead) in steps {
                for (bits, draw) in entries {
                    let at = Time::from_nanos(now + draw % (1 << bits));
                    agenda.push(at, who);
                    let place = list.partition_point(|(time, _)| *time <= at);
                    list.insert(place, (at, who));
                    who += 1;
                }
                let end = Time::from_nanos(now + ahead);
                while let Some(due) = agenda.pop(end) {
                    prop_assert_eq!(due, list.remove(0));
                }
                prop_assert!(list.first().is_none_or(|(at, _)| *at > end));
                now += ahead;
            }
        }
    }
}
