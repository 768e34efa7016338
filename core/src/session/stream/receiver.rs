//! The receiving side: coded packets in, bytes in order and acknowledgements out.
//!
//! What has come is acknowledged at once when it shows a gap or fills one, and when two packets wait; else within
//! [`Config::ack_delay`]. An acknowledgement repeats what was news in the last few, so that losing some does no harm, and every
//! 64th all that is remembered. Behind the last packet of a burst no other repeats what it told: so it is told again, once.

mod history;

use self::history::{History, Place};
use super::{Config, refused};
use crate::code::rlc::{self, Arrival, Decoder, Density, RepairId};
use crate::law::ParameterError;
use crate::time::{Span, Time};
use crate::wire::sequence::nearest;
use crate::wire::stream::acknowledgement::{self, Acknowledgement, MAX_RUNS, State};
use crate::wire::stream::coded::{Carries, Coded};
use crate::wire::{self};

/// How many packets may wait for their acknowledgement.
const EVERY: u32 = 2;
/// News is told again so long after it was told, if nothing has come since: with the acknowledgement's delay that is within what
/// the other end's timer allows for.
const AGAIN: Span = Span::from_millis(3);
/// After so long without a packet a receiver forgets what repair could still cover: the other end's edge has come up.
const REST: Span = Span::from_secs(1);

/// What came, in packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// That told something new.
    pub innovative: u64,
    /// That told nothing new.
    pub redundant: u64,
    /// Of a sequence that had come before, or so far back that nobody can tell.
    pub duplicate: u64,
    /// For which there was no room.
    pub refused: u64,
}

/// Rebuilds the stream.
#[derive(Clone, PartialEq, Debug)]
pub struct Receiver {
    config: Config,
    /// Originals from the edge on that are taken at most.
    most: usize,
    decoder: Decoder,
    history: History,
    /// When the newest packet came, and when any did.
    newest_at: Time,
    last: Time,
    /// Packets that came since the last acknowledgement, and until when it can wait.
    waiting: u32,
    due: Option<Time>,
    /// When the last news is told again.
    again: Option<Time>,
    /// The rest of an original that was handed out in part.
    rest: Vec<u8>,
    taken: usize,
    /// Originals that were taken from the decoder.
    handed: u64,
    /// `handed` when room was last told.
    told: u64,
    ended: bool,
    is_resting: bool,
    counts: Counts,
}

impl Receiver {
    pub(super) fn new(config: Config, code: rlc::Config) -> Result<Receiver, ParameterError> {
        Ok(Receiver {
            config,
            most: config.window,
            decoder: Decoder::new(code).map_err(refused)?,
            history: History::default(),
            newest_at: Time::ZERO,
            last: Time::ZERO,
            waiting: 0,
            due: None,
            again: None,
            rest: Vec::new(),
            taken: 0,
            handed: 0,
            told: 0,
            ended: false,
            is_resting: true,
            counts: Counts::default(),
        })
    }

    /// What came.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Originals that are kept, read or not.
    pub fn kept(&self) -> usize {
        self.decoder.kept()
    }

    /// Whether all has been read, to the end of the stream.
    pub fn is_finished(&self) -> bool {
        self.ended
    }

    /// Whether [`Receiver::read`] would hand out something, or find the end.
    pub(super) fn is_readable(&self) -> bool {
        !self.ended && (self.taken < self.rest.len() || self.handed < self.decoder.edge())
    }

    /// Takes a coded packet.
    pub(super) fn handle(&mut self, now: Time, coded: &Coded<'_>) -> Result<(), wire::Error> {
        let sequence = nearest::<32>(self.history.newest().unwrap_or(0), coded.sequence);
        let place = self.history.place(sequence);
        (self.last, self.is_resting) = (now, false);
        if matches!(place, Place::Known | Place::Forgotten) {
            self.counts.duplicate += 1;
            // Whoever sends so far back has not heard what came since.
            self.due = Some(now);
            return Ok(());
        }
        let edge = self.decoder.edge();
        let state = match self.decode(coded) {
            Ok(Arrival::Innovative) => State::Innovative,
            Ok(Arrival::Redundant) => State::Redundant,
            Err(rlc::Error::Beyond | rlc::Error::Missing) => {
                // As if it were lost: it is sent again, in another packet.
                self.counts.refused += 1;
                self.due = Some(now);
                return Ok(());
            }
            Err(_) => return Err(wire::Error::Malformed),
        };
        match state {
            State::Innovative => self.counts.innovative += 1,
            _ => self.counts.redundant += 1,
        }
        let fills = self.decoder.edge() > edge + 1;
        if self.history.newest().is_none_or(|newest| sequence > newest) {
            self.newest_at = now;
        }
        self.history.put(sequence, state);
        (self.waiting, self.again) = (self.waiting + 1, None);
        let due = if place == Place::Gap || fills || self.waiting >= EVERY { now } else { now + self.config.ack_delay };
        self.due = Some(self.due.map_or(due, |before| before.min(due)));
        Ok(())
    }

    /// Originals from the edge on that the other end hears that are taken, from now on.
    pub(super) fn bound(&mut self, most: usize) {
        self.most = most;
    }

    /// The other end asks.
    pub(super) fn handle_question(&mut self, now: Time) {
        self.due = Some(now);
    }

    /// The stream goes on over another association: acknowledgements that were under way are lost with the old one.
    pub(super) fn resume(&mut self, now: Time) {
        self.history.tell_all();
        self.due = Some(now);
    }

    /// Bytes in order; 0 if there are none yet, or the stream has ended.
    pub(super) fn read(&mut self, now: Time, buf: &mut [u8]) -> usize {
        let mut count = 0;
        while count < buf.len() {
            let room = &mut buf[count..];
            if self.taken < self.rest.len() {
                let part = room.len().min(self.rest.len() - self.taken);
                room[..part].copy_from_slice(&self.rest[self.taken..self.taken + part]);
                (count, self.taken) = (count + part, self.taken + part);
            } else if let Some(part) = self.hand_out(room) {
                count += part;
            } else {
                break;
            }
        }
        self.tell_room(now);
        count
    }

    /// The rest of an original that was read in part, or the next; none if there is none yet, or the stream has ended.
    pub(super) fn take(&mut self, now: Time) -> Option<&[u8]> {
        let taken = core::mem::replace(&mut self.taken, self.rest.len());
        if taken < self.rest.len() {
            return Some(&self.rest[taken..]);
        }
        if self.ended || self.handed == self.decoder.edge() {
            return None;
        }
        self.handed += 1;
        self.tell_room(now);
        let (_, original) = self.decoder.poll_original()?;
        self.ended = original.is_empty();
        (!self.ended).then_some(original)
    }

    pub(super) fn handle_timeout(&mut self, now: Time) {
        if self.next_rest().is_some_and(|at| at <= now) {
            self.is_resting = true;
            self.decoder.forget(self.decoder.edge());
            self.history.rest();
            if self.taken == self.rest.len() {
                (self.rest, self.taken) = (Vec::new(), 0);
            }
        }
    }

    pub(super) fn poll_timeout(&self) -> Option<Time> {
        [self.due, self.again, self.next_rest()].into_iter().flatten().min()
    }

    /// Whether an acknowledgement cannot wait any longer.
    pub(super) fn is_due(&self, now: Time) -> bool {
        [self.due, self.again].into_iter().flatten().any(|due| due <= now)
    }

    /// Whether one would tell anything.
    pub(super) fn has_news(&self) -> bool {
        self.due.is_some()
    }

    /// Writes an acknowledgement, unless there is too little room for it, and tells its length.
    pub(super) fn acknowledge(&mut self, now: Time, buf: &mut [u8]) -> Option<usize> {
        let mut runs = [0; MAX_RUNS];
        let count = acknowledgement::runs(self.history.news(), &mut runs);
        let edge = self.decoder.edge();
        let room = (self.handed + self.config.window as u64).saturating_sub(edge).min(self.most as u64);
        let acknowledgement = Acknowledgement {
            newest: self.history.newest().unwrap_or(0) as u32,
            delay_us: u32::try_from(now.since(self.newest_at).as_micros()).unwrap_or(u32::MAX),
            edge: edge as u32,
            room: u16::try_from(room).unwrap_or(u16::MAX),
            runs: &runs[..count],
        };
        let len = acknowledgement.emit(buf)?;
        self.history.told();
        self.again = (self.waiting > 0).then(|| now + AGAIN);
        (self.due, self.waiting, self.told) = (None, 0, self.handed);
        Some(len)
    }

    fn decode(&mut self, coded: &Coded<'_>) -> Result<Arrival, rlc::Error> {
        let edge = self.decoder.edge();
        match coded.carries {
            Carries::Original(number) => self.decoder.handle_original(nearest::<32>(edge, number), coded.payload),
            Carries::Repair { first, count, key, threshold } => {
                let first = nearest::<32>(edge, first);
                let last = first.checked_add(u64::from(count) - 1).ok_or(rlc::Error::Range)?;
                let id = RepairId { first, last, key, density: Density::new(threshold)? };
                self.decoder.handle_repair(&id, coded.payload)
            }
        }
    }

    /// Copies the next original over the first bytes of `room`, and tells how many; what does not fit is the rest. None if
    /// there is no original, or it is the end.
    fn hand_out(&mut self, room: &mut [u8]) -> Option<usize> {
        if self.ended {
            return None;
        }
        let (_, original) = self.decoder.poll_original()?;
        let (now, later) = original.split_at(original.len().min(room.len()));
        room[..now.len()].copy_from_slice(now);
        self.rest.clear();
        self.rest.extend_from_slice(later);
        (self.taken, self.ended) = (0, original.is_empty());
        self.handed += 1;
        (!self.ended).then_some(now.len())
    }

    /// Half the window is news to one who may have stopped for want of it.
    fn tell_room(&mut self, now: Time) {
        if self.handed - self.told >= (self.config.window as u64).div_ceil(2) {
            self.due = Some(now);
        }
    }

    fn next_rest(&self) -> Option<Time> {
        (!self.is_resting).then(|| self.last + REST)
    }
}
