//! The sending side: bytes in, coded packets out, acknowledgements taken.
//!
//! **Packing.** What is written gathers until an original is full, or until an opportunity to send finds nothing else that
//! is new: then what has gathered goes as it is. While the rate holds a sender back, small writes therefore share packets;
//! while it does not, the last of a burst waits for nothing. Repair of what may have arrived waits until nothing was written
//! for a moment, for a program may write a burst piece by piece, and what covers all of it is worth more.
//!
//! **Loss.** A packet is lost when its acknowledgement is overdue: where a packet that was sent later has come, by a round
//! trip and the reordering that was measured; where none has, by a timer, which doubles while nothing at all is heard. What
//! comes after all is put right, in the loss estimate as well, and widens the reordering that is expected.

mod delays;
mod departure;
mod flight;
mod losses;
mod measured;
mod news;
mod probe;
mod resumption;
mod room;
mod round_trip;
mod unheard;

pub use self::delays::{Delays, Steps};
use self::flight::{Fate, Flight, Record};
use self::losses::Losses;
pub use self::measured::Measured;
pub(super) use self::round_trip::MAX_ACK_DELAY;
use self::round_trip::{GRANULARITY, RoundTrip};
use self::unheard::Unheard;
use super::{Config, Event, refused};
use crate::code::rlc::{self, Density, Encoder, RepairId};
use crate::law::ParameterError;
use crate::law::rate::{Allowance, Report};
use crate::law::schedule::{Choice, Coded, Decision, Path, Queue, Schedule, View};
use crate::time::{Span, Time};
use crate::units::Bytes;
use crate::wire;
use crate::wire::sequence::nearest;
use crate::wire::stream::acknowledgement::{Acknowledgement, State};
use crate::wire::stream::coded::Carries;

/// What left, in packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// New originals.
    pub new: u64,
    /// Combinations.
    pub repair: u64,
    /// Originals again.
    pub resent: u64,
    /// Opportunities that the schedule left unused.
    pub idle: u64,
    /// Taken for lost.
    pub lost: u64,
    /// Of these, arrived after all.
    pub late: u64,
    /// How often nothing was heard for long.
    pub silences: u64,
}

/// The original that ends the stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Last {
    /// More may be written.
    Open,
    /// It comes behind what is written.
    Due,
    /// Which it is.
    Is(u64),
}

/// Keeps the stream until it has arrived.
#[derive(Clone, PartialEq, Debug)]
pub struct Sender<S, A> {
    config: Config,
    schedule: S,
    allowance: A,
    queue: Queue,
    encoder: Encoder,
    flight: Flight,
    rtt: RoundTrip,
    losses: Losses,
    unheard: Unheard,
    /// From one packet to the next.
    slot: Span,
    /// What is not an original yet, and since when the first of it waits.
    gathered: Vec<u8>,
    since: Time,
    /// When something was last written.
    written: Time,
    /// Originals that may wait for their arrival, and the first that the other end has no room for.
    most: usize,
    limit: u64,
    last: Last,
    told_delivered: bool,
    wants_room: bool,
    /// The schedule left an opportunity unused and is not asked again before: until there is something new, be it to send
    /// or to know.
    rest: Time,
    is_limited: bool,
    /// The newest packet that was acknowledged.
    newest: Option<u64>,
    /// The first packet of the present association.
    resumed: u64,
    /// When silence began: the last acknowledgement, or the first packet after nothing was under way.
    quiet: Time,
    /// Losses that were found since the last report, and when the newest of them was sent.
    found: u32,
    found_sent: Option<Time>,
    /// When to ask whether there is room, and how often that was done in vain.
    ask: Option<Time>,
    asked: u32,
    counts: Counts,
    delays: Delays,
}

impl<S: Schedule, A: Allowance> Sender<S, A> {
    pub(super) fn new(config: Config, code: rlc::Config, schedule: S, allowance: A) -> Result<Self, ParameterError> {
        Ok(Sender {
            config,
            schedule,
            allowance,
            queue: Queue::new(0),
            encoder: Encoder::new(code).map_err(refused)?,
            flight: Flight::default(),
            rtt: RoundTrip::default(),
            losses: Losses::new()?,
            unheard: Unheard::default(),
            slot: GRANULARITY,
            gathered: Vec::new(),
            since: Time::ZERO,
            written: Time::ZERO,
            most: config.window,
            limit: config.window as u64,
            last: Last::Open,
            told_delivered: false,
            wants_room: false,
            rest: Time::ZERO,
            is_limited: false,
            newest: None,
            resumed: 0,
            quiet: Time::ZERO,
            found: 0,
            found_sent: None,
            ask: None,
            asked: 0,
            counts: Counts::default(),
            delays: Delays::default(),
        })
    }

    /// What left.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// How long originals took to arrive in order.
    pub fn delays(&self) -> &Delays {
        &self.delays
    }

    /// The stream as the schedule sees it.
    pub fn queue(&self) -> &Queue {
        &self.queue
    }

    /// The path as it was measured.
    pub fn path(&self) -> Path {
        let channel = self.losses.bursts().channel(self.flight.undecided());
        Path { eps: self.losses.eps(), channel, rtt: self.rtt.or_initial(), slot: self.slot }
    }

    /// Originals that wait for their first packet, what gathers for the next one included.
    pub fn unsent(&self) -> usize {
        self.queue.m() + usize::from(!self.gathered.is_empty())
    }

    /// Whether all has arrived, to the end of the stream.
    pub fn is_delivered(&self) -> bool {
        matches!(self.last, Last::Is(last) if self.queue.b() > last)
    }

    pub(super) fn write(&mut self, now: Time, bytes: &[u8]) -> usize {
        let (mut taken, longest) = (0, self.config.longest());
        while taken < bytes.len() && self.last == Last::Open {
            if self.gathered.len() == longest && !self.close(now) {
                self.wants_room = true;
                break;
            }
            if self.gathered.is_empty() {
                self.since = now;
            }
            let part = (longest - self.gathered.len()).min(bytes.len() - taken);
            self.gathered.extend_from_slice(&bytes[taken..taken + part]);
            taken += part;
        }
        if taken > 0 {
            (self.rest, self.written) = (Time::ZERO, now);
        }
        self.watch_room(now);
        taken
    }

    pub(super) fn finish(&mut self, now: Time) {
        if self.last == Last::Open {
            (self.last, self.rest) = (Last::Due, Time::ZERO);
        }
        self.watch_room(now);
    }

    /// Takes an acknowledgement.
    pub(super) fn handle(&mut self, now: Time, told: &Acknowledgement<'_>) -> Result<(), wire::Error> {
        let newest = nearest::<32>(self.flight.next(), told.newest);
        let edge = nearest::<32>(self.queue.b(), told.edge);
        if edge > self.queue.d() || !told.runs.is_empty() && newest >= self.flight.next() {
            return Err(wire::Error::Malformed);
        }
        let in_flight = self.flight.under_way();
        let landed = self.land(now, newest, told);
        self.end_resumption();
        self.rtt.heard();
        (self.quiet, self.rest) = (now, Time::ZERO);
        self.note_delays(now, edge);
        self.queue.release(edge);
        self.encoder.forget(self.queue.b());
        self.unheard.forget(self.queue.b());
        if self.queue.is_empty() {
            self.schedule.rest();
        }
        let limit = edge + u64::from(told.room);
        if limit > self.limit {
            (self.limit, self.ask, self.asked) = (limit, None, 0);
        }
        self.find_losses(now);
        self.watch_room(now);
        self.report(now, in_flight, &landed);
        Ok(())
    }

    pub(super) fn handle_timeout(&mut self, now: Time) {
        if self.flight.under_way() > 0 && self.rtt.silent(self.quiet) <= now {
            self.counts.silences += 1;
            self.rtt.back_off();
            self.allowance.on_silence(now, self.flight.under_way());
            self.quiet = now;
        }
        self.find_losses(now);
    }

    /// Writes the next packet over the first bytes of `buf`, and tells its length; none if it is not time for one.
    pub(super) fn poll(&mut self, now: Time, buf: &mut [u8]) -> Option<usize> {
        if !self.wants_to_send() || now < self.rest {
            self.is_limited = false;
            return None;
        }
        self.is_limited = self.opportunity().is_none_or(|at| at > now);
        if self.is_limited {
            return None;
        }
        self.gather(now);
        let decision = self.decide(now);
        let settled = self.settles(&decision);
        if settled > now {
            self.rest = settled;
            return None;
        }
        let decision = self.charge(decision);
        let Some(coded) = decision.packet(&self.queue) else {
            self.counts.idle += 1;
            self.rest = Time::NEVER;
            return None;
        };
        let Some(len) = self.emit(&coded, buf) else {
            // No packet can be made of that: as if nothing had been said.
            self.rest = now + self.slot.max(GRANULARITY);
            return None;
        };
        self.leave(now, &decision, coded, len);
        Some(len)
    }

    pub(super) fn poll_timeout(&self) -> Option<Time> {
        let lost = self
            .flight
            .oldest()
            .map(|(sequence, record)| self.overdue_at(sequence, record).min(self.rtt.silent(self.quiet)));
        let send = self.wants_to_send().then(|| self.opportunity()).flatten();
        [lost, send.map(|at| at.max(self.rest)).filter(|at| *at < Time::NEVER), self.ask].into_iter().flatten().min()
    }

    pub(super) fn poll_event(&mut self) -> Option<Event> {
        if self.wants_room && self.has_room() {
            self.wants_room = false;
            return Some(Event::Writable);
        }
        if self.is_delivered() && !self.told_delivered {
            self.told_delivered = true;
            return Some(Event::Delivered);
        }
        None
    }
}
