//! What leaves: originals are made, the schedule is asked, the packet is written and entered into the books.

use super::{
    Allowance, Bytes, Carries, Choice, Coded, Decision, Density, Last, RepairId, Schedule, Sender, Span, Time,
};
use super::{View, wire};

/// Repair ahead of a loss waits for this part of a round trip after the last write, and no longer than this.
const SETTLING: u64 = 64;
const LONGEST: Span = Span::from_millis(4);

impl<S: Schedule, A: Allowance> Sender<S, A> {
    /// Makes an original of what has gathered. Says whether there was room for it.
    pub(super) fn close(&mut self, now: Time) -> bool {
        if !self.has_room() || self.encoder.push(&self.gathered).is_err() {
            return false;
        }
        self.gathered.clear();
        self.queue.push(self.since.min(now));
        self.rest = Time::ZERO;
        true
    }

    /// At an opportunity to send, what is new need not wait for more of it.
    pub(super) fn gather(&mut self, now: Time) {
        if self.queue.m() == 0 && !self.gathered.is_empty() {
            self.close(now);
        }
        if self.last == Last::Due && self.gathered.is_empty() {
            self.since = now;
            if self.close(now) {
                self.last = Last::Is(self.queue.e());
            }
        }
    }

    /// When the next packet may leave: where more than one is due within a grain, at the grain's end.
    pub(super) fn opportunity(&self) -> Option<Time> {
        let (at, grain) = (self.allowance.next_send(self.flight.under_way())?, self.config.grain);
        let end = at.as_nanos().checked_next_multiple_of(grain.as_nanos()).filter(|_| self.slot < grain);
        Some(end.map_or(at, Time::from_nanos))
    }

    pub(super) fn decide(&mut self, now: Time) -> Decision {
        let path = self.path();
        let decision = self.schedule.choose(&View { now, queue: &self.queue, path });
        // A law may find repair near useless while packets are under way; with none, nobody would ever call again.
        if decision.choice == Choice::Idle && self.flight.under_way() == 0 && self.queue.n() > 0 {
            return Decision::resend(self.queue.b());
        }
        decision
    }

    /// What a resend may waste: the schedule takes for lost what is given up, be it only that nothing was heard of it. It leaves
    /// whatever the overhead is, since nothing else brings the stream on, but it is accounted for.
    pub(super) fn charge(&self, decision: Decision) -> Decision {
        let Choice::Resend { original } = decision.choice else { return decision };
        let p_came = self.unheard.p_came(original, self.losses.eps());
        Decision { p_useless: decision.p_useless.max(p_came), ..decision }
    }

    /// Until when a decision waits for more to be written, so that one packet can cover all of it: where nothing new waits,
    /// what is likelier to be useless than to be lost.
    pub(super) fn settles(&self, decision: &Decision) -> Time {
        let is_ahead = matches!(decision.choice, Choice::Repair { .. } | Choice::Resend { .. })
            && self.queue.m() == 0
            && decision.p_useless > self.losses.eps();
        if is_ahead { self.written + (self.rtt.or_initial() / SETTLING).min(LONGEST) } else { Time::ZERO }
    }

    pub(super) fn emit(&self, coded: &Coded, buf: &mut [u8]) -> Option<usize> {
        let sequence = self.flight.next();
        if coded.is_uncoded() {
            let original = self.encoder.original(coded.first)?;
            let packet = wire::stream::coded::Coded {
                sequence: sequence as u32,
                carries: Carries::Original(coded.first as u32),
                payload: original,
            };
            return packet.emit(buf);
        }
        // Sequences make keys that differ for 65536 packets, which is more than are ever under way.
        let key = sequence as u16;
        let id = RepairId { first: coded.first, last: coded.last, key, density: Density::FULL };
        let count = u16::try_from(coded.last - coded.first + 1).ok()?;
        let carries = Carries::Repair { first: coded.first as u32, count, key, threshold: id.density.threshold() };
        let header = carries.emit(sequence as u32, buf)?;
        Some(header + self.encoder.repair(&id, &mut buf[header..]).ok()?)
    }

    /// Bytes of something else left, headers included.
    pub(in super::super) fn aside(&mut self, size: usize) {
        self.allowance.on_aside(Bytes(size as u64));
    }

    pub(super) fn leave(&mut self, now: Time, decision: &Decision, coded: Coded, len: usize) {
        match decision.choice {
            Choice::New => self.counts.new += 1,
            Choice::Repair { .. } => self.counts.repair += 1,
            Choice::Resend { .. } => self.counts.resent += 1,
            Choice::Idle => {}
        }
        if self.flight.under_way() == 0 && !self.rtt.is_backing_off() {
            self.quiet = now;
        }
        let size = (len + self.config.overhead) as u64;
        self.queue.sent(&coded);
        self.flight.push(coded, now, size);
        let under_way = self.flight.under_way();
        let before = self.allowance.next_send(under_way);
        self.allowance.on_sent(now, Bytes(size));
        let spread = self.rtt.or_initial() / u64::from(under_way.max(1));
        self.slot = match (before, self.allowance.next_send(under_way)) {
            (_, Some(next)) if next > now => next.since(now),
            // Who makes up for lost time is asked at once, and yet the pace is no other.
            (Some(before), Some(next)) if next > before => spread.min(next.since(before)),
            _ => spread,
        };
    }
}
