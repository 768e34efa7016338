//! Planning: a block closes, gets its repair, and is given the time over which it leaves.

use super::Sender;
use super::block::Block;
use super::blocks::ClosedBlock;
use super::protection::{Load, planned_part};
use super::rate_limit::RateLimit;
use crate::session::live::overhead;
use crate::time::{Span, Time};
use crate::units::{Bytes, Rate};
use crate::wire::fecframe::PayloadId;
use crate::wire::rlc::SourcePayloadId;
use crate::wire::rtp;

/// A block that closes later than this is delayed as a whole, rather than sent faster. Ours, not from a paper: timers of
/// a busy machine are as late.
const LAG: Span = Span::from_millis(2);

impl Sender {
    /// Closes the open block if its time has come.
    pub(super) fn close_due(&mut self, now: Time) {
        if let Some((block, closes_at)) = self.blocks.take_due(now) {
            let before = self.blocks.leaving();
            self.close(block, closes_at);
            // Late timers, not late packets, would otherwise make a burst.
            if self.blocks.leaving() > before && now.since(closes_at) > LAG {
                self.blocks.delay_last(now);
            }
        }
    }

    /// Takes a block that closes at `closes_at`. Under a rate law a block is planned only when the one before it has left:
    /// its sending rate is not known earlier.
    pub(super) fn close(&mut self, block: Block, closes_at: Time) {
        let closed = self.blocks.close(block, closes_at);
        let (Bytes(bytes), _) = closed.block.bytes();
        self.start_rate_law(closes_at, Bytes(bytes / (closed.block.sources() as u64).max(1) + self.headers()));
        if self.config.rate.is_none() || self.blocks.have_left() {
            self.plan(closed, closes_at.max(self.blocks.free_at()));
            return;
        }
        self.blocks.wait(closed);
        // Expired blocks are dropped even while the law lets nothing leave.
        let expired_before = self.expired_before(closes_at);
        while let Some(closed) = self.blocks.take_expired(expired_before) {
            self.report_unsent(closes_at, closed.block.sources() as u64);
            self.blocks.recycle(closed.block);
        }
    }

    /// Makes the repair of a block, and schedules it from `start` on, over the time in which the next block collects
    /// media.
    pub(super) fn plan(&mut self, closed: ClosedBlock, start: Time) {
        let ClosedBlock { mut block, closes_at, since_previous } = closed;
        let open = closes_at.since(block.opened);
        let more = self.headers();
        let planned = self.planned_rate();
        if self.config.rate.is_some() {
            block.number_from(self.streams.scheduled);
        }
        if let Some(rate) = planned {
            let takes = |packet: Bytes| rate.time_for(Bytes(packet.0 + more));
            // The law itself accounts for control.
            let control = if self.rate_limit.is_some() { 0 } else { self.control_bytes };
            let from = start + rate.time_for(Bytes(control));
            let unsent = block.shed(from, self.planned_wait(closes_at), takes) as u64;
            match &self.config.rate {
                Some(_) => self.streams.scheduled += block.sources() as u64,
                None => self.streams.source.next -= unsent,
            }
            self.report_unsent(closes_at, unsent);
        }
        if block.sources() == 0 {
            self.blocks.recycle(block);
            return;
        }
        let load = self.load(&block, more);
        let (Bytes(sources), Bytes(each)) = (load.wire, load.repair);
        let mut repairs = 0;
        if !self.protection.is_none() && self.can_use_repair() {
            repairs = self.protection.close_block(&load, open, since_previous, |window| self.guard.window(window));
            if self.protection.is_hopeless() || self.peer.is_unreported(closes_at, self.protection.interval()) {
                // Repair would arrive too late, or no receiver reports. It would only take capacity from the media.
                repairs = 0;
            }
        }
        let wanted = repairs;
        if let Some(rate) = planned {
            // Packets still queued from blocks before go first: a queue would never drain if repair filled the rate. That of
            // a source that leaves the rate of repair does.
            let queued = if self.follows_budget { Span::ZERO } else { start.since(closes_at) };
            let time = open.saturating_sub(queued);
            let available = rate.bytes_in(time).0.saturating_sub(sources + self.control_bytes);
            repairs = repairs.min((available / each) as usize);
        }
        self.media_share.add(&load, wanted);
        if repairs < wanted {
            self.rate_limit.iter_mut().for_each(RateLimit::on_limited);
        }
        let round_trip = self.peer.round_trip().unwrap_or(Span::ZERO);
        self.events.extend(self.advice.few_packets(&self.protection, round_trip));
        if self.protection.has_outgrown() && self.peer.is_connected() {
            // The receiver must learn the longer spread, or it gives up packets that repair could still recover.
            self.peer.schedule_hello(closes_at);
        }
        repairs = self.blocks.protect(&mut block, repairs);
        let all = Bytes(sources + each * repairs as u64 + core::mem::take(&mut self.control_bytes));
        let time = self.protection.leaving(&load, open);
        let end = (closes_at + time).max(start + time / 2);
        // A rate law gives each packet its time.
        let bound = self.config.max_rate.filter(|_| self.rate_limit.is_none());
        let bound = bound.map_or(Span::ZERO, |rate| rate.time_for(all));
        self.blocks.schedule(block, start, end.since(start).max(bound));
    }

    /// Starts the rate law, if there is one and it does not run yet, with the size of the first packets, in which the law
    /// counts.
    pub(super) fn start_rate_law(&mut self, at: Time, packet: Bytes) {
        let Some(choice) = self.config.rate.as_ref().filter(|_| self.rate_limit.is_none()) else { return };
        let (most, round_trip) = (self.config.max_rate, self.peer.round_trip());
        self.rate_limit = Some(RateLimit::new(choice, at, packet, most, &self.history, round_trip));
    }

    /// Bytes of a source packet on the wire beside its RTP packet.
    pub(super) fn headers(&self) -> u64 {
        let ids = match &self.sliding {
            Some(_) => SourcePayloadId::LEN,
            None if self.has_payload_ids() => PayloadId::LEN,
            None => 0,
        };
        overhead(self.peer.to()).0 + ids as u64
    }

    /// Repair packets that a block of the law may get now.
    pub(super) fn repair_window(&self) -> f64 {
        self.protection.in_packets(self.guard.window(self.protection.window()))
    }

    /// The rate that blocks are planned for: the rate law's, and the maximum rate at most.
    pub(super) fn planned_rate(&self) -> Option<Rate> {
        self.rate_limit.as_ref().map(RateLimit::rate).or(self.config.max_rate)
    }

    /// Counts `unsent` media datagrams for which the planned rate had no capacity.
    pub(super) fn report_unsent(&mut self, now: Time, unsent: u64) {
        let (Some(greatest), 1..) = (self.planned_rate(), unsent) else { return };
        self.rate_limit.iter_mut().for_each(RateLimit::on_limited);
        self.counts.unsent += unsent;
        self.events.extend(self.rate_requests.on_unsent(now, greatest, unsent));
    }

    /// The load of a block, each packet of which has `more` bytes when it leaves.
    fn load(&self, block: &Block, more: u64) -> Load {
        let sources = block.sources();
        let (packets, repair) = block.bytes();
        Load {
            sources,
            is_full: block.is_full(),
            media: Bytes(packets.0 - (sources * rtp::HEADER_LEN) as u64),
            wire: Bytes(packets.0 + sources as u64 * more),
            control: Bytes(self.control_bytes),
            repair: Bytes(repair.0 + overhead(self.peer.to()).0),
        }
    }

    /// The production time before which media has expired: at `now` it is too late to leave. Without a bound on the rate
    /// nothing expires, since packets then wait for long only if this host is late, and late packets are better than
    /// none.
    pub(super) fn expired_before(&self, now: Time) -> Time {
        self.planned_rate().map_or(Time::ZERO, |_| now.max(self.drained_at()) - self.longest_wait())
    }

    /// The earliest time from `due` on at which a packet that was produced at `produced` has expired.
    pub(super) fn expires_from(&self, due: Time, produced: Time) -> Time {
        let expires = produced + self.longest_wait() + Span::from_nanos(1);
        // The queues of the path alone can take longer than the packet may wait.
        if expires <= self.drained_at() { due } else { expires.max(due) }
    }

    /// The planned limit on the wait of a packet that begins to wait at `now`.
    pub(super) fn planned_wait(&self, now: Time) -> Span {
        let planned = self.protection.planned_wait();
        match self.rate_limit {
            Some(_) => planned_part(planned).saturating_sub(self.drained_at().since(now)),
            None => planned,
        }
    }

    /// The longest that a packet may wait before it leaves. Under a rate law it has a reserve of an eighth: the path's
    /// queues may grow while the packet is in flight.
    fn longest_wait(&self) -> Span {
        match self.rate_limit {
            None if self.sliding.is_none() => self.protection.longest_wait(),
            _ => self.protection.planned_wait(),
        }
    }

    /// The time at which the path's queues have drained. Without a rate law it is not known.
    fn drained_at(&self) -> Time {
        let least = self.peer.round_trip();
        self.rate_limit.as_ref().zip(least).map_or(Time::ZERO, |(limit, least)| limit.drained_at(least))
    }
}
