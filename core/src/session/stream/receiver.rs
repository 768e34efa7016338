//! The receiving side: coded packets in, bytes in order and acknowledgements out.
//!
//! A packet is acknowledged at once when it reveals or fills a gap, or when two packets wait; otherwise within
//! [`Config::ack_delay`]. An acknowledgement repeats what was new in the last few, so that losing some does no harm,
//! and every 64th covers all that is remembered. No later acknowledgement repeats what is reported of a burst's last
//! packet, so that acknowledgement is sent twice.

mod ack_timer;
mod history;

use self::ack_timer::AckTimer;
use self::history::{History, Place};
use super::{Config, refused};
use crate::code::rlc::{self, Arrival, Decoder, Density, RepairId};
use crate::law::ParameterError;
use crate::time::{Span, Time};
use crate::wire::sequence::nearest;
use crate::wire::stream::acknowledgement::{self, Acknowledgement, MAX_RUNS, State};
use crate::wire::stream::coded::{Carries, Coded};
use crate::wire::{self};

/// The time without a packet after which a receiver discards originals kept for repair symbols: the peer has learned
/// the edge by then. Ours: longer than most round trips; longer still keeps memory for idle streams.
const REST: Span = Span::from_secs(1);

/// Counts of received packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Innovative packets: those that raised the decoder's rank.
    pub innovative: u64,
    /// Packets that were not innovative.
    pub redundant: u64,
    /// Packets whose sequence was received before, or is older than the history.
    pub duplicate: u64,
    /// Packets beyond the buffer, or that need originals no longer kept.
    pub refused: u64,
}

/// Rebuilds the stream from coded packets.
#[derive(Clone, PartialEq, Debug)]
pub struct Receiver {
    config: Config,
    /// The limit of originals accepted from the edge on.
    most: usize,
    decoder: Decoder,
    history: History,
    /// The arrival times of the packet with the newest sequence, and of the last packet.
    newest_at: Time,
    last: Time,
    ack_timer: AckTimer,
    /// An original that was read in part, and how much of it was read.
    rest: Vec<u8>,
    taken: usize,
    /// Originals taken from the decoder.
    consumed: u64,
    /// `consumed` when free space was last advertised.
    reported: u64,
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
            ack_timer: AckTimer::default(),
            rest: Vec::new(),
            taken: 0,
            consumed: 0,
            reported: 0,
            ended: false,
            is_resting: true,
            counts: Counts::default(),
        })
    }

    /// The counts of received packets.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// The number of originals kept, read or not.
    pub fn kept(&self) -> usize {
        self.decoder.kept()
    }

    /// True if all has been read, to the end of the stream.
    pub fn is_finished(&self) -> bool {
        self.ended
    }

    /// True if [`Receiver::read`] would return bytes, or find the end.
    pub(super) fn is_readable(&self) -> bool {
        !self.ended && (self.taken < self.rest.len() || self.consumed < self.decoder.edge())
    }

    /// Takes a coded packet.
    pub(super) fn handle(&mut self, now: Time, coded: &Coded<'_>) -> Result<(), wire::Error> {
        let sequence = nearest::<32>(self.history.newest().unwrap_or(0), coded.sequence);
        let place = self.history.place(sequence);
        (self.last, self.is_resting) = (now, false);
        if matches!(place, Place::Known | Place::Forgotten) {
            self.counts.duplicate += 1;
            // The sender of such an old packet lacks the acknowledgements since.
            self.ack_timer.expire(now);
            return Ok(());
        }
        let edge = self.decoder.edge();
        let state = match self.decode(coded) {
            Ok(Arrival::Innovative) => State::Innovative,
            Ok(Arrival::Redundant) => State::Redundant,
            Err(rlc::Error::Beyond | rlc::Error::Missing) => {
                // As if it were lost: its originals are retransmitted in another packet.
                self.counts.refused += 1;
                self.ack_timer.expire(now);
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
        let delay = if place == Place::Gap || fills { Span::ZERO } else { self.config.ack_delay };
        self.ack_timer.on_packet(now, delay);
        Ok(())
    }

    /// Limits the originals accepted from the advertised edge on to `most`.
    pub(super) fn bound(&mut self, most: usize) {
        self.most = most;
    }

    /// Makes an acknowledgement due, as the peer has asked for one.
    pub(super) fn handle_question(&mut self, now: Time) {
        self.ack_timer.expire(now);
    }

    /// Continues over another association. Acknowledgements in flight are lost with the old one.
    pub(super) fn resume(&mut self, now: Time) {
        self.history.report_all();
        self.ack_timer.expire(now);
    }

    /// Reads bytes in order into `buf` and returns their number; 0 if there are none yet, or the stream has ended.
    pub(super) fn read(&mut self, now: Time, buf: &mut [u8]) -> usize {
        let mut count = 0;
        while count < buf.len() {
            let free = &mut buf[count..];
            if self.taken < self.rest.len() {
                let part = free.len().min(self.rest.len() - self.taken);
                free[..part].copy_from_slice(&self.rest[self.taken..self.taken + part]);
                (count, self.taken) = (count + part, self.taken + part);
            } else if let Some(part) = self.deliver_next(free) {
                count += part;
            } else {
                break;
            }
        }
        self.schedule_window_update(now);
        count
    }

    /// The rest of an original that was read in part, or the next original; none if there is none yet, or the stream
    /// has ended.
    pub(super) fn take(&mut self, now: Time) -> Option<&[u8]> {
        let taken = core::mem::replace(&mut self.taken, self.rest.len());
        if taken < self.rest.len() {
            return Some(&self.rest[taken..]);
        }
        if self.ended || self.consumed == self.decoder.edge() {
            return None;
        }
        self.consumed += 1;
        self.schedule_window_update(now);
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
        [self.ack_timer.next(), self.next_rest()].into_iter().flatten().min()
    }

    /// True if an acknowledgement cannot wait any longer.
    pub(super) fn is_due(&self, now: Time) -> bool {
        self.ack_timer.next().is_some_and(|at| at <= now)
    }

    /// True if an acknowledgement is pending, due or not.
    pub(super) fn is_pending(&self) -> bool {
        self.ack_timer.is_pending()
    }

    /// Writes an acknowledgement, unless `buf` is too short for it, and returns its length.
    pub(super) fn acknowledge(&mut self, now: Time, buf: &mut [u8]) -> Option<usize> {
        let mut runs = [0; MAX_RUNS];
        let count = acknowledgement::runs(self.history.pending_runs(), &mut runs);
        let edge = self.decoder.edge();
        let credit = (self.consumed + self.config.window as u64).saturating_sub(edge).min(self.most as u64);
        let acknowledgement = Acknowledgement {
            newest: self.history.newest().unwrap_or(0) as u32,
            delay_us: u32::try_from(now.since(self.newest_at).as_micros()).unwrap_or(u32::MAX),
            edge: edge as u32,
            credit: u16::try_from(credit).unwrap_or(u16::MAX),
            runs: &runs[..count],
        };
        let len = acknowledgement.emit(buf)?;
        self.history.on_sent();
        self.ack_timer.on_acknowledged(now);
        self.reported = self.consumed;
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

    /// Copies the next original to the start of `free` and returns the number of bytes; what does not fit is kept in
    /// `rest`. None if there is no original, or it is the end.
    fn deliver_next(&mut self, free: &mut [u8]) -> Option<usize> {
        if self.ended {
            return None;
        }
        let (_, original) = self.decoder.poll_original()?;
        let (now, later) = original.split_at(original.len().min(free.len()));
        free[..now.len()].copy_from_slice(now);
        self.rest.clear();
        self.rest.extend_from_slice(later);
        (self.taken, self.ended) = (0, original.is_empty());
        self.consumed += 1;
        (!self.ended).then_some(now.len())
    }

    /// Makes an acknowledgement due once half the window was read since the last: the sender may be blocked by the
    /// window.
    fn schedule_window_update(&mut self, now: Time) {
        if self.consumed - self.reported >= (self.config.window as u64).div_ceil(2) {
            self.ack_timer.expire(now);
        }
    }

    fn next_rest(&self) -> Option<Time> {
        (!self.is_resting).then(|| self.last + REST)
    }
}
