//! The sending side: bytes in, coded packets out, acknowledgements taken.
//!
//! **Packing.** Written bytes gather until an original is full, or until an opportunity to send finds nothing else that
//! is new: then they leave as they are. While the rate limits a sender, small writes therefore share packets; while it
//! does not, the last bytes of a burst wait for nothing. Repair of packets that may have arrived waits until nothing
//! was written for a moment: a program may write a burst piece by piece, and repair that covers all of it is worth
//! more.
//!
//! **Loss.** A packet is declared lost when its acknowledgement is overdue. If a later packet was acknowledged, this is
//! after a round trip and the measured reordering; if none was, it is after a timer, which doubles while nothing at all
//! is received. A late acknowledgement corrects the outcome, in the loss estimate as well, and widens the reordering
//! that is expected.

mod credit;
mod delays;
mod departure;
mod flight;
mod losses;
mod measured;
mod probe;
mod recovery;
mod round_trip;
mod timed_out;
mod writer;

use self::credit::Credit;
pub use self::delays::{Delays, Steps};
pub use self::measured::Measured;
use self::recovery::Recovery;
use self::round_trip::GRANULARITY;
pub(super) use self::round_trip::MAX_ACK_DELAY;
use self::writer::Writer;
use super::{Config, Event, refused};
use crate::code::rlc::{self, Density, Encoder, RepairId};
use crate::law::ParameterError;
use crate::law::rate::{Allowance, Report};
use crate::law::schedule::{Coded, Decision, Next, Path, Queue, Schedule, View};
use crate::time::{Span, Time};
use crate::units::Bytes;
use crate::wire;
use crate::wire::sequence::nearest;
use crate::wire::stream::acknowledgement::{Acknowledgement, State};
use crate::wire::stream::coded::Carries;

/// Counts of sent packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// New originals.
    pub new: u64,
    /// Combinations.
    pub repair: u64,
    /// Retransmitted originals.
    pub resent: u64,
    /// Opportunities that the schedule left unused.
    pub idle: u64,
    /// Packets declared lost.
    pub lost: u64,
    /// Packets acknowledged after they were declared lost.
    pub late: u64,
    /// Periods of two timers without an acknowledgement.
    pub silences: u64,
}

/// Keeps what was written until it has arrived.
#[derive(Clone, PartialEq, Debug)]
pub struct Sender<S, A> {
    config: Config,
    schedule: S,
    allowance: A,
    queue: Queue,
    writer: Writer,
    credit: Credit,
    recovery: Recovery,
    /// The interval from one packet to the next.
    slot: Span,
    /// The time before which the schedule is not asked again, after it left an opportunity unused. New data and
    /// acknowledgements reset it.
    rest: Time,
    is_limited: bool,
    /// The counts of choices; those of outcomes are in `recovery`.
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
            writer: Writer::new(Encoder::new(code).map_err(refused)?, config.longest()),
            credit: Credit::new(config.window),
            recovery: Recovery::new()?,
            slot: GRANULARITY,
            rest: Time::ZERO,
            is_limited: false,
            counts: Counts::default(),
            delays: Delays::default(),
        })
    }

    /// The counts of sent packets.
    pub fn counts(&self) -> Counts {
        let recovery::Counts { lost, late, silences } = self.recovery.counts;
        Counts { lost, late, silences, ..self.counts }
    }

    /// The in-order delivery delays of originals.
    pub fn delays(&self) -> &Delays {
        &self.delays
    }

    /// The stream as the schedule sees it.
    pub fn queue(&self) -> &Queue {
        &self.queue
    }

    /// The path as decisions see it: as measured, or as assumed before.
    pub fn path(&self) -> Path {
        self.recovery.path(self.slot)
    }

    /// The measured properties of the path. Decisions use [`Sender::path`], with assumed values where there is no
    /// measurement.
    pub fn measured(&self) -> Measured {
        self.recovery.measured(self.queue.overhead())
    }

    /// The number of originals that wait for their first packet, including the one that gathers.
    pub fn unsent(&self) -> usize {
        self.queue.m() + usize::from(!self.writer.is_empty())
    }

    /// True if all has arrived, to the end of the stream.
    pub fn is_delivered(&self) -> bool {
        self.writer.is_delivered(&self.queue)
    }

    pub(super) fn write(&mut self, now: Time, bytes: &[u8]) -> usize {
        let mut taken = 0;
        while taken < bytes.len() && self.writer.is_open() {
            if self.writer.is_full() && !self.close(now) {
                self.writer.block();
                break;
            }
            taken += self.writer.gather(now, &bytes[taken..]);
        }
        if taken > 0 {
            self.rest = Time::ZERO;
        }
        self.watch_credit(now);
        taken
    }

    pub(super) fn finish(&mut self, now: Time) {
        if self.writer.finish() {
            self.rest = Time::ZERO;
        }
        self.watch_credit(now);
    }

    /// Takes an acknowledgement.
    pub(super) fn handle(&mut self, now: Time, ack: &Acknowledgement<'_>) -> Result<(), wire::Error> {
        let sent = self.recovery.sent();
        let (next, in_flight) = (sent.next(), sent.in_flight());
        let newest = nearest::<32>(next, ack.newest);
        let edge = nearest::<32>(self.queue.b(), ack.edge);
        if edge > self.queue.d() || !ack.runs.is_empty() && newest >= next {
            return Err(wire::Error::Malformed);
        }
        let acknowledged = self.recovery.on_acknowledged(now, newest, ack, &mut self.queue, &mut self.allowance);
        self.rest = Time::ZERO;
        self.note_delays(now, edge);
        self.queue.release(edge);
        self.writer.forget(self.queue.b());
        self.recovery.forget(self.queue.b());
        if self.queue.is_empty() {
            self.schedule.rest();
        }
        self.credit.raise(edge + u64::from(ack.credit));
        self.recovery.find_losses(now, &mut self.queue);
        self.watch_credit(now);
        if let Some(report) = self.recovery.report(now, in_flight, &acknowledged, self.is_limited) {
            self.allowance.on_report(&report);
        }
        Ok(())
    }

    pub(super) fn handle_timeout(&mut self, now: Time) {
        if let Some(in_flight) = self.recovery.on_silence(now) {
            self.allowance.on_silence(now, in_flight);
        }
        if self.recovery.find_losses(now, &mut self.queue) {
            self.rest = Time::ZERO;
        }
    }

    /// Continues over another association.
    pub(super) fn resume(&mut self, now: Time, allowance: A) {
        self.allowance = allowance;
        self.recovery.resume(now);
        self.rest = Time::ZERO;
        self.credit.restart(self.recovery.is_resuming().then_some(now));
    }

    /// Limits the originals that wait for their arrival from now on.
    pub(super) fn bound(&mut self, most: usize) {
        self.credit.bound(most.min(self.config.window));
    }

    /// Returns true if it is time to ask the peer for free space.
    pub(super) fn poll_question(&mut self, now: Time) -> bool {
        self.credit.poll_question(now, self.recovery.rtt.probe())
    }

    /// Writes the next packet to the start of `buf` and returns its length; none if no packet is due.
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
            // No packet can be made of the decision: ask again one slot later.
            self.rest = now + self.slot.max(GRANULARITY);
            return None;
        };
        self.leave(now, &decision, coded, len);
        Some(len)
    }

    pub(super) fn poll_timeout(&self) -> Option<Time> {
        let send = self.wants_to_send().then(|| self.opportunity()).flatten();
        let send = send.map(|at| at.max(self.rest)).filter(|at| *at < Time::NEVER);
        [self.recovery.next(), send, self.credit.next()].into_iter().flatten().min()
    }

    pub(super) fn poll_event(&mut self) -> Option<Event> {
        if self.writer.poll_writable(self.credit.allows(&self.queue)) {
            return Some(Event::Writable);
        }
        self.writer.poll_delivered(&self.queue).then_some(Event::Delivered)
    }
}
