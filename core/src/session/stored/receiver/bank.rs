//! The bank: frames from their first packet to the end of their use, in decoding order.

use std::collections::VecDeque;

use super::clock::Clock;
use super::slot::{Frame, Slot};
use crate::law::playback::Tally;
use crate::session::stored::First;
use crate::time::{Span, Time};
use crate::video::{Class, Kind};
use crate::wire::stored::Place;

/// The frames from the first that is kept to the last: more are ignored. At 100 frames per second ten minutes.
const MAX_FRAMES: u32 = 65_536;
/// The time after its display for which a frame is kept: a frame that arrives later counts as one that
/// never arrives. Ours: longer than any queue of a path that still serves playback.
const RETENTION: Span = Span::from_secs(5);
/// Limit on the payloads that are kept: half a minute of 16 Mb/s. Packets beyond it count as lost.
const MAX_BYTES: usize = 64 << 20;

/// The received frames.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Bank {
    /// The index of the first frame that is kept.
    base: u32,
    /// The index of the first frame of all.
    first: u32,
    /// The media time from which on frames count.
    from: Span,
    slots: VecDeque<Slot>,
    /// The time at which the last two references before the first kept frame were decodable, the last one first.
    references: [Option<Time>; 2],
    /// The next frame to deliver: pictures, and audio.
    next: [u32; 2],
    tally: Tally,
    audio: Tally,
    /// Bytes of payloads that are kept.
    bytes: usize,
}

impl Bank {
    /// A bank for a video from the frame `first` on.
    pub(super) fn new(first: First) -> Bank {
        Bank {
            base: first.index,
            first: first.index,
            from: first.from,
            slots: VecDeque::new(),
            // Nothing before the first frame is missing.
            references: [Some(Time::ZERO); 2],
            next: [first.index; 2],
            tally: Tally::default(),
            audio: Tally::default(),
            bytes: 0,
        }
    }

    /// The bytes that the bank keeps.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    fn slot(&mut self, index: u32) -> Option<&mut Slot> {
        let at = index.checked_sub(self.base).filter(|at| *at < MAX_FRAMES)? as usize;
        if at >= self.slots.len() {
            self.slots.resize_with(at + 1, Slot::default);
        }
        self.slots.get_mut(at)
    }

    /// Takes a frame's class from a group report of `now`, and notes if it was skipped.
    pub(super) fn describe(&mut self, now: Time, index: u32, class: Class, is_skipped: bool) {
        let is_leading = is_skipped && class == Class::Picture(Kind::B) && self.is_leading(index);
        let Some(slot) = self.slot(index) else { return };
        let may_be_reference = slot.is_reference();
        slot.class.get_or_insert(class);
        slot.is_skipped |= is_skipped;
        slot.is_counted |= is_leading;
        if may_be_reference && !slot.is_reference() {
            // Whole frames behind it have waited for it.
            self.settle((index - self.base) as usize, now);
        }
    }

    /// True if a B after the first I is displayed before it, where playout begins within the video.
    fn is_leading(&self, index: u32) -> bool {
        let before = self.slots.iter().take(index.saturating_sub(self.base) as usize);
        self.from > Span::ZERO && self.base == self.first && before.filter(|slot| slot.is_reference()).count() <= 1
    }

    /// Takes a packet. Returns true if it was missing.
    pub(super) fn insert(&mut self, now: Time, place: &Place, payload: &[u8]) -> bool {
        let is_full = self.bytes + payload.len() > MAX_BYTES;
        let Some(slot) = self.slot(place.frame) else { return false };
        if is_full || slot.arrival.is_some() || slot.is_delivered || slot.payloads.contains_key(&place.packet) {
            return false;
        }
        slot.class = Some(place.class);
        slot.times = Some((place.decode, place.decode + place.lead));
        slot.packets = place.packets;
        slot.payloads.insert(place.packet, payload.into());
        let is_whole = slot.payloads.len() == usize::from(slot.packets);
        slot.arrival = is_whole.then_some(now);
        self.bytes += payload.len();
        if is_whole {
            self.settle((place.frame - self.base) as usize, now);
        }
        true
    }

    /// The times at which the two references before `at` were decodable, the last one first.
    fn references_before(&self, at: usize) -> [Option<Time>; 2] {
        let mut found = [None, None];
        let mut count = 0;
        for slot in self.slots.range(..at).rev().filter(|slot| slot.is_reference()) {
            found[count] = slot.ready;
            count += 1;
            if count == 2 {
                return found;
            }
        }
        for (nth, reference) in self.references.iter().take(2 - count).enumerate() {
            found[count + nth] = *reference;
        }
        found
    }

    /// Marks as decodable whatever the arrival of the frame at `at` has made so.
    fn settle(&mut self, at: usize, now: Time) {
        let mut references = self.references_before(at);
        for slot in self.slots.range_mut(at..) {
            if slot.is_audio() {
                slot.ready = slot.arrival;
                continue;
            }
            let [last, before] = references;
            let is_ready = slot.arrival.is_some()
                && match slot.class {
                    Some(Class::Picture(Kind::I)) => true,
                    Some(Class::Picture(Kind::P)) => last.is_some(),
                    _ => last.is_some() && before.is_some(),
                };
            if is_ready && slot.ready.is_none() {
                slot.ready = Some(now);
            }
            if slot.is_reference() {
                references = [slot.ready, last];
            }
        }
    }

    /// The next frame that is due by media time `playout` of `clock`, and decodable. References that are
    /// missing are waited for until a later frame, which does not need them, is due. A frame that was decodable after its
    /// display is returned only if others need it.
    pub(super) fn deliver(&mut self, clock: Clock, playout: Span) -> Option<Frame> {
        self.deliver_of(true, clock, playout).or_else(|| self.deliver_of(false, clock, playout))
    }

    fn deliver_of(&mut self, audio: bool, clock: Clock, playout: Span) -> Option<Frame> {
        let at = self.next_of(audio, clock)?;
        let (decode, display) = self.slots[at].times.filter(|(decode, _)| *decode <= playout)?;
        let index = self.base + at as u32;
        self.next[usize::from(audio)] = index + 1;
        let slot = &mut self.slots[at];
        slot.is_delivered = true;
        let payloads: Vec<Box<[u8]>> = core::mem::take(&mut slot.payloads).into_values().collect();
        self.bytes -= payloads.iter().map(|payload| payload.len()).sum::<usize>();
        Some(Frame { index, class: slot.class?, decode, display, payloads })
    }

    /// The offset of the next frame to deliver, of pictures or of audio.
    fn next_of(&self, audio: bool, clock: Clock) -> Option<usize> {
        let from = self.next[usize::from(audio)].saturating_sub(self.base) as usize;
        let is_deliverable = |slot: &Slot| {
            let in_time =
                slot.ready.zip(slot.times).is_some_and(|(ready, (_, display))| ready <= clock.time_of(display));
            slot.is_audio() == audio && slot.ready.is_some() && (slot.is_reference() || in_time)
        };
        (from..self.slots.len()).find(|&at| is_deliverable(&self.slots[at]))
    }

    /// The decode time of the next frame to deliver.
    pub(super) fn next_decode(&self, clock: Clock) -> Option<Span> {
        let decode_of = |audio| self.slots[self.next_of(audio, clock)?].times.map(|(decode, _)| decode);
        [true, false].into_iter().filter_map(decode_of).min()
    }

    /// True if the first frame of pictures is whole.
    pub(super) fn has_first(&self) -> bool {
        self.slots.iter().find(|slot| !slot.is_audio()).is_some_and(|slot| slot.ready.is_some())
    }

    /// Drops frames whose outcome is final at media time `playout` of `clock`.
    pub(super) fn forget(&mut self, clock: Clock, playout: Span) {
        while let Some(last_over) = self.first_over(playout) {
            for _ in 0..=last_over {
                self.drop_first(clock);
            }
        }
    }

    /// The offset of the first frame with known times if it is over.
    fn first_over(&self, playout: Span) -> Option<usize> {
        let at = self.slots.iter().position(|slot| slot.times.is_some())?;
        let (_, display) = self.slots[at].times?;
        (display + RETENTION < playout).then_some(at)
    }

    fn drop_first(&mut self, clock: Clock) {
        let Some(slot) = self.slots.pop_front() else { return };
        self.bytes -= slot.payloads.values().map(|payload| payload.len()).sum::<usize>();
        slot.count(self.from, clock, (&mut self.tally, &mut self.audio));
        if slot.is_reference() {
            self.references = [slot.ready, self.references[0]];
        }
        self.base += 1;
        self.next = self.next.map(|next| next.max(self.base));
    }

    /// The outcomes of pictures and of audio that are displayed by media time `playout` of `clock`. Audio is
    /// counted as I.
    pub(super) fn tallies(&self, clock: Clock, playout: Span) -> (Tally, Tally) {
        let (mut pictures, mut audio) = (self.tally, self.audio);
        let mut is_over = false;
        // A frame without times lies between its neighbours.
        for slot in self.slots.iter().rev() {
            is_over = slot.times.map_or(is_over, |(_, display)| display <= playout);
            if is_over {
                slot.count(self.from, clock, (&mut pictures, &mut audio));
            }
        }
        (pictures, audio)
    }

    /// Counts the frames displayed by media time `playout` of `clock` for good: a later clock has other deadlines.
    pub(super) fn close(&mut self, clock: Clock, playout: Span) {
        (self.tally, self.audio) = self.tallies(clock, playout);
        let mut is_over = false;
        for slot in self.slots.iter_mut().rev() {
            is_over = slot.times.map_or(is_over, |(_, display)| display <= playout);
            slot.is_counted |= is_over;
        }
    }

    /// True if every frame before `end` has been delivered or is over at media time `playout`.
    pub(super) fn is_over(&self, end: u32, playout: Span) -> bool {
        let last = self.slots.iter().filter_map(|slot| slot.times).map(|(_, display)| display).max();
        self.base + self.slots.len() as u32 >= end && last.is_none_or(|last| last < playout)
    }

    /// True if a frame is no longer kept.
    pub(super) fn is_forgotten(&self, index: u32) -> bool {
        index < self.base
    }

    /// The class and the display time of a frame, as far as they are known.
    pub(super) fn known(&self, index: u32) -> Option<(Class, Span)> {
        let slot = self.slots.get(index.checked_sub(self.base)? as usize)?;
        slot.class.zip(slot.times).map(|(class, (_, display))| (class, display))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn picture_behind_one_that_is_reported_as_a_skipped_b_becomes_decodable() {
        let at = |millis| Time::ZERO + Span::from_millis(millis);
        let mut bank = Bank::new(First { index: 0, decode: Span::ZERO, from: Span::ZERO });
        let place = |frame: u32, kind| Place {
            frame,
            packet: 0,
            packets: 1,
            class: Class::Picture(kind),
            decode: Span::from_millis(40) * u64::from(frame),
            lead: Span::ZERO,
        };
        bank.insert(at(0), &place(0, Kind::I), &[1]);
        bank.insert(at(80), &place(2, Kind::P), &[1]);
        let clock = Clock { at: at(500), media: Span::ZERO };
        let mut delivered = || bank.deliver(clock, Span::from_millis(80)).map(|frame| frame.index);
        // Of the frame between them nothing is known: the P may refer to it.
        assert_eq!([delivered(), delivered()], [Some(0), None]);
        bank.describe(at(100), 1, Class::Picture(Kind::B), true);
        assert_eq!(bank.deliver(clock, Span::from_millis(80)).map(|frame| frame.index), Some(2));
    }
}
