//! The schedule of the nodes' turns: timing wheels, one within the other (G. Varghese, T. Lauck: *Hashed and
//! Hierarchical Timing Wheels*, SOSP 1987, scheme 7).
//!
//! A wheel is a ring of slots, and one slot of a wheel is a whole revolution of the next finer wheel. An entry waits in
//! the finest wheel whose current revolution contains its time; when a coarse slot is reached, its entries move to
//! finer wheels. Filing an entry therefore takes a few steps, however many entries there are, and only the current
//! slot, a few microseconds long, is sorted. Entries beyond the coarsest wheel wait in a heap. In a network nearly all
//! entries are near: of the packets on a link only the first has an entry.
//!
//! Entries of one instant meet in one list in the order of their insertion: an entry that was filed early moves down to
//! a finer wheel before any entry is filed there directly.

use std::array;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::mem;

use thalweg_core::time::Time;

/// Nanoseconds in a slot of the finest wheel, as a power of two.
const SLOT_BITS: u32 = 13;
/// Slots of a wheel, as a power of two: each has one bit of a 64-bit word.
const WHEEL_BITS: u32 = 6;
const SLOTS: usize = 1 << WHEEL_BITS;
/// The number of wheels; they revolve in 0.5 ms, 34 ms and 2.1 s.
const WHEELS: u32 = 3;
/// The initial capacity of a slot, in entries: without it each slot would allocate at the first burst it meets.
const ROOM: usize = 96;

#[derive(Clone, Copy, Debug)]
struct Entry {
    at: Time,
    who: u32,
}

/// Entries in the order of their time, and of their insertion where times are equal.
#[derive(Clone, Debug)]
pub(super) struct Agenda {
    /// The remaining entries of the current slot, the last first.
    current: Vec<Entry>,
    /// The number of the current slot.
    slot: u64,
    /// The wheels, the finest first.
    wheels: [Wheel; WHEELS as usize],
    /// Entries beyond the coarsest wheel, by time and by insertion.
    far: BinaryHeap<Reverse<(Time, u64, u32)>>,
    /// The number of entries ever put into `far`.
    sent_far: u64,
}

#[derive(Clone, Debug)]
struct Wheel {
    slots: [Vec<Entry>; SLOTS],
    /// A bit for each slot that holds an entry. All of these slots lie ahead in the current revolution.
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
    /// Schedules a turn of `who` at `at`.
    #[inline]
    pub(super) fn push(&mut self, at: Time, who: u32) {
        if slot_of(at) <= self.slot {
            self.insert(Entry { at, who });
        } else {
            self.file(Entry { at, who });
        }
    }

    /// Removes and returns the first entry if it is due by `end`.
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

    /// Inserts an entry into the current slot.
    #[inline(never)]
    fn insert(&mut self, entry: Entry) {
        let place = self.current.partition_point(|later| later.at > entry.at);
        self.current.insert(place, entry);
    }

    /// Files an entry: its distance determines the wheel, its time the slot.
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

    /// Advances to the next slot that holds an entry; the entries of a coarse slot move to finer wheels.
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

    /// Moves entries from the heap to the wheels: those of the coarsest wheel's next revolution that has any.
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
        /// Comparison with a sorted list: entries, near and far, often of one instant, are added while others are
        /// removed.
        #[test]
        fn entries_are_returned_in_the_order_of_time_and_of_insertion(
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

    /// Distances of up to 17 s, as a number of bits and a draw.
    fn distance() -> impl Strategy<Value = (u32, u64)> {
        (0u32..35, any::<u64>())
    }
}
