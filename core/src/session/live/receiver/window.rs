//! Reordering window: source packets around the one that is delivered next, by sequence number.
//!
//! Delivered packets stay for a while: the code needs them to recover others of their block.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use crate::time::Time;
use crate::units::Bytes;
use crate::wire::fecframe::Adui;
use crate::wire::rtp;

/// A window that holds more is full: waiting packets are delivered before their time. 30 Mb/s over 10 s fit, 400 Mb/s
/// over 1 s.
pub(super) const FULL: Bytes = Bytes(64 << 20);
/// Above this the oldest packets are given up. Only an application that lets many packets arrive before it takes any
/// out reaches this limit.
const MOST: Bytes = Bytes(FULL.0 + (16 << 20));
/// Most spare buffers kept for packets to come. Ours: 6 MB of the longest datagrams, a second of media at 43 Mb/s; more
/// keeps memory after a burst, fewer allocate in it.
const SPARE: usize = 1 << 12;

/// A place for one packet.
#[derive(Clone, Default, PartialEq, Debug)]
struct Place {
    /// The ADUI, empty while the packet is missing.
    adui: Vec<u8>,
    /// The time at which the source produced the packet, on our clock.
    produced: Time,
    /// The time at which the packet arrived, or at which a later packet showed that it was missing.
    noticed: Time,
    origin: Option<Origin>,
}

/// Memory of a place without its packet.
const PLACE: u64 = size_of::<Place>() as u64;

/// The origin of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Origin {
    Path,
    Repair,
}

/// The outcome of inserting a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kept {
    New,
    Duplicate,
    /// Its turn is over, or repair was faster.
    Late,
}

/// The first packet that waits for delivery, and the gap before it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Head {
    /// Packets missing before it.
    pub(super) missing: u64,
    /// The time at which the first of these was found missing.
    pub(super) missed: Time,
    /// The time at which the source produced the waiting packet.
    pub(super) produced: Time,
    /// Places from the first missing packet to the last one known.
    pub(super) span: u64,
}

/// The packets of one stream.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Window {
    /// Sequence number of the first place.
    first: u64,
    /// Sequence number of the packet that is delivered next.
    turn: u64,
    places: VecDeque<Place>,
    /// The time at which the source produced the newest delivered packet.
    newest: Time,
    /// Memory of the places and their buffers.
    held: Bytes,
    spare: Vec<Vec<u8>>,
}

impl Window {
    /// A window whose first packet is `first`.
    pub(super) fn new(first: u64) -> Window {
        Window { first, turn: first, places: VecDeque::new(), newest: Time::ZERO, held: Bytes(0), spare: Vec::new() }
    }

    /// Puts packet `sequence`, a whole RTP packet that has only the fixed header, in its place. No `sequence` may be
    /// more than 2^16 ahead. Also returns the number of packets given up for lack of memory.
    pub(super) fn insert(
        &mut self,
        now: Time,
        sequence: u64,
        packet: &[u8],
        produced: Time,
        origin: Origin,
    ) -> (Kept, u64) {
        let known = self.place(sequence).and_then(|place| place.origin);
        match known {
            Some(Origin::Path) => return (Kept::Duplicate, 0),
            Some(Origin::Repair) => {
                self.replace(sequence, packet, produced, origin);
                return (Kept::Late, 0);
            }
            None if sequence < self.turn => return (Kept::Late, 0),
            None => {}
        }
        for _ in self.first + self.places.len() as u64..=sequence {
            self.places.push_back(Place { noticed: now, ..Place::default() });
            self.held.0 += PLACE;
        }
        let mut given_up = 0;
        while self.first < sequence && self.held > MOST {
            given_up += u64::from(self.drop_first());
        }
        let mut adui = self.spare.pop().unwrap_or_default();
        fill(&mut adui, packet);
        self.held.0 += adui.capacity() as u64;
        self.places[(sequence - self.first) as usize] = Place { adui, produced, noticed: now, origin: Some(origin) };
        self.drop_delivered();
        (Kept::New, given_up)
    }

    /// Replaces a recovered packet that still waits by the one from the path. The latter is damaged only if it was
    /// itself hit, the former if anything of its block was.
    fn replace(&mut self, sequence: u64, packet: &[u8], produced: Time, origin: Origin) {
        if origin == Origin::Path && sequence >= self.turn {
            let place = &mut self.places[(sequence - self.first) as usize];
            let before = place.adui.capacity() as u64;
            fill(&mut place.adui, packet);
            self.held.0 += place.adui.capacity() as u64 - before;
            (place.produced, place.origin) = (produced, Some(origin));
        }
    }

    /// Forgets packets whose turn is over while the window is full: those that still wait take precedence.
    fn drop_delivered(&mut self) {
        while self.first < self.turn && self.held > FULL {
            self.drop_first();
        }
    }

    /// True if the window holds so much that packets must not wait for their time.
    pub(super) fn is_full(&self) -> bool {
        self.held > FULL
    }

    /// Sequence number of the first packet kept.
    pub(super) fn first(&self) -> u64 {
        self.first
    }

    /// Sequence number of the packet that is delivered next.
    pub(super) fn turn(&self) -> u64 {
        self.turn
    }

    /// The ADUI of packet `sequence`, if the window has it.
    pub(super) fn adui(&self, sequence: u64) -> Option<&[u8]> {
        self.place(sequence).map(|place| &place.adui[..]).filter(|adui| !adui.is_empty())
    }

    /// The first packet that waits for delivery.
    pub(super) fn head(&self) -> Option<Head> {
        let at = (self.turn - self.first) as usize;
        let missing = self.places.range(at.min(self.places.len())..).position(|place| !place.adui.is_empty())?;
        let waiting = &self.places[at + missing];
        Some(Head {
            missing: missing as u64,
            missed: self.places[at].noticed,
            produced: self.after_others(waiting.produced),
            span: (self.places.len() - at) as u64,
        })
    }

    /// Gives up the packets that are missing before the head.
    pub(super) fn skip(&mut self, missing: u64) {
        self.turn += missing;
        self.drop_delivered();
    }

    /// Delivers the payload of the packet whose turn it is, with the time of its production.
    pub(super) fn take(&mut self) -> Option<(&[u8], Time)> {
        let at = usize::try_from(self.turn - self.first).ok()?;
        let place = self.places.get(at).filter(|place| !place.adui.is_empty())?;
        self.turn += 1;
        self.newest = self.after_others(place.produced);
        Some((&place.adui[Adui::OVERHEAD + rtp::HEADER_LEN..], self.newest))
    }

    /// The time at which a packet was produced whose timestamp says `produced`: no earlier than any packet before it. A
    /// damaged timestamp from long ago would otherwise make it due at once, and packets before it that are in flight
    /// would be given up.
    fn after_others(&self, produced: Time) -> Time {
        self.newest.max(produced)
    }

    /// Forgets packets whose turn is over and that were noticed before `before`.
    pub(super) fn forget(&mut self, before: Time) {
        while self.first < self.turn && self.places.front().is_some_and(|place| place.noticed < before) {
            self.drop_first();
        }
    }

    /// Drops the first place; true if its turn has not come yet.
    fn drop_first(&mut self) -> bool {
        let Some(place) = self.places.pop_front() else { return false };
        let given_up = self.first >= self.turn;
        self.first += 1;
        self.turn = self.turn.max(self.first);
        self.held.0 -= PLACE + place.adui.capacity() as u64;
        if !place.adui.is_empty() && self.spare.len() < SPARE {
            self.spare.push(place.adui);
        }
        given_up
    }

    fn place(&self, sequence: u64) -> Option<&Place> {
        self.places.get(usize::try_from(sequence.checked_sub(self.first)?).ok()?)
    }
}

/// Makes `adui` the ADUI of `packet`, whatever it held before.
fn fill(adui: &mut Vec<u8>, packet: &[u8]) {
    adui.resize(Adui::OVERHEAD + packet.len(), 0);
    Adui { flow: 0, adu: packet }.emit(adui);
}
