//! Source packets around the one that is handed out next, by sequence number.
//!
//! Packets that were handed out stay for a while: the code needs them to recover others of their block.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use crate::time::Time;
use crate::units::Bytes;
use crate::wire::fecframe::Adui;
use crate::wire::rtp;

/// With more in it a window is full: what waits is handed out before its time. 30 Mb/s within 10 s fit, 400 Mb/s within 1 s.
pub(super) const FULL: Bytes = Bytes(64 << 20);
/// With more, the oldest are given up. Only who lets many packets come before he takes any out meets that.
const MOST: Bytes = Bytes(FULL.0 + (16 << 20));
/// Buffers kept for packets to come.
const SPARE: usize = 1 << 12;

/// A place for one packet.
#[derive(Clone, Default, PartialEq, Debug)]
struct Place {
    /// The ADUI, empty while the packet is missing.
    adui: Vec<u8>,
    /// When the source produced it, on our clock.
    produced: Time,
    /// When it came, or when a later packet showed that it had not.
    noticed: Time,
    origin: Option<Origin>,
}

/// Memory of a place without its packet.
const PLACE: u64 = size_of::<Place>() as u64;

/// Where a packet comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Origin {
    Path,
    Repair,
}

/// What a packet was to the window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kept {
    New,
    Duplicate,
    /// Its turn is over, or repair has been faster.
    Late,
}

/// The first packet that waits, and what is missing before it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Head {
    /// Packets missing before it.
    pub(super) missing: u64,
    /// When the first of these was missed.
    pub(super) missed: Time,
    /// When the source produced the packet that waits.
    pub(super) produced: Time,
    /// Places from the first missing packet to the last one known.
    pub(super) span: u64,
}

/// The packets of one stream.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Window {
    /// Sequence number of the first place.
    first: u64,
    /// Sequence number of the packet that is handed out next.
    turn: u64,
    places: VecDeque<Place>,
    /// When the source produced the newest packet that was handed out.
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

    /// Puts packet `sequence`, a whole RTP packet that has only a fixed header, in its place. No `sequence` may be more
    /// than 2^16 ahead. Returns also how many packets were given up for room.
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
        self.make_room();
        (Kept::New, given_up)
    }

    /// Puts a packet from the path in the place of a recovered one that still waits: it is damaged if it was hit itself, the
    /// other if anything of its block was.
    fn replace(&mut self, sequence: u64, packet: &[u8], produced: Time, origin: Origin) {
        if origin == Origin::Path && sequence >= self.turn {
            let place = &mut self.places[(sequence - self.first) as usize];
            let before = place.adui.capacity() as u64;
            fill(&mut place.adui, packet);
            self.held.0 += place.adui.capacity() as u64 - before;
            (place.produced, place.origin) = (produced, Some(origin));
        }
    }

    /// Forgets what had its turn where there is too much of it: what has not comes first.
    fn make_room(&mut self) {
        while self.first < self.turn && self.held > FULL {
            self.drop_first();
        }
    }

    /// Whether it holds so much that packets must not wait for their time.
    pub(super) fn is_full(&self) -> bool {
        self.held > FULL
    }

    /// Sequence number of the packet that is handed out next.
    pub(super) fn turn(&self) -> u64 {
        self.turn
    }

    /// The ADUI of packet `sequence`, if it is here.
    pub(super) fn adui(&self, sequence: u64) -> Option<&[u8]> {
        self.place(sequence).map(|place| &place.adui[..]).filter(|adui| !adui.is_empty())
    }

    /// The first packet that waits for its turn.
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
        self.make_room();
    }

    /// Hands out the payload of the packet whose turn it is, and when it was produced.
    pub(super) fn take(&mut self) -> Option<(&[u8], Time)> {
        let at = usize::try_from(self.turn - self.first).ok()?;
        let place = self.places.get(at).filter(|place| !place.adui.is_empty())?;
        self.turn += 1;
        self.newest = self.after_others(place.produced);
        Some((&place.adui[Adui::OVERHEAD + rtp::HEADER_LEN..], self.newest))
    }

    /// When a packet was produced whose timestamp says `produced`: after all before it. A damaged timestamp of long ago would
    /// have it handed out at once, and what is on its way before it given up.
    fn after_others(&self, produced: Time) -> Time {
        self.newest.max(produced)
    }

    /// Forgets what has had its turn and was noticed before `before`.
    pub(super) fn forget(&mut self, before: Time) {
        while self.first < self.turn && self.places.front().is_some_and(|place| place.noticed < before) {
            self.drop_first();
        }
    }

    /// Drops the first place; true if it has had no turn yet.
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

/// Makes `adui` that of `packet`, whatever it was before.
fn fill(adui: &mut Vec<u8>, packet: &[u8]) {
    adui.resize(Adui::OVERHEAD + packet.len(), 0);
    Adui { flow: 0, adu: packet }.emit(adui);
}
