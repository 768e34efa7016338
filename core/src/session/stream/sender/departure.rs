//! Departure of packets: originals are made, the schedule is asked, the packet is written and recorded.

use super::{
    Allowance, Bytes, Carries, Coded, Decision, Density, Next, RepairId, Schedule, Sender, Span, Time, View, wire,
};

/// The wait of repair ahead of a loss, after the last write: the round trip divided by this, and at most `LONGEST`.
/// Ours: a program writes a burst in several calls. Longer covers slower writers, and delays the repair of every
/// burst's end by that.
const SETTLING: u64 = 64;
const LONGEST: Span = Span::from_millis(4);

impl<S: Schedule, A: Allowance> Sender<S, A> {
    /// Makes an original of the gathered bytes. Returns true if there was free space for it.
    pub(super) fn close(&mut self, now: Time) -> bool {
        let since = if self.credit.allows(&self.queue) { self.writer.close(now) } else { None };
        if let Some(since) = since {
            self.queue.push(since);
            self.rest = Time::ZERO;
        }
        since.is_some()
    }

    /// Makes an original of the gathered bytes at an opportunity to send, if nothing else is new, and the last one when
    /// it is due.
    pub(super) fn gather(&mut self, now: Time) {
        if self.queue.m() == 0 && !self.writer.is_empty() {
            self.close(now);
        }
        if self.writer.is_end_next() {
            self.writer.begin_end(now);
            if self.close(now) {
                self.writer.end_with(self.queue.e());
            }
        }
    }

    pub(super) fn wants_to_send(&self) -> bool {
        let bound = 2 * self.config.window as u64 + 64;
        let has_data = !self.queue.is_empty() || self.writer.waits() && self.credit.allows(&self.queue);
        has_data && u64::from(self.recovery.sent().in_flight()) < bound
    }

    /// Schedules a question if only the peer's receive window blocks the sender, or if it awaits the report of what
    /// arrived before an interruption.
    pub(super) fn watch_credit(&mut self, now: Time) {
        let is_full = self.writer.waits() && self.queue.is_empty() && !self.credit.allows(&self.queue);
        self.credit.watch(now, is_full || self.recovery.is_resuming(), self.recovery.rtt.probe());
    }

    /// Records the delays of originals before `edge`, all of which have arrived.
    pub(super) fn note_delays(&mut self, now: Time, edge: u64) {
        let (arrived, back) = (edge.saturating_sub(self.queue.b()), self.recovery.rtt.or_initial() / 2);
        for place in self.queue.in_doubt().take(arrived as usize) {
            self.delays.record(now.since(place.entered).saturating_sub(back));
        }
    }

    /// The time at which the next packet may leave: the end of a grain, if more than one packet falls into a grain.
    pub(super) fn opportunity(&self) -> Option<Time> {
        let (at, grain) = (self.allowance.next_send(self.recovery.sent().in_flight())?, self.config.grain);
        let end = at.as_nanos().checked_next_multiple_of(grain.as_nanos()).filter(|_| self.slot < grain);
        Some(end.map_or(at, Time::from_nanos))
    }

    pub(super) fn decide(&mut self, now: Time) -> Decision {
        let path = self.path();
        let decision = self.schedule.choose(&View { now, queue: &self.queue, path });
        // A law may find repair nearly useless while packets are in flight; with none in flight, nothing would ever
        // trigger it again.
        if decision.next == Next::Idle && self.recovery.sent().in_flight() == 0 && self.queue.n() > 0 {
            return Decision::resend(self.queue.b());
        }
        decision
    }

    /// Adds the probability that a retransmission is useless. The schedule treats as lost what was given up, even if
    /// only its acknowledgement is missing. A retransmission leaves whatever the overhead is, since nothing else
    /// advances the stream, but it is accounted for.
    pub(super) fn charge(&self, decision: Decision) -> Decision {
        let Next::Resend { original } = decision.next else { return decision };
        let p_arrived = self.recovery.p_arrived(original);
        Decision { p_useless: decision.p_useless.max(p_arrived), ..decision }
    }

    /// The time until which a decision waits for further writes, so that one packet can cover all of them. If nothing
    /// new waits, this delays packets that are likelier to be useless than to be lost.
    pub(super) fn settles(&self, decision: &Decision) -> Time {
        let is_ahead = matches!(decision.next, Next::Repair { .. } | Next::Resend { .. })
            && self.queue.m() == 0
            && decision.p_useless > self.recovery.losses.eps();
        if is_ahead {
            self.writer.written() + (self.recovery.rtt.or_initial() / SETTLING).min(LONGEST)
        } else {
            Time::ZERO
        }
    }

    pub(super) fn emit(&self, coded: &Coded, buf: &mut [u8]) -> Option<usize> {
        let sequence = self.recovery.sent().next();
        if coded.is_uncoded() {
            let original = self.writer.encoder().original(coded.first)?;
            let packet = wire::stream::coded::Coded {
                sequence: sequence as u32,
                carries: Carries::Original(coded.first as u32),
                payload: original,
            };
            return packet.emit(buf);
        }
        // Keys made of sequences differ for 65536 packets, which is more than are ever in flight.
        let key = sequence as u16;
        let id = RepairId { first: coded.first, last: coded.last, key, density: Density::FULL };
        let count = u16::try_from(coded.last - coded.first + 1).ok()?;
        let carries = Carries::Repair { first: coded.first as u32, count, key, threshold: id.density.threshold() };
        let header = carries.emit(sequence as u32, buf)?;
        Some(header + self.writer.encoder().repair(&id, &mut buf[header..]).ok()?)
    }

    /// Accounts for `size` bytes that left besides coded packets, headers included.
    pub(in super::super) fn on_control(&mut self, size: usize) {
        self.allowance.on_unpaced(Bytes(size as u64));
    }

    pub(super) fn leave(&mut self, now: Time, decision: &Decision, coded: Coded, len: usize) {
        match decision.next {
            Next::New => self.counts.new += 1,
            Next::Repair { .. } => self.counts.repair += 1,
            Next::Resend { .. } => self.counts.resent += 1,
            Next::Idle => {}
        }
        let size = (len + self.config.overhead) as u64;
        self.queue.sent(&coded);
        self.recovery.on_sent(now, coded, size);
        let in_flight = self.recovery.sent().in_flight();
        let before = self.allowance.next_send(in_flight);
        self.allowance.on_sent(now, Bytes(size));
        let spread = self.recovery.rtt.or_initial() / u64::from(in_flight.max(1));
        self.slot = match (before, self.allowance.next_send(in_flight)) {
            (_, Some(next)) if next > now => next.since(now),
            // A sender that makes up for lost time is asked at once, but its pace is unchanged.
            (Some(before), Some(next)) if next > before => spread.min(next.since(before)),
            _ => spread,
        };
    }
}
