//! One stream, from its first hello to its end.

mod delivery;

use core::net::SocketAddr;

use super::arrivals::{Arrivals, MAX_DROPOUT, Noted};
use super::candidates::{Candidate, SenderHello};
use super::decoder::Decoder;
use super::gaps::Nacks;
use super::presence::Presence;
use super::reports::Reports;
use super::sliding::{Means, Sliding};
use super::stats::Counts;
use super::timeline::Timeline;
use super::window::{Kept, Origin, Window};
use crate::session::live::address::{self, Address};
use crate::session::live::secret::{End, Secret};
use crate::session::live::{BLOCK_BOUNDS, Ending, Playout, reordering_delay};
use crate::session::path::tokens::Tokens;
use crate::time::{Span, Time};
use crate::wire::fecframe::{Adui, BlockBounds, PayloadId};
use crate::wire::hello::{Challenge, Hello, Wanted};
use crate::wire::rlc::{RepairPayloadId, SourcePayloadId};
use crate::wire::sequence::nearest;
use crate::wire::{Error, rtp};

/// Least time between two answers to challenges. Ours: as that of a sender. Forged challenges cause 50 answers a second
/// at most.
const LEAST_GAP: Span = Span::from_millis(20);
/// Report intervals that a sender may ask for. Ours: from 1000 reports a second to the interval of regular reports.
const INTERVALS: core::ops::RangeInclusive<Span> = Span::from_millis(1)..=Span::from_secs(1);

/// The receiver's state of one stream.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Stream {
    /// The sender's validated address.
    pub(super) address: Address,
    pub(super) secret: Secret,
    /// The time of the last answer to a challenge.
    challenged: Option<Time>,
    pub(super) ssrc: u32,
    pub(super) hello: Hello,
    pub(super) timeline: Timeline,
    pub(super) arrivals: [Option<Arrivals>; 2],
    window: Option<Window>,
    decoder: Decoder,
    /// The decoder of a stream whose code has a sliding window, from its first source packet on.
    sliding: Option<Sliding>,
    pub(super) nacks: Nacks,
    /// A source packet whose number is too far ahead to be believed alone, with its arrival time.
    held: Option<(Time, Vec<u8>)>,
    /// True if early delivery was reported.
    pub(super) is_early_reported: bool,
    pub(super) presence: Presence,
    pub(super) reports: Reports,
}

impl Stream {
    /// The stream of a candidate, which begins now.
    pub(super) fn new(now: Time, candidate: Candidate) -> Stream {
        let Candidate { from, offer: SenderHello { ssrc, hello, sent }, secret, received_at } = candidate;
        let mut stream = Stream {
            address: Address::new(from),
            secret,
            challenged: None,
            ssrc,
            hello,
            timeline: Timeline::new(received_at, sent),
            arrivals: [None, None],
            window: None,
            decoder: Decoder::default(),
            sliding: None,
            nacks: Nacks::default(),
            held: None,
            is_early_reported: false,
            presence: Presence::new(now),
            reports: Reports::new(now, sent.ntp, received_at),
        };
        stream.take_hello(now, hello);
        stream
    }

    /// Takes a hello. Returns the latency before and after it if that has become longer, `wanted` being the receiver's.
    pub(super) fn on_hello(&mut self, now: Time, hello: Hello, wanted: Wanted) -> Option<(Span, Span)> {
        let from = self.hello.latency.agreed(wanted);
        self.take_hello(now, hello);
        let to = hello.latency.agreed(wanted);
        (to > from).then_some((from, to))
    }

    fn take_hello(&mut self, now: Time, hello: Hello) {
        self.presence.on_hello(now);
        // The sender reports a windowed minimum: a single hello with a greater value is damaged, or the next one
        // repeats it.
        let before = core::mem::replace(&mut self.hello, hello).round_trip;
        let known = [before, hello.round_trip].into_iter().filter(|round_trip| *round_trip > Span::ZERO).min();
        self.timeline.set_round_trip(known.unwrap_or(Span::ZERO));
    }

    /// Address of the sender.
    pub(super) fn from(&self) -> SocketAddr {
        self.address.at()
    }

    /// Returns whether the sender is at `from` and has `secret`.
    pub(super) fn is_of(&self, from: SocketAddr, secret: Secret) -> bool {
        self.from() == from && self.secret == secret
    }

    /// Returns whether a datagram ends with the sender's proof.
    pub(super) fn is_proved(&self, datagram: &[u8]) -> bool {
        self.secret.proves(End::Sender, datagram)
    }

    /// Returns whether a hello is newer than all before it.
    pub(super) fn is_new(&self, hello: &Hello) -> bool {
        hello.stamp.wrapping_sub(self.hello.stamp) as i32 > 0
    }

    /// Time allowed for an answer to a challenge.
    fn answer_wait(&self) -> Span {
        address::wait(self.timeline.round_trip())
    }

    /// Takes note of a new message from the sender's address.
    pub(super) fn confirm(&mut self, now: Time) {
        self.address.confirm(now, self.answer_wait());
    }

    /// The challenge that is due by `now`.
    pub(super) fn poll_challenge(&mut self, now: Time, tokens: &Tokens) -> Option<(SocketAddr, Challenge)> {
        let wait = self.answer_wait();
        self.address.poll_challenge(now, wait, tokens)
    }

    /// Returns whether a challenge from `from` is answered now: only at the sender's address, and not too often.
    pub(super) fn answers_challenge(&mut self, now: Time, from: SocketAddr) -> bool {
        let answers = from == self.from() && self.challenged.is_none_or(|last| now.since(last) >= LEAST_GAP);
        if answers {
            self.challenged = Some(now);
        }
        answers
    }

    /// The stream's two SSRCs: source and repair.
    pub(super) fn ssrcs(&self) -> [u32; 2] {
        [self.ssrc, self.hello.repair_ssrc]
    }

    pub(super) fn carries(&self, ssrc: u32) -> bool {
        self.ssrcs().contains(&ssrc)
    }

    /// Returns whether another sender may take its place: no media has arrived yet, the stream is over, the sender is
    /// silent, or no media has arrived for `hold`.
    pub(super) fn is_free(&self, now: Time, hold: Span) -> bool {
        let has_media = self.arrivals.iter().any(Option::is_some);
        !has_media || self.presence.is_free(now, hold)
    }

    /// Takes an RTP packet of either stream.
    pub(super) fn on_packet(
        &mut self,
        now: Time,
        header: rtp::Header,
        bytes: &[u8],
        counts: &mut Counts,
    ) -> Result<(), Error> {
        self.presence.on_media(now);
        match (header.ssrc == self.ssrc, self.hello.sliding) {
            (true, _) => self.on_source(now, header, bytes, counts)?,
            (false, false) => self.on_repair(now, header, bytes, counts)?,
            (false, true) => self.on_combination(now, header, bytes, counts)?,
        }
        while let Some(adui) = self.decoder.pop_recovered() {
            if let Ok(Adui { flow: 0, adu }) = Adui::parse(&adui) {
                self.on_recovered(now, (Means::Combination, adu), counts);
            }
            self.decoder.recycle(adui);
        }
        Ok(())
    }

    fn on_source(&mut self, now: Time, header: rtp::Header, bytes: &[u8], counts: &mut Counts) -> Result<(), Error> {
        let (adu, id) = SourceId::split(bytes, &self.hello)?;
        check_layout(adu)?;
        let arrivals = self.arrivals[0].get_or_insert_with(|| Arrivals::new(now, &header));
        let sequence = match arrivals.note(now, &header) {
            Noted::Number(sequence) => sequence,
            Noted::Suspect => {
                counts.rejected += u64::from(self.held.replace((now, bytes.to_vec())).is_some());
                return Ok(());
            }
            Noted::Confirmed => {
                if let Some((received_at, held)) = self.held.take() {
                    self.on_source(received_at, rtp::Packet::parse(&held)?.header, &held, counts)?;
                }
                return self.on_source(now, header, bytes, counts);
            }
        };
        self.note_loss(now, 0);
        counts.rejected += u64::from(self.held.take().is_some());
        let window = self.window.get_or_insert_with(|| Window::new(sequence));
        self.reports.on_source(sequence, (counts.residual, counts.recovered));
        let produced = self.timeline.produced(header.timestamp).min(now);
        if let SourceId::Sliding(id) = id {
            self.sliding.get_or_insert_with(|| Sliding::new(sequence, id)).on_source(sequence, id, adu)?;
            self.nacks.on_packet(now, 0, sequence);
        }
        let (kept, given_up) = window.insert(now, sequence, adu, produced, Origin::Path);
        counts.sources += 1;
        counts.residual += given_up;
        match kept {
            Kept::New => {}
            Kept::Duplicate => counts.duplicates += 1,
            Kept::Late => counts.late += 1,
        }
        match id {
            SourceId::Sliding(_) => self.take_recovered(now, counts),
            SourceId::Block(id) if kept == Kept::New && self.hello.repair => {
                self.decoder.on_source(now, sequence, id, window);
            }
            SourceId::Block(_) => {}
        }
        Ok(())
    }

    fn on_repair(&mut self, now: Time, header: rtp::Header, bytes: &[u8], counts: &mut Counts) -> Result<(), Error> {
        let packet = rtp::Packet::parse(bytes)?;
        let (id, symbol) = PayloadId::split_repair(packet.payload)?;
        let bounds = packet.element(BLOCK_BOUNDS).map(BlockBounds::parse).transpose()?;
        let arrivals = self.arrivals[1].get_or_insert_with(|| Arrivals::new(now, &header));
        if arrivals.note(now, &header) == Noted::Suspect {
            return Err(Error::Malformed);
        }
        self.note_loss(now, 1);
        counts.repairs += 1;
        // Without a source packet, recovered packets could not be put in order.
        let (Some(window), Some(sources)) = (&self.window, &self.arrivals[0]) else { return Ok(()) };
        let bounds = bounds.map(|bounds| (bounds, sources.highest()));
        self.decoder.on_repair(now, id, symbol, bounds, window);
        Ok(())
    }

    /// Takes a repair packet of the code with a sliding window.
    fn on_combination(
        &mut self,
        now: Time,
        header: rtp::Header,
        bytes: &[u8],
        counts: &mut Counts,
    ) -> Result<(), Error> {
        let (id, symbol) = RepairPayloadId::split(rtp::Packet::parse(bytes)?.payload)?;
        let arrivals = self.arrivals[1].get_or_insert_with(|| Arrivals::new(now, &header));
        let Noted::Number(sequence) = arrivals.note(now, &header) else { return Err(Error::Malformed) };
        self.note_loss(now, 1);
        counts.repairs += 1;
        self.nacks.on_packet(now, 1, sequence);
        if let Some(sliding) = &mut self.sliding {
            sliding.on_repair(id, symbol)?;
        }
        self.take_recovered(now, counts);
        Ok(())
    }

    /// Takes the packets that the decoder of the sliding window has recovered from the last packet.
    fn take_recovered(&mut self, now: Time, counts: &mut Counts) {
        let Some(sliding) = self.sliding.take() else { return };
        sliding.recovered().for_each(|recovered| self.on_recovered(now, recovered, counts));
        self.sliding = Some(sliding);
    }

    /// Puts a recovered packet in its place, if it is valid: corrupted symbols recover to arbitrary bytes.
    fn on_recovered(&mut self, now: Time, (means, adu): (Means, &[u8]), counts: &mut Counts) {
        let Ok(packet) = rtp::Packet::parse(adu) else { return };
        let (Some(window), Some(sources)) = (&mut self.window, &self.arrivals[0]) else { return };
        let sequence = nearest::<16>(sources.highest(), packet.header.sequence.into());
        let near = sequence <= sources.highest() + MAX_DROPOUT;
        if packet.header.ssrc != self.ssrc || check_layout(adu).is_err() || !near {
            return;
        }
        let produced = self.timeline.produced(packet.header.timestamp).min(now);
        let (kept, given_up) = window.insert(now, sequence, adu, produced, Origin::Repair);
        counts.residual += given_up;
        if kept == Kept::New {
            counts.recovered += 1;
            counts.resend_recovered += u64::from(means == Means::Resend);
        }
    }

    /// Has a new loss event in one of the two RTP streams reported at once, if the sender asks for it.
    fn note_loss(&mut self, now: Time, stream: usize) {
        let round_trip = self.timeline.round_trip();
        let reveals_loss = self.arrivals[stream].as_mut().is_some_and(Arrivals::reveals_loss);
        if reveals_loss && self.hello.loss_reports {
            self.reports.on_loss(now, round_trip);
        }
    }

    fn reordering_delay(&self) -> Span {
        reordering_delay(self.timeline.round_trip())
    }

    /// The time at which a report is due.
    pub(super) fn feedback_due(&self) -> Option<Time> {
        let fresh: usize = self.arrivals.iter().flatten().map(|arrivals| arrivals.fresh).sum();
        self.reports.feedback_due(fresh, self.presence.goodbye().is_some())
    }

    /// The report interval that the sender asks for, within [`INTERVALS`].
    pub(super) fn interval(&self) -> Span {
        self.hello.interval.clamp(*INTERVALS.start(), *INTERVALS.end())
    }

    /// The time at which something is due next.
    pub(super) fn next(&self, latency: Span, playout: Playout) -> Time {
        let head = self
            .window
            .as_ref()
            .and_then(Window::head)
            .map(|head| if self.is_full() { Time::ZERO } else { self.due(&head, latency, playout) });
        let end = self.presence.goodbye().map(|goodbye| goodbye + self.reordering_delay());
        let end = end.filter(|_| head.is_none());
        let (silence, gone, full) = (self.presence.silent_at(), self.presence.gone_at(), self.reports.full_at());
        let waits = [head, silence, end, self.feedback_due(), self.nacks.due(), self.address.next()];
        waits.into_iter().flatten().fold(gone.min(full), Time::min)
    }

    /// The reason of the stream's end, if it ends now: its sender has said goodbye and no packet waits any more, or its
    /// sender is gone.
    pub(super) fn ending(&self, now: Time) -> Option<Ending> {
        let late = self.presence.goodbye().is_some_and(|goodbye| goodbye + self.reordering_delay() <= now);
        if late && self.window.as_ref().and_then(Window::head).is_none() {
            return Some(Ending::Bye);
        }
        (self.presence.gone_at() <= now).then_some(Ending::Silent)
    }

    /// Forgets packets and blocks that nothing needs any more.
    pub(super) fn forget(&mut self, now: Time, latency: Span) {
        let keep = if self.hello.repair { latency } else { Span::ZERO };
        if let Some(window) = &mut self.window {
            window.forget(now - keep);
            self.sliding.iter_mut().for_each(|sliding| sliding.forget(window));
        }
        self.decoder.forget(now - latency);
    }
}

/// The payload ID of a source packet, as the stream's code has it.
#[derive(Clone, Copy)]
enum SourceId {
    Sliding(SourcePayloadId),
    /// None if only repair packets carry IDs.
    Block(Option<PayloadId>),
}

impl SourceId {
    /// Splits a source packet into the RTP packet and its payload ID.
    fn split<'a>(bytes: &'a [u8], hello: &Hello) -> Result<(&'a [u8], SourceId), Error> {
        if hello.sliding {
            let (adu, id) = SourcePayloadId::split(bytes)?;
            return Ok((adu, SourceId::Sliding(id)));
        }
        if hello.payload_ids {
            let (adu, id) = PayloadId::split_source(bytes)?;
            return Ok((adu, SourceId::Block(Some(id))));
        }
        Ok((bytes, SourceId::Block(None)))
    }
}

/// Checks that a packet has only the fixed header, as those of a Thalweg sender: the code works on whole RTP packets.
fn check_layout(packet: &[u8]) -> Result<(), Error> {
    let payload = rtp::Packet::parse(packet)?.payload.len();
    if payload + rtp::HEADER_LEN == packet.len() { Ok(()) } else { Err(Error::Malformed) }
}
