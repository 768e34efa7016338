//! Sending without blocks: media as soon as the rate allows, and repair as the law of [`Sliding`] chooses it.

use super::Sender;
use super::brake::Question;
use super::history::Stream;
use super::rate_limit::RateLimit;
use super::sliding::Sliding;
use super::transmit::BATCH;
use crate::law::schedule::Coded;
use crate::law::schedule::deadline::Path;
use crate::session::Transmit;
use crate::session::live::wire_size;
use crate::time::{Span, Time};
use crate::units::Bytes;
use crate::wire::rlc::{FLOW, RepairPayloadId, SourcePayloadId};
use crate::wire::rtp;

/// Bytes of a repair packet before the symbol.
const REPAIR_HEADERS: usize = rtp::HEADER_LEN + RepairPayloadId::LEN + FLOW;

/// Opportunities for repair for each source packet. Ours: as in the law's tests; losses of several packets in a row are
/// made up for in half as many packets.
const CHANCES: u64 = 2;

/// The leeway of a choice after one of nothing, in those of a packet. Ours: 4 ms, so that the next train of media is there first;
/// a timer for each choice costs more than the choice.
const IDLE: u64 = 16;

/// The repair packets that are kept in any case while no queue shows: IW of RFC 6928, which any TCP may send at once. A slow
/// source has three or four in a long interval, and would wait for several intervals to resend one burst of losses.
const BURST: f64 = 10.0;
/// The round trip, in intervals, below which a source counts as slow for that. Ours: with 1, ten streams of 10 Mb/s sustain 12 %
/// of loss on a link of .97 of their media, and 8 % without [`BURST`].
const SLOW: f64 = 0.5;

/// The longest time of which media may use the maximum rate later. Ours: media that a busy host reads or sends late, or that comes
/// as a picture, does not wait until its repair is too late. quinn's longest bursts, on slow connections, are as long
/// (`MAX_BURST_INTERVAL`).
const SLACK: Span = Span::from_millis(10);

/// The time for which repair is kept while less is sent to ask whether a path is full. Ours: as long as the question takes.
const QUESTION: Span = Span::from_secs(1);
/// The factor on the price for as long. Ours: at 20 % of loss it leaves a part of the losses that the first packets to be worth
/// the price would leave.
const SCARCITY: f64 = 8.0;

impl Sender {
    /// Closes the open interval of the law if its time has come.
    pub(super) fn close_interval_due(&mut self, now: Time) {
        let interval = self.protection.interval();
        let Some(at) = self.credit.closes_at(interval).filter(|at| *at <= now) else { return };
        let Some((load, open, since, sent)) = self.credit.close(at, Bytes(self.control_bytes)) else { return };
        self.control_bytes = 0;
        let granted = self.protection.close_block(&load, open, since, |window| self.guard.window(window));
        self.media_share.add(&load, sent);
        // A question limits the average, not the repair of one burst.
        let round_trip = self.peer.round_trip().unwrap_or(Span::ZERO);
        let kept = if self.guard.question().is_some() { round_trip.max(QUESTION) } else { round_trip };
        let kept = kept.as_secs_f64() / interval.as_secs_f64();
        let burst = if kept < SLOW && !self.guard.shows_queue() { BURST } else { 0.0 };
        self.credit.grant(granted, kept, burst);
    }

    /// The time by which the next packet must leave, or be dropped.
    pub(super) fn immediate_due(&self, sliding: &Sliding) -> Option<Time> {
        let allowed = |due: Time| match &self.rate_limit {
            None => Some(due),
            Some(limit) => limit.next_send(&self.history).map(|next| next.max(due)),
        };
        if let Some(produced) = sliding.next_produced() {
            let due = sliding.free_at();
            let dropped = self.rate_limit.as_ref().map(|_| self.expires_from(due, produced));
            return allowed(due).into_iter().chain(dropped).min();
        }
        let may_repair = self.may_repair() && self.credit.suffices();
        let leeway = if sliding.is_idle() { self.leeway() * IDLE } else { self.leeway() };
        sliding.chance().filter(|_| may_repair).and_then(|chance| allowed(chance.max(sliding.free_at()) + leeway))
    }

    /// The next packet of a stream without blocks that is due.
    pub(super) fn poll_immediate(&mut self, now: Time, buf: &mut [u8]) -> Option<Transmit> {
        let expired_before = self.expired_before(now);
        loop {
            let sliding = self.sliding.as_mut()?;
            match sliding.next_produced() {
                Some(produced) if produced < expired_before => {
                    sliding.drop_next();
                    self.report_unsent(now, 1);
                }
                Some(_) => return self.poll_source(now, buf),
                None => return self.poll_repair(now, buf),
            }
        }
    }

    fn poll_source(&mut self, now: Time, buf: &mut [u8]) -> Option<Transmit> {
        if self.sliding.as_ref()?.free_at() > now || !self.is_allowed(now) {
            return None;
        }
        let sequence = self.streams.source.next;
        let (len, number) = self.sliding.as_mut()?.pop(now, sequence, buf)?;
        self.streams.source.next += 1;
        let media = len - rtp::HEADER_LEN;
        buf[len..][..SourcePayloadId::LEN].copy_from_slice(&SourcePayloadId { esi: number as u32 }.emit());
        let to = self.peer.to();
        let size = wire_size(len + SourcePayloadId::LEN, to);
        self.history.sent(Stream::Source, sequence, now, size);
        self.peer.on_media(now);
        self.counts.source_bytes += media as u64;
        self.counts.sources += 1;
        let repair = wire_size(REPAIR_HEADERS + crate::code::rlc::LENGTH + len, to);
        self.credit.on_source(now, self.protection.interval(), media, (size, repair));
        self.charge(now, SLACK, size);
        self.sliding.as_mut()?.may_choose_from(now);
        Some(Transmit { to, len: len + SourcePayloadId::LEN })
    }

    fn poll_repair(&mut self, now: Time, buf: &mut [u8]) -> Option<Transmit> {
        let latest = now + self.leeway();
        let sliding = self.sliding.as_ref()?;
        let is_due = sliding.chance().is_some_and(|chance| chance <= latest) && sliding.free_at() <= latest;
        if !is_due || !self.credit.suffices() || !self.may_repair() {
            return None;
        }
        if self.is_unreported(now) {
            // Repair would only take capacity from the media; the next media packet or NACK makes a choice due.
            self.sliding.as_mut()?.rest();
            return None;
        }
        let coded = self.choose_repair(now)?;
        if !self.is_allowed(now) {
            return None;
        }
        let header = self.streams.header(self.streams.repair, now).emit(&[], buf);
        let sliding = self.sliding.as_mut()?;
        let (id, len) = sliding.repair(now, coded, &mut buf[REPAIR_HEADERS..])?;
        buf[header..][..RepairPayloadId::LEN].copy_from_slice(&RepairPayloadId::from(id).emit());
        buf[REPAIR_HEADERS - FLOW] = 0;
        let (to, len) = (self.peer.to(), REPAIR_HEADERS + len);
        let size = wire_size(len, to);
        self.history.sent(Stream::Repair, self.streams.repair.next, now, size);
        self.streams.repair.next += 1;
        self.counts.repairs += u64::from(!coded.is_uncoded());
        self.counts.resent += u64::from(coded.is_uncoded());
        self.credit.on_repair();
        self.charge(now, BATCH, size);
        Some(Transmit { to, len })
    }

    /// The packet of repair that the law wants now; otherwise the law is asked again a source packet later.
    fn choose_repair(&mut self, now: Time) -> Option<Coded> {
        let slot = self.slot();
        let budget = self.repair_budget();
        let in_flight = self.history.in_flight();
        let question = self.guard.question();
        let scarcity = if question == Some(Question::Less) { SCARCITY } else { 1.0 };
        let sliding = self.sliding.as_mut()?;
        let notice = sliding.notice(slot);
        let again = sliding.again(slot);
        let choice = sliding.choose(now, scarcity, in_flight, |losses| Path {
            channel: losses.channel(in_flight),
            notice,
            again,
            budget,
            slot,
        });
        let choice = choice.or_else(|| sliding.combination().filter(|_| question == Some(Question::More)));
        match choice {
            Some(_) => {
                // Spread, so that one burst of losses hits few; but all that is lost must leave in time.
                let (missing, left) = sliding.urgency(now, budget);
                sliding.postpone(now, (slot / CHANCES).min(left / (CHANCES * missing.max(1) as u64)));
            }
            None => sliding.postpone(now, slot),
        }
        choice
    }

    /// The time from the production of a packet to the last departure of repair for it that is in time, even if the delay is
    /// above its minimum by as much as that of most packets.
    pub(super) fn repair_budget(&self) -> Span {
        let least = self.peer.round_trip().unwrap_or(Span::ZERO);
        let late = self.sliding.as_ref().map_or(Span::ZERO, |sliding| sliding.round_trip().saturating_sub(least));
        self.protection.longest_wait().saturating_sub(late)
    }

    /// The time from one source packet to the next.
    fn slot(&self) -> Span {
        self.protection.rate().map_or(self.protection.interval(), |rate| Span::from_secs_f64(1.0 / rate))
    }

    /// The time by which packets may leave before or after their time, so that GSO sends them together.
    fn leeway(&self) -> Span {
        if self.slot() / CHANCES * 2 <= BATCH { BATCH } else { Span::ZERO }
    }

    fn may_repair(&self) -> bool {
        self.can_use_repair() && !self.protection.is_hopeless()
    }

    fn is_unreported(&self, now: Time) -> bool {
        self.peer.is_unreported(now, self.protection.interval())
    }

    /// True if the rate law lets a packet leave.
    fn is_allowed(&mut self, now: Time) -> bool {
        let history = &self.history;
        self.rate_limit.as_mut().is_none_or(|limit: &mut RateLimit| limit.allows(now, history))
    }

    /// Charges bytes that leave to the maximum rate, unless a rate law does; they may take up to `slack` of past time.
    pub(super) fn charge(&mut self, now: Time, slack: Span, size: Bytes) {
        let bound = self.config.max_rate.filter(|_| self.rate_limit.is_none());
        if let (Some(rate), Some(sliding)) = (bound, &mut self.sliding) {
            sliding.occupy(now, slack, rate.time_for(size));
        }
    }
}
