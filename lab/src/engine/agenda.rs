//! What is to happen when: timing wheels, one within the other (G. Varghese, T. Lauck: *Hashed and Hierarchical Timing
//! Wheels*, SOSP 1987, scheme 7).
//!
//! A wheel is a ring of slots, and a slot of one wheel is a whole turn of the next finer one. An entry waits in the finest
//! wheel whose present turn it falls into; when a coarse slot is reached its entries go on to finer ones. So it takes a few
//! steps to file an entry, however many there are, and only the slot of a few microseconds that is being worked through is
//! sorted. What lies beyond the coarsest wheel waits in a heap. In a network nearly everything is near: of the packets on a
//! link only the first has an entry.
//!
//! Entries of one instant meet in one list in the order of their insertion: what was filed early comes down to a finer
//! wheel before anything is filed there at once.

use std::array;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::mem;

use thalweg_core::time::Time;

/// Nanoseconds in a slot of the finest wheel, as a power of two.
const SLOT_BITS: u32 = 13;
/// Slots of a wheel, as a power of two: a word has a bit for each.
const WHEEL_BITS: u32 = 6;
const SLOTS: usize = 1 << WHEEL_BITS;
/// They turn in 0.5 ms, 34 ms and 2.1 s.
const WHEELS: u32 = 3;
/// Entries that a slot has room for from the beginning: each slot would ask for memory anew at the first burst it meets.
const ROOM: usize = 96;

#[derive(Clone, Copy, Debug)]
struct Entry {
    at: Time,
    who: u32,
}

/// Entries in the order of their time, and of their insertion where times are equal.
#[derive(Clone, Debug)]
pub(super) struct Agenda {
    /// What is left of the slot that is being worked through, the last first.
    current: Vec<Entry>,
    /// The number of that slot.
    slot: u64,
    /// The finest first.
    wheels: [Wheel; WHEELS as usize],
    /// By time and by insertion.
    far: BinaryHeap<Reverse<(Time, u64, u32)>>,
    /// How many entries ever went there.
    sent_far: u64,
}

#[derive(Clone, Debug)]
struct Wheel {
    slots: [Vec<Entry>; SLOTS],
    /// A bit for each slot that holds something. All of them lie ahead in the present turn.
    busy: u64,
}

fn slot_of(at: Time) -> u64 {
    at.as_nanos() >> SLOT_BITS
}

impl Default for Agenda {
    fn default() -> Agenda {
        let wheels = array::from_fn(|_| Wheel { slots: array::from_fn(|_| Vec::with_capacity(ROOM)), busy: 0 });
        Agenda { current: Vec::new(), slot: 0, wheels, far: BinaryHeap::new(), sent_far: 0 }
    }
}

impl Agenda {
    /// Remembers that it is `who`'s turn at `at`.
    #[inline]
    pub(super) fn push(&mut self, at: Time, who: u32) {
        if slot_of(at) <= self.slot {
            self.insert(Entry { at, who });
        } else {
            self.file(Entry { at, who });
        }
    }

    /// The first entry that is due by `end`.
    #[inline]
    pub(super) fn pop(&mut self, end: Time) -> Option<(Time, u32)> {
        while self.current.is_empty() {
            self.go_on()?;
        }
        let Entry { at, who } = *self.current.last()?;
        if at > end {
            return None;
        }
        self.current.pop();
        Some((at, who))
    }

    /// Puts an entry among those that are worked through.
    #[inline(never)]
    fn insert(&mut self, entry: Entry) {
        let place = self.current.partition_point(|later| later.at > entry.at);
        self.current.insert(place, entry);
    }

    /// Puts an entry where it waits: how far it is decides over the wheel, its time over the slot.
    #[inline]
    fn file(&mut self, entry: Entry) {
        let slot = slot_of(entry.at);
        let wheel = ((slot ^ self.slot) | 1).ilog2() / WHEEL_BITS;
        if let Some(Wheel { slots, busy }) = self.wheels.get_mut(wheel as usize) {
            let place = (slot >> (wheel * WHEEL_BITS)) as usize % SLOTS;
            slots[place].push(entry);
            *busy |= 1 << place;
        } else {
            self.send_far(entry);
        }
    }

    #[cold]
    fn send_far(&mut self, entry: Entry) {
        self.far.push(Reverse((entry.at, self.sent_far, entry.who)));
        self.sent_far += 1;
    }

    /// Goes on to the next slot that holds something, and on to finer ones until it is one of the finest wheel.
    fn go_on(&mut self) -> Option<()> {
        let Some(wheel) = self.wheels.iter().position(|wheel| wheel.busy != 0) else { return self.bring_near() };
        let Wheel { slots, busy } = &mut self.wheels[wheel];
        let place = busy.trailing_zeros() as usize;
        *busy &= *busy - 1;
        let shift = wheel as u32 * WHEEL_BITS;
        self.slot = ((self.slot >> shift) & !(SLOTS as u64 - 1) | place as u64) << shift;
        if wheel == 0 {
            mem::swap(&mut self.current, &mut slots[place]);
            if self.current.len() > 1 {
                self.current.reverse();
                self.current.sort_by_key(|entry| Reverse(entry.at));
            }
        } else {
            let mut entries = mem::take(&mut slots[place]);
            entries.iter().for_each(|entry| self.file(*entry));
            entries.clear();
            self.wheels[wheel].slots[place] = entries;
        }
        Some(())
    }

    /// Takes out of the heap what falls into the coarsest wheel's next turn that has something.
    fn bring_near(&mut self) -> Option<()> {
        let turn = |at: Time| slot_of(at) >> (WHEELS * WHEEL_BITS);
        let next = self.far.peek().map(|Reverse((at, ..))| turn(*at))?;
        self.slot = next << (WHEELS * WHEEL_BITS);
        while let Some(Reverse((at, _, who))) = self.far.peek().copied()
            && turn(at) == next
        {
            self.far.pop();
            self.file(Entry { at, who });
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Beside a sorted list, with entries put in while others come out: near and far, often at one instant.
        #[test]
        fn entries_come_out_in_the_order_of_time_and_of_insertion(
            steps in prop::collection::vec((prop::collection::vec(distance(), 0..6), distance()), 1..60),
        ) {
            let mut agenda = Agenda::default();
            let mut list: Vec<(Time, u32)> = Vec::new();
            let (mut now, mut who) = (0, 0);
            for (entries, ahead) in steps {
                for (bits, draw) in entries {
                    let coarse = bits.saturating_sub(4);
                    let at = Time::from_nanos(now.max((now + draw % (1 << bits)) >> coarse << coarse));
                    agenda.push(at, who);
                    let place = list.partition_point(|(time, _)| *time <= at);
                    list.insert(place, (at, who));
                    who += 1;
                }
                let end = now + ahead.1 % (1 << ahead.0);
                while let Some(due) = agenda.pop(Time::from_nanos(end)) {
                    prop_assert_eq!(due, list.remove(0));
                }
                prop_assert!(list.first().is_none_or(|(at, _)| at.as_nanos() > end));
                now = end;
            }
        }
    }

    /// Up to 17 s, as bits and as what is drawn of them.
    fn distance() -> impl Strategy<Value = (u32, u64)> {
        (0u32..35, any::<u64>())
    }
}
