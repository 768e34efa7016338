//! Transmission: control, and the packets of blocks, one by one when they are due.

use core::net::SocketAddr;

use super::block::{Block, SEQUENCE, Symbol};
use super::history::Stream;
use super::phase::{Phase, Step};
use super::{Event, Sender};
use crate::law::schedule::in_order::Head;
use crate::law::schedule::{Next, Schedule, View};
use crate::session::Transmit;
use crate::session::live::{BLOCK_BOUNDS, address, wire_size};
use crate::time::{Span, Time};
use crate::wire::fecframe::PayloadId;
use crate::wire::rtp;

/// Packets at most half of this apart may leave this much early or late, so that GSO sends them together. Ours:
/// docs/controls.md, "batch". Longer saves more wake-ups, and bunches packets more.
pub(super) const BATCH: Span = Span::from_micros(250);

impl Sender {
    /// The time at which the next hello or challenge is due.
    pub(super) fn hello_due(&self) -> Option<Time> {
        self.phase.is_open().then(|| self.peer.next())
    }

    /// The time at which the next goodbye is due; only after all media has left.
    pub(super) fn farewell_due(&self) -> Option<Time> {
        let next = self.phase.next()?;
        match &self.sliding {
            Some(sliding) => Some(next.max(sliding.ends_at(self.repair_budget())?)),
            None => self.blocks.is_empty().then_some(next),
        }
    }

    /// A reply to a caller, or a hello, a challenge or a goodbye that is due.
    pub(super) fn poll_control(&mut self, now: Time, buf: &mut [u8]) -> Option<Transmit> {
        let (to, len) = match self.phase {
            Phase::Ended => return None,
            Phase::Ending { .. } => (self.poll_goodbye(now)?, self.emit_control(now, None, buf).ok()?),
            Phase::Open => self.poll_reply(now, buf).or_else(|| self.poll_hello(now, buf))?,
        };
        if to == self.peer.to() {
            self.protection.on_spread_sent();
        }
        let size = wire_size(len, to);
        self.control_bytes += size.0;
        self.rate_limit.iter_mut().for_each(|limit| limit.on_control(size));
        self.charge(now, BATCH, size);
        Some(Transmit { to, len })
    }

    /// Writes the challenge or the hello that is due; returns its destination and length.
    fn poll_hello(&mut self, now: Time, buf: &mut [u8]) -> Option<(SocketAddr, usize)> {
        if let Some((to, challenge)) = self.peer.poll_challenge(now) {
            return Some((to, address::emit(challenge, buf).ok()?));
        }
        let call = self.peer.poll_hello(now)?;
        Some((call.to, self.emit_control(now, Some(call), buf).ok()?))
    }

    /// The destination of the goodbye that is due by `now`. The session is over when the last one has left.
    fn poll_goodbye(&mut self, now: Time) -> Option<SocketAddr> {
        if self.farewell_due().is_none_or(|due| due > now) {
            return None;
        }
        match self.phase.step(now)? {
            Step::Goodbye => Some(self.peer.to()),
            Step::End(ending) => {
                self.events.push_back(Event::Ended(ending));
                None
            }
        }
    }

    /// The time by which the next queued packet must leave.
    pub(super) fn departure_due(&self) -> Option<Time> {
        if let Some(sliding) = &self.sliding {
            return self.immediate_due(sliding);
        }
        let block = self.blocks.first()?;
        let due = block.next()?;
        let due = match &self.rate_limit {
            None => due,
            Some(limit) => {
                // A packet that the law holds back is dropped once it has expired.
                let dropped = self.expires_from(due, block.produced());
                limit.next_send(&self.history).map_or(dropped, |next| next.max(due).min(dropped))
            }
        };
        Some(due + leeway(block))
    }

    /// The next packet of the stream that is due.
    pub(super) fn poll_packet(&mut self, now: Time, buf: &mut [u8]) -> Option<Transmit> {
        let packet = if self.sliding.is_some() { self.poll_immediate(now, buf) } else { self.poll_block(now, buf) };
        let transmit = packet?;
        let size = wire_size(transmit.len, transmit.to);
        self.guard.on_sent(now, size);
        if let Some(limit) = &mut self.rate_limit {
            limit.on_sent(now, size, &self.history);
        }
        Some(transmit)
    }

    /// The next packet of a block that is due.
    fn poll_block(&mut self, now: Time, buf: &mut [u8]) -> Option<Transmit> {
        loop {
            let Some(block) = self.blocks.first() else {
                let closed = self.blocks.take_waiting()?;
                self.plan(closed, now);
                continue;
            };
            let Some(due) = block.next() else {
                self.blocks.remove_first();
                continue;
            };
            let (due, repairs) = (due - leeway(block), block.next_repairs());
            let head = Head { due, is_allowed: due <= now && self.may_leave(now), repairs };
            if self.schedule.choose(&View { now, queue: &head, path: () }).next == Next::Idle {
                return None;
            }
            if let Some(transmit) = self.emit_symbol(now, buf) {
                return Some(transmit);
            }
        }
    }

    /// True if the rate law lets the next packet leave, or if the packet has expired and will be dropped.
    fn may_leave(&mut self, now: Time) -> bool {
        let expired_before = self.expired_before(now);
        let Some(limit) = &mut self.rate_limit else { return true };
        let has_expired = self.blocks.first().is_some_and(|block| block.produced() < expired_before);
        has_expired || limit.allows(now, &self.history)
    }

    /// Writes the next packet of the first block, unless the packet has expired.
    fn emit_symbol(&mut self, now: Time, buf: &mut [u8]) -> Option<Transmit> {
        let expired_before = self.expired_before(now);
        let has_ids = self.has_payload_ids();
        match self.blocks.first_mut()?.pop()? {
            Symbol::Source { produced, .. } if produced < expired_before => {
                // The next packet takes this one's number: the receiver would count a gap as a loss.
                let is_free = self.config.rate.is_some() && self.blocks.first_mut()?.reuse_number();
                self.streams.scheduled -= u64::from(is_free);
                self.report_unsent(now, 1);
                None
            }
            Symbol::Source { sequence, packet, id, .. } => {
                let mut len = packet.len();
                buf[..len].copy_from_slice(packet);
                buf[SEQUENCE..][..2].copy_from_slice(&(sequence as u16).to_be_bytes());
                self.counts.source_bytes += (len - rtp::HEADER_LEN) as u64;
                if has_ids {
                    buf[len..len + PayloadId::LEN].copy_from_slice(&id.emit());
                    len += PayloadId::LEN;
                }
                self.counts.sources += 1;
                let to = self.peer.to();
                self.history.sent(Stream::Source, sequence, now, wire_size(len, to));
                self.peer.on_media(now);
                Some(Transmit { to, len })
            }
            Symbol::Repair { newest, .. } if newest < expired_before => None,
            Symbol::Repair { id, symbol, bounds, .. } => {
                let mut at = 0;
                if self.config.fec_to.is_none() {
                    let header = self.streams.header(self.streams.repair, now);
                    let bounds = bounds.emit();
                    let element = rtp::Element { id: BLOCK_BOUNDS, data: &bounds };
                    at = header.emit(if has_ids { &[] } else { core::slice::from_ref(&element) }, buf);
                }
                buf[at..at + PayloadId::LEN].copy_from_slice(&id.emit());
                at += PayloadId::LEN;
                let len = at + symbol.len();
                buf[at..len].copy_from_slice(symbol);
                let to = self.config.fec_to.unwrap_or(self.peer.to());
                if self.config.fec_to.is_none() {
                    self.history.sent(Stream::Repair, self.streams.repair.next, now, wire_size(len, to));
                    self.streams.repair.next += 1;
                }
                self.counts.repairs += 1;
                Some(Transmit { to, len })
            }
        }
    }
}

/// The time by which a block's packets may leave before or after they are due.
fn leeway(block: &Block) -> Span {
    if block.gap() * 2 <= BATCH { BATCH } else { Span::ZERO }
}
