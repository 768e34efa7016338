//! Loss detection: acknowledgements, overdue packets, silence, and the change to another association.
//!
//! Packets in flight when an association ended may have arrived, and their acknowledgements are lost with it. So nothing
//! is retransmitted before the peer has reported what it received: it does so at once, and is asked until an
//! acknowledgement arrives. Nothing arrives over the old association any more, so what is then unacknowledged is lost.

use super::flight::{Flight, Outcome, Record};
use super::losses::Losses;
use super::round_trip::RoundTrip;
use super::timed_out::TimedOut;
use super::{Acknowledgement, Allowance, Bytes, Coded, Measured, Path, Queue, Report, State};
use crate::law::ParameterError;
use crate::law::schedule::Overhead;
use crate::law::schedule::gilbert_elliott::GilbertElliott;
use crate::session::path::packet_threshold::PacketThreshold;
use crate::session::path::sent_packets::SentPackets;
use crate::time::{Span, Time};

/// Divisor of the round trip. A packet that leaves within this part of it is worth waiting for: its acknowledgement
/// reports the packet before, too. Ours: saves an acknowledgement at most rates, and delays the rest by a quarter of a
/// round trip at most.
const SOON: u64 = 4;

/// Sent packets, and the knowledge of the path that their acknowledgements give.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Recovery {
    flight: Flight,
    pub(super) rtt: RoundTrip,
    pub(super) losses: Losses,
    timed_out: TimedOut,
    /// A packet is overtaken once one later packet was acknowledged.
    threshold: PacketThreshold<1>,
    /// The first sequence of the present association.
    resumed: u64,
    /// The start of silence: the last acknowledgement, or the first packet after none was in flight.
    quiet: Time,
    /// The newest arrival that the rate law knows.
    arrived: Time,
    /// Losses found since the last report, and the time at which the newest of them was sent.
    found: u32,
    found_sent: Option<Time>,
    pub(super) counts: Counts,
}

/// Counts of packets by outcome.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Counts {
    pub(super) lost: u64,
    pub(super) late: u64,
    pub(super) silences: u64,
}

/// The packets that an acknowledgement reported as arrived for the first time, sent over the present association.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Acknowledged {
    count: u32,
    /// The time at which the newest of them was sent.
    newest: Option<Time>,
    /// Its round trip, if the acknowledgement reported the delay of this packet.
    rtt: Option<Span>,
}

impl Recovery {
    pub(super) fn new() -> Result<Recovery, ParameterError> {
        Ok(Recovery {
            flight: Flight::default(),
            rtt: RoundTrip::default(),
            losses: Losses::new()?,
            timed_out: TimedOut::default(),
            threshold: PacketThreshold::default(),
            resumed: 0,
            quiet: Time::ZERO,
            arrived: Time::ZERO,
            found: 0,
            found_sent: None,
            counts: Counts::default(),
        })
    }

    /// The packets that were sent.
    pub(super) fn sent(&self) -> &SentPackets<Record> {
        self.flight.sent()
    }

    /// The path as decisions see it, for packets that leave every `slot`.
    pub(super) fn path(&self, slot: Span) -> Path {
        let channel = self.losses.bursts().channel(self.flight.undecided());
        Path { eps: self.losses.eps(), channel, rtt: self.rtt.or_initial(), slot }
    }

    /// The measured properties of the path; `overhead` is that of the stream.
    pub(super) fn measured(&self, overhead: &Overhead) -> Measured {
        let bursts = Some(self.losses.bursts()).filter(|_| self.losses.is_known());
        Measured {
            eps: bursts.map(|_| self.losses.eps()),
            gilbert_eps: bursts.map(GilbertElliott::eps),
            burst: bursts.filter(|_| self.losses.has_lost()).map(GilbertElliott::burst),
            rtt: self.rtt.smoothed(),
            u: Some(overhead).filter(|overhead| overhead.received > 0).map(Overhead::u),
        }
    }

    /// The probability that `original` has arrived, although it was given up.
    pub(super) fn p_arrived(&self, original: u64) -> f64 {
        self.timed_out.p_arrived(original, self.losses.eps())
    }

    /// Forgets originals before `edge`, all of which have arrived.
    pub(super) fn forget(&mut self, edge: u64) {
        self.timed_out.forget(edge);
    }

    /// Records that `coded` leaves as a packet of `size` bytes.
    pub(super) fn on_sent(&mut self, now: Time, coded: Coded, size: u64) {
        if self.sent().in_flight() == 0 && !self.rtt.is_backing_off() {
            self.quiet = now;
        }
        self.flight.push(coded, now, size);
    }

    /// Processes the packets that have newly arrived, oldest first.
    pub(super) fn on_acknowledged<A: Allowance>(
        &mut self,
        now: Time,
        newest: u64,
        ack: &Acknowledgement<'_>,
        queue: &mut Queue,
        allowance: &mut A,
    ) -> Acknowledged {
        let overtaken = self.threshold.overtaken();
        let mut acknowledged = Acknowledged::default();
        let delay = Span::from_micros(ack.delay_us.into());
        // The delay of the return path varies; the times that the law gets never decrease.
        self.arrived = self.arrived.max(now - delay);
        for (sequence, state) in self.arrived(newest, ack).into_iter().rev() {
            let Some(record) = self.sent().get(sequence).cloned() else { continue };
            if record.outcome != Outcome::InFlight {
                // The queue no longer counted it as sent since it was given up.
                self.counts.late += 1;
                if record.outcome == Outcome::TimedOut {
                    self.timed_out.arrived();
                }
                queue.sent(&record.coded);
            }
            queue.arrived_as(&record.coded, state == State::Innovative);
            self.flight.decide(sequence, Outcome::Acknowledged);
            self.threshold.deliver(sequence);
            // Packets of an earlier association, and the time of the interruption, say nothing about the path.
            let Some(number) = sequence.checked_sub(self.resumed) else { continue };
            allowance.on_delivered(self.arrived.max(record.sent), number, record.sent, Bytes(record.size));
            let took = now.since(record.sent);
            if sequence < overtaken {
                self.rtt.overtaken(took);
            }
            acknowledged.count += 1;
            acknowledged.newest = Some(record.sent);
            acknowledged.rtt = (sequence == newest && delay < took).then(|| took.saturating_sub(delay));
        }
        if let Some(rtt) = acknowledged.rtt {
            self.rtt.sample(rtt);
        }
        self.end_resumption(queue);
        self.rtt.heard();
        self.quiet = now;
        acknowledged
    }

    /// The packets that `ack` reports as arrived and none before it did, newest first.
    fn arrived(&self, newest: u64, ack: &Acknowledgement<'_>) -> Vec<(u64, State)> {
        let first = self.sent().first();
        let states = ack.states().flat_map(|(state, count)| core::iter::repeat_n(state, count.into()));
        let back = (0..=newest).rev().take_while(|sequence| *sequence >= first);
        let is_new = |sequence| self.sent().get(sequence).is_some_and(|it| it.outcome != Outcome::Acknowledged);
        back.zip(states).filter(|(sequence, state)| *state != State::Missing && is_new(*sequence)).collect()
    }

    /// The report to the rate law of what has become known since the last one, if anything has. There were `in_flight`
    /// packets in flight before the acknowledgement.
    pub(super) fn report(
        &mut self,
        now: Time,
        in_flight: u32,
        acknowledged: &Acknowledged,
        limited: bool,
    ) -> Option<Report> {
        let (lost, newest_lost) = (core::mem::take(&mut self.found), self.found_sent.take());
        (acknowledged.count > 0 || lost > 0).then(|| Report {
            now,
            delivered: acknowledged.count,
            lost,
            in_flight,
            newest: acknowledged.newest,
            newest_lost,
            rtt: acknowledged.rtt,
            srtt: self.rtt.smoothed(),
            limited,
        })
    }

    /// Handles silence, if it has lasted long enough; returns the number of packets in flight if so.
    pub(super) fn on_silence(&mut self, now: Time) -> Option<u32> {
        let in_flight = Some(self.sent().in_flight()).filter(|count| *count > 0 && self.rtt.silent(self.quiet) <= now);
        if in_flight.is_some() {
            self.counts.silences += 1;
            self.rtt.back_off();
            self.quiet = now;
        }
        in_flight
    }

    /// Declares overdue packets lost; true if there were any. Packets become overdue in the order in which they left.
    pub(super) fn find_losses(&mut self, now: Time, queue: &mut Queue) -> bool {
        let (silent, before) = (self.rtt.is_backing_off(), self.counts.lost);
        let mut next = self.sent().oldest().map(|(sequence, _)| sequence);
        while let Some(sequence) = next
            && let Some(record) = self.sent().get(sequence)
        {
            next = Some(sequence + 1);
            if record.outcome != Outcome::InFlight {
                continue;
            }
            if self.overdue_at(sequence, record) > now {
                break;
            }
            let (coded, sent) = (record.coded, record.sent);
            let original = coded.is_uncoded().then_some(coded.first);
            let outcome = if sequence < self.threshold.overtaken() {
                self.timed_out.is_lost(original);
                Outcome::Lost
            } else if silent {
                Outcome::Abandoned
            } else {
                self.timed_out.give_up(original);
                Outcome::TimedOut
            };
            self.flight.decide(sequence, outcome);
            queue.lost(&coded);
            self.counts.lost += 1;
            self.found += 1;
            self.found_sent = Some(sent);
        }
        self.flight.report_losses(&mut self.losses);
        self.counts.lost > before
    }

    /// The time at which a packet will be overdue or silence too long, if nothing is acknowledged before.
    pub(super) fn next(&self) -> Option<Time> {
        let (sequence, record) = self.sent().oldest()?;
        Some(self.overdue_at(sequence, record).min(self.rtt.silent(self.quiet)))
    }

    /// The time at which an unacknowledged packet is declared lost.
    fn overdue_at(&self, sequence: u64, record: &Record) -> Time {
        if sequence < self.resumed {
            return Time::NEVER;
        }
        if sequence < self.threshold.overtaken() {
            return record.sent + self.rtt.overdue();
        }
        // The acknowledgement may have been lost: that of the next packet, if it left soon, reports this one, too.
        let next = self.sent().get(sequence + 1).map_or(record.sent, |next| next.sent);
        next.min(record.sent + self.rtt.or_initial() / SOON) + self.rtt.timeout()
    }

    /// Begins another association, of whose path nothing is known.
    pub(super) fn resume(&mut self, now: Time) {
        self.rtt = RoundTrip::default();
        (self.found, self.found_sent) = (0, None);
        self.resumed = self.sent().next();
        self.quiet = now;
    }

    /// True if packets of an earlier association are in flight, as far as is known.
    pub(super) fn is_resuming(&self) -> bool {
        self.sent().oldest().is_some_and(|(sequence, _)| sequence < self.resumed)
    }

    /// Declares the packets in flight of earlier associations lost, once the peer has reported what it received.
    fn end_resumption(&mut self, queue: &mut Queue) {
        while let Some((sequence, record)) = self.sent().oldest().filter(|(sequence, _)| *sequence < self.resumed) {
            let coded = record.coded;
            if record.outcome == Outcome::InFlight {
                self.flight.decide(sequence, Outcome::Abandoned);
                queue.lost(&coded);
                self.counts.lost += 1;
            }
            self.flight.report_losses(&mut self.losses);
        }
    }
}
