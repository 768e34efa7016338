//! The outcome of every packet, in sending order.
//!
//! Reordering is not loss: a packet counts as lost once a report has named it missing, three packets that left later
//! have arrived, and a quarter of a round trip has passed since. A packet that no report ever names is not counted, so
//! that a lost report raises no window (GENEVA footnote 2).

#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use super::brake::{Group, Sample};
use super::recording::Recording;
use crate::law::PacketReport;
use crate::session::path::packet_threshold::{PACKET_THRESHOLD, PacketThreshold};
use crate::session::path::sent_packets::{self, SentPackets};
use crate::time::{Span, Time};
use crate::units::Bytes;
use crate::wire::ntp::NtpShort;

/// The time for which a packet is remembered. Ours: a report of an older packet counts as nothing, so round trip and
/// report must take less; longer takes more memory.
pub(super) const MEMORY: Span = Span::from_secs(2);

/// GENEVA §5: a burst is a run of more than three losses.
const BURST: u32 = 4;

/// Stands for a sequence number whose packet never left.
const NEVER: u64 = u64::MAX;

/// The two RTP streams of a session; each numbers its own packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Stream {
    Source = 0,
    Repair = 1,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Outcome {
    Unknown,
    /// Named missing by a report; in doubt until the time threshold after the packet threshold was met.
    Missing,
    Delivered,
    Lost,
}

/// A packet that has left. Two seconds of them are kept, so the fields are packed.
#[derive(Clone, PartialEq, Debug)]
struct Sent {
    at: Time,
    /// Of a delivered packet, the time at which its acknowledgement would have arrived if the receiver had not delayed
    /// it. Of a missing one, the time at which the packet threshold was met.
    noted: Time,
    /// Headers included.
    size: u16,
    /// True if the packet was given up before it had an outcome.
    is_given_up: bool,
    outcome: Outcome,
}

impl Sent {
    /// The outcome of the packet, whose number is `order`.
    fn report(&self, order: u64) -> PacketReport {
        let acknowledged = (self.outcome == Outcome::Delivered).then_some(self.noted);
        PacketReport { number: order, size: Bytes(self.size.into()), sent: self.at, acknowledged }
    }
}

impl sent_packets::Sent for Sent {
    fn at(&self) -> Time {
        self.at
    }

    fn is_in_flight(&self) -> bool {
        matches!(self.outcome, Outcome::Unknown | Outcome::Missing)
    }
}

/// The order numbers of one stream's packets, by sequence number.
#[derive(Clone, Default, PartialEq, Debug)]
struct Orders {
    first: u64,
    orders: VecDeque<u64>,
}

/// Packets that reports have settled.
#[derive(Clone, Default, PartialEq, Debug)]
pub(super) struct Settled {
    /// The packets: those delivered in the order of the reports, then those lost.
    pub(super) packets: Vec<PacketReport>,
    /// The same packets, with their delays and runs of losses.
    pub(super) passed: Sample,
}

/// The packets that a sender remembers.
#[derive(Clone, Default, PartialEq, Debug)]
pub(super) struct History {
    /// The packets of both streams, by their order numbers.
    sent: SentPackets<Sent>,
    streams: [Orders; 2],
    threshold: PacketThreshold<PACKET_THRESHOLD>,
    /// Packets settled since the last call of [`History::settle`], and the number of these that
    /// [`History::newly_settled`] has returned.
    fresh: Settled,
    returned: usize,
    /// Outcomes in sending order, true for a loss, since the last call of [`History::settle`], and the number of these that
    /// [`History::new_outcomes`] has returned.
    outcomes: Vec<bool>,
    outcomes_returned: usize,
    /// The order number before which packets without an outcome are given up, and the number of those.
    abandoned: u64,
    given_up: u32,
    /// The time at which a packet was last found delivered.
    progressed: Time,
    run: u32,
    group: Group,
    /// Runs of more than three losses so far.
    pub(super) bursts: u64,
    /// The record of a measurement.
    recording: Option<Recording>,
}

impl History {
    /// Notes that packet `sequence` of `stream` has left, with `size` bytes on the wire. Sequence numbers that were
    /// skipped have never left.
    pub(super) fn sent(&mut self, stream: Stream, sequence: u64, at: Time, size: Bytes) {
        let order = self.sent.push(Sent {
            at,
            noted: Time::NEVER,
            size: size.0 as u16,
            is_given_up: false,
            outcome: Outcome::Unknown,
        });
        let Orders { first, orders } = &mut self.streams[stream as usize];
        if orders.is_empty() {
            *first = sequence;
        }
        let skipped = sequence.saturating_sub(*first + orders.len() as u64);
        orders.extend((0..skipped).map(|_| NEVER));
        orders.push_back(order);
        self.recording.iter_mut().for_each(|recording| recording.sent(order, at));
    }

    /// Begins a record of packets and reports.
    pub(super) fn record(&mut self) {
        self.recording = Some(Recording::default());
    }

    pub(super) fn take_recording(&mut self) -> Option<Recording> {
        self.recording.take()
    }

    /// Takes note of a new report, which the receiver made at `stamp` of its clock, and of the minimum of the round trip.
    pub(super) fn on_report(&mut self, now: Time, stamp: NtpShort, round_trip: Option<Span>) {
        self.recording.iter_mut().for_each(|recording| recording.on_report(now, stamp, round_trip));
    }

    /// The order number of the next packet.
    pub(super) fn next(&self) -> u64 {
        self.sent.next()
    }

    /// Packets in flight: sent, without an outcome and not given up.
    pub(super) fn in_flight(&self) -> u32 {
        self.sent.in_flight() - self.given_up
    }

    /// The last sequence number of `stream` that left, if it is still remembered.
    pub(super) fn last(&self, stream: Stream) -> Option<u64> {
        let Orders { first, orders } = &self.streams[stream as usize];
        (first + orders.len() as u64).checked_sub(1).filter(|_| !orders.is_empty())
    }

    /// Takes the report on one packet: the time for which the receiver had held it, or none if it was missing. A packet
    /// reported delivered or settled as lost keeps that outcome.
    pub(super) fn reported(&mut self, now: Time, stream: Stream, sequence: u64, held: Option<Span>) {
        let Some(order) = self.order(stream, sequence) else { return };
        self.recording.iter_mut().for_each(|recording| recording.reported(order, held));
        let delivered = self.sent.update(order, |sent| match (sent.outcome, held) {
            (Outcome::Unknown | Outcome::Missing, Some(held)) => {
                let delay = now.since(sent.at).saturating_sub(held);
                (sent.outcome, sent.noted) = (Outcome::Delivered, sent.at + delay);
                self.given_up -= u32::from(sent.is_given_up);
                Some((sent.report(order), delay))
            }
            (Outcome::Unknown, None) => {
                sent.outcome = Outcome::Missing;
                None
            }
            (Outcome::Missing | Outcome::Delivered | Outcome::Lost, _) => None,
        });
        if let Some((report, delay)) = delivered.flatten() {
            self.fresh.packets.push(report);
            self.fresh.passed.deliver(delay);
            self.threshold.deliver(order);
        }
    }

    /// Takes the end of a report on `stream`. The packets from `sequence` on are missing there, if packets of either stream
    /// have overtaken them: no later packet of a stream that rarely sends would show it soon.
    pub(super) fn report_ended(&mut self, now: Time, stream: Stream, sequence: u64) {
        let Orders { first, orders } = &self.streams[stream as usize];
        let (overtaken, end) = (self.threshold.overtaken(), first + orders.len() as u64);
        let mut sequence = sequence.max(*first);
        while sequence < end && self.order(stream, sequence).is_none_or(|order| order < overtaken) {
            self.reported(now, stream, sequence, None);
            sequence += 1;
        }
    }

    /// Settles the outcome of packets after a report; `time_threshold` is the time for which an overtaken packet is in
    /// doubt. Returns all packets settled since the last call.
    pub(super) fn settle(&mut self, now: Time, time_threshold: Span) -> Settled {
        self.find_losses(now, time_threshold);
        if self.fresh.packets.iter().any(|packet| packet.acknowledged.is_some()) {
            self.progressed = now;
        }
        (self.returned, self.outcomes_returned) = (0, 0);
        self.outcomes.clear();
        core::mem::take(&mut self.fresh)
    }

    /// Finds the packets that were lost.
    // Deviation(GENEVA §3.2.1): the paper's receiver counts as lost at once what the highest sequence number has
    // skipped.
    pub(super) fn find_losses(&mut self, now: Time, time_threshold: Span) {
        for order in self.sent.decided()..self.threshold.overtaken() {
            let lost = self.sent.update(order, |sent| {
                if sent.outcome != Outcome::Missing {
                    return None;
                }
                sent.noted = sent.noted.min(now);
                if now.since(sent.noted) < time_threshold {
                    return None;
                }
                sent.outcome = Outcome::Lost;
                self.given_up -= u32::from(sent.is_given_up);
                Some(sent.report(order))
            });
            if let Some(report) = lost.flatten() {
                self.lose(report);
            }
        }
        for order in self.sent.advance() {
            let is_lost = self.sent.get(order).is_some_and(|sent| sent.outcome == Outcome::Lost);
            self.pass(is_lost);
        }
    }

    /// The packets settled since the last call, of those that [`History::settle`] has not returned yet.
    pub(super) fn newly_settled(&mut self) -> &[PacketReport] {
        let returned = core::mem::replace(&mut self.returned, self.fresh.packets.len());
        &self.fresh.packets[returned..]
    }

    /// The outcomes since the last call, true for a loss, in sending order, as far as [`History::settle`] was not called.
    pub(super) fn new_outcomes(&mut self) -> &[bool] {
        let returned = core::mem::replace(&mut self.outcomes_returned, self.outcomes.len());
        &self.outcomes[returned..]
    }

    /// The order number of packet `sequence` of `stream`, if it is remembered.
    pub(super) fn order(&self, stream: Stream, sequence: u64) -> Option<u64> {
        let Orders { first, orders } = &self.streams[stream as usize];
        let at = usize::try_from(sequence.checked_sub(*first)?).ok()?;
        orders.get(at).copied().filter(|order| *order != NEVER)
    }

    /// Takes back the memory of settled packets.
    pub(super) fn recycle(&mut self, mut packets: Vec<PacketReport>) {
        packets.clear();
        self.fresh.packets = packets;
    }

    /// Gives up the packets in flight that left before `before`: no report will name them. They are not counted as lost.
    pub(super) fn give_up(&mut self, before: Time) {
        self.abandoned = self.abandoned.max(self.sent.first());
        while self.sent.get(self.abandoned).is_some_and(|sent| sent.at < before) {
            self.sent.update(self.abandoned, |sent| {
                sent.is_given_up = true;
                self.given_up += u32::from(sent_packets::Sent::is_in_flight(sent));
            });
            self.abandoned += 1;
        }
    }

    /// The number of packets that left at least `reordering_delay` ago, but after a packet was last found delivered: if reports
    /// come and do not name them, the path delivers nothing. No later packet will ever show them missing.
    pub(super) fn stalled(&self, now: Time, reordering_delay: Span) -> u32 {
        self.sent.left_by(now - reordering_delay).saturating_sub(self.sent.left_by(self.progressed)) as u32
    }

    /// Forgets every packet that left before `before`; those still undecided are not counted.
    pub(super) fn forget(&mut self, before: Time) {
        while self.sent.front().is_some_and(|sent| sent.at < before) {
            if self.sent.first() == self.sent.decided() {
                self.run = 0;
            }
            if let Some(sent) = self.sent.pop_first() {
                self.given_up -= u32::from(sent.is_given_up && sent_packets::Sent::is_in_flight(&sent));
            }
        }
        for Orders { first, orders } in &mut self.streams {
            while orders.front().is_some_and(|&order| order == NEVER || order < self.sent.first()) {
                orders.pop_front();
                *first += 1;
            }
        }
    }

    fn pass(&mut self, lost: bool) {
        self.outcomes.push(lost);
        self.run = if lost { self.run + 1 } else { 0 };
        self.fresh.passed.group(self.group.pass(lost));
        if self.run == BURST {
            self.bursts += 1;
        }
    }

    /// Counts a packet as lost.
    fn lose(&mut self, packet: PacketReport) {
        self.fresh.packets.push(packet);
        let before = packet.number.checked_sub(1).and_then(|order| self.sent.get(order));
        match before.map(|sent| (sent.outcome, sent)) {
            Some((Outcome::Missing | Outcome::Lost, _)) => self.fresh.passed.lose(false, None),
            Some((Outcome::Delivered, before)) => self.fresh.passed.lose(true, Some(before.noted.since(before.at))),
            Some((Outcome::Unknown, _)) | None => self.fresh.passed.lose(true, None),
        }
    }
}
