//! How packets leave: blocks close, and their packets go out one by one when they are due.

use core::net::SocketAddr;

use super::block::{Block, Symbol};
use super::history::Stream;
use super::protection::Load;
use super::{Event, Farewell, Sender};
use crate::session::Transmit;
use crate::session::live::{BLOCK_BOUNDS, address, overhead};
use crate::time::{Span, Time};
use crate::units::Bytes;
use crate::wire::fecframe::PayloadId;
use crate::wire::rtp;

/// Packets whose gaps are shorter than half of it may leave that much before or after they are due, and so together: a
/// GSO batch, which spares the machine a waking for each of them.
const BATCH: Span = Span::from_micros(250);
/// A block that closes later than this does not hurry to make up for it.
const LAG: Span = Span::from_millis(2);
/// Goodbyes: with nothing else under way, one burst of losses takes several of them.
pub(super) const GOODBYES: u8 = 10;
/// Between two of them.
const GOODBYE: Span = Span::from_millis(20);

impl Sender {
    /// A fresh block, and when it closes. Blocks follow one another without a gap while media flows.
    pub(super) fn open_block(&mut self, now: Time) -> (Block, Time) {
        let length = self.protection.block();
        let opened = self.closed.filter(|closed| now.since(*closed) < length).unwrap_or(now);
        let mut block = self.spare.pop().unwrap_or_default();
        block.reopen(opened, self.source.next);
        (block, opened + length)
    }

    /// Closes the open block if its time has come.
    pub(super) fn close_due(&mut self, now: Time) {
        if let Some((block, closes)) = self.open.take_if(|(_, closes)| *closes <= now) {
            let before = self.leaving.len();
            self.close(block, closes);
            // Late timers, not late packets, would else make a burst.
            if self.leaving.len() > before && now.since(closes) > LAG {
                self.delay_last(now);
            }
        }
    }

    /// Makes the repair of a block that closes at `closes`, and lets it leave over the time that the next one collects.
    pub(super) fn close(&mut self, mut block: Block, closes: Time) {
        let since = self.closed.replace(closes).map_or(Span::MAX, |closed| closes.since(closed));
        let open = closes.since(block.opened);
        let start = closes.max(self.free_at);
        let below = overhead(self.peer.to()).0;
        let ids = if self.has_payload_ids() { PayloadId::LEN as u64 } else { 0 };
        if let Some(rate) = self.config.max_rate {
            let takes = |packet: Bytes| rate.time_for(Bytes(packet.0 + below + ids));
            let from = start + rate.time_for(Bytes(self.control_bytes));
            let unsent = block.shed(from, self.protection.planned_wait(), takes) as u64;
            self.source.next -= unsent;
            self.tell_unsent(closes, unsent);
        }
        if block.sources() == 0 {
            self.spare.push(block);
            return;
        }
        let load = self.load(&block, below + ids);
        let (Bytes(sources), Bytes(each)) = (load.wire, load.repair);
        let mut repairs = 0;
        if !self.protection.is_none() && self.has_listener() {
            repairs = self.protection.close_block(&load, open, since, |window| self.brake.window(window));
            if self.protection.is_hopeless() || self.peer.is_unreported(closes, self.protection.interval()) {
                // It would come too late whatever the block, or to nobody, and only take room from the media.
                repairs = 0;
            }
            if let Some(rate) = self.config.max_rate {
                // What still waits of the blocks before it goes first: a queue would never end if repair filled the rate.
                let time = open.saturating_sub(start.since(closes));
                let room = rate.bytes_in(time).0.saturating_sub(sources + self.control_bytes);
                repairs = repairs.min((room / each) as usize);
            }
        }
        self.tell_few_packets();
        if self.protection.has_outgrown() && self.peer.is_connected() {
            // A receiver that waits for less gives up what repair would still bring.
            self.peer.remind(closes);
        }
        repairs = block.close(repairs, self.sbn, &mut self.encoders);
        self.sbn = self.sbn.wrapping_add(block.parts());
        let all = Bytes(sources + each * repairs as u64 + core::mem::take(&mut self.control_bytes));
        let time = self.protection.leaving(&load, open);
        let end = (closes + time).max(start + time / 2);
        let bound = self.config.max_rate.map_or(Span::ZERO, |rate| rate.time_for(all));
        let over = end.since(start).max(bound);
        block.schedule(start, over);
        self.free_at = start + over;
        self.leaving.push_back(block);
    }

    fn tell_few_packets(&mut self) {
        let round_trip = self.peer.round_trip().unwrap_or(Span::ZERO);
        let few = self.protection.few_packets(round_trip).filter(|_| !self.is_few_said);
        if let Some((packets, needed)) = few {
            self.is_few_said = true;
            self.events.push_back(Event::FewPackets { packets, needed });
        }
    }

    /// What a block holds, of which each packet gets `more` bytes on its way out.
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

    fn delay_last(&mut self, now: Time) {
        if let Some(block) = self.leaving.back_mut() {
            self.free_at = block.delay(now);
        }
    }

    /// When the next hello or challenge is due.
    pub(super) fn hello_due(&self) -> Option<Time> {
        self.farewell.is_none().then(|| self.peer.next())
    }

    /// When the next goodbye is due; only after all media has left.
    pub(super) fn farewell_due(&self) -> Option<Time> {
        self.farewell.filter(|_| self.leaving.is_empty()).map(|farewell| farewell.at)
    }

    /// A hello, a challenge or a goodbye that is due.
    pub(super) fn poll_control(&mut self, now: Time, buf: &mut [u8]) -> Option<Transmit> {
        let (to, len) = match self.farewell {
            _ if self.ended => return None,
            Some(farewell) => (self.poll_goodbye(now, farewell)?, self.emit_control(now, None, buf).ok()?),
            None => match self.peer.poll_challenge(now) {
                Some((to, challenge)) => (to, address::emit(challenge, buf).ok()?),
                None => {
                    let call = self.peer.poll_hello(now)?;
                    (call.to, self.emit_control(now, Some(call), buf).ok()?)
                }
            },
        };
        if to == self.peer.to() {
            self.protection.tell_spread();
        }
        self.control_bytes += len as u64 + overhead(to).0;
        Some(Transmit { to, len })
    }

    /// Where a goodbye is due by `now`. The session is over when the last one has left.
    fn poll_goodbye(&mut self, now: Time, Farewell { left, ending, .. }: Farewell) -> Option<SocketAddr> {
        self.farewell_due().filter(|due| *due <= now)?;
        if left == 0 {
            self.ended = true;
            self.events.push_back(Event::Ended(ending));
            return None;
        }
        self.farewell = Some(Farewell { at: now + GOODBYE, left: left - 1, ending });
        Some(self.peer.to())
    }

    /// When packets that have not left must.
    pub(super) fn departure_due(&self) -> Option<Time> {
        self.leaving.front().and_then(|block| Some(block.next()? + leeway(block)))
    }

    /// The next packet of the stream that is due.
    pub(super) fn poll_packet(&mut self, now: Time, buf: &mut [u8]) -> Option<Transmit> {
        loop {
            let block = self.leaving.front_mut()?;
            let Some(due) = block.next() else {
                self.spare.extend(self.leaving.pop_front());
                continue;
            };
            if due > now + leeway(block) {
                return None;
            }
            if let Some(transmit) = self.emit_symbol(now, buf) {
                self.breaker.on_sent(now, Bytes(transmit.len as u64) + overhead(transmit.to));
                return Some(transmit);
            }
        }
    }

    /// Writes the next packet of the first block, unless it would come too late to be of any use.
    fn emit_symbol(&mut self, now: Time, buf: &mut [u8]) -> Option<Transmit> {
        // Without a greatest rate nothing waits for long but by the machine's fault, and late is better than never.
        let too_late = self.config.max_rate.map_or(Time::ZERO, |_| now - self.protection.longest_wait());
        let has_ids = self.has_payload_ids();
        let timestamp = self.timestamp(now);
        match self.leaving.front_mut()?.pop()? {
            Symbol::Source { produced, .. } if produced < too_late => {
                self.tell_unsent(now, 1);
                None
            }
            Symbol::Source { sequence, packet, id, .. } => {
                let mut len = packet.len();
                buf[..len].copy_from_slice(packet);
                self.counts.source_bytes += (len - rtp::HEADER_LEN) as u64;
                if has_ids {
                    buf[len..len + PayloadId::LEN].copy_from_slice(&id.emit());
                    len += PayloadId::LEN;
                }
                self.counts.sources += 1;
                self.history.sent(Stream::Source, sequence, now);
                self.peer.on_media(now);
                Some(Transmit { to: self.peer.to(), len })
            }
            Symbol::Repair { newest, .. } if newest < too_late => None,
            Symbol::Repair { id, symbol, bounds, .. } => {
                let mut at = 0;
                if self.config.fec_to.is_none() {
                    let header = rtp::Header {
                        marker: false,
                        payload_type: self.repair.payload_type,
                        sequence: self.repair.next as u16,
                        timestamp,
                        ssrc: self.repair.ssrc,
                    };
                    let bounds = bounds.emit();
                    let element = rtp::Element { id: BLOCK_BOUNDS, data: &bounds };
                    at = header.emit(if has_ids { &[] } else { core::slice::from_ref(&element) }, buf);
                    self.history.sent(Stream::Repair, self.repair.next, now);
                    self.repair.next += 1;
                }
                buf[at..at + PayloadId::LEN].copy_from_slice(&id.emit());
                at += PayloadId::LEN;
                buf[at..at + symbol.len()].copy_from_slice(symbol);
                self.counts.repairs += 1;
                Some(Transmit { to: self.config.fec_to.unwrap_or(self.peer.to()), len: at + symbol.len() })
            }
        }
    }
}

/// How far from when they are due a block's packets may leave.
fn leeway(block: &Block) -> Span {
    if block.gap() * 2 <= BATCH { BATCH } else { Span::ZERO }
}
