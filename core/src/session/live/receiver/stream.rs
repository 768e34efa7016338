//! One stream, from its first hello to its end.

mod turns;

use core::net::SocketAddr;

use super::arrivals::{Arrivals, MAX_DROPOUT, Noted};
use super::decoder::Decoder;
use super::greeting::{Candidate, Greeting};
use super::stats::Counts;
use super::timeline::Timeline;
use super::window::{Kept, Origin, Window};
use crate::session::live::address::{self, Address};
use crate::session::live::secret::{End, Secret};
use crate::session::live::tokens::Tokens;
use crate::session::live::{BLOCK_BOUNDS, Ending, Playout, REPORT_INTERVAL, patience};
use crate::time::{Span, Time};
use crate::wire::fecframe::{Adui, BlockBounds, PayloadId};
use crate::wire::hello::{Challenge, Hello};
use crate::wire::ntp::NtpShort;
use crate::wire::sequence::nearest;
use crate::wire::{Error, rtp};

/// Without a word of the sender for so long, another may take its place. It says hello ten times in it, whether there
/// is media or not.
const QUIET: Span = Span::from_secs(2);
/// Least time between two answers to challenges.
const LEAST_GAP: Span = Span::from_millis(20);
/// Without media for so long, somebody is told.
const SILENCE: Span = Span::from_secs(2);
/// Without a word of the sender for so long, it is gone.
const GONE: Span = Span::from_secs(10);
/// So many packets ask for a report before its time.
const EARLY: usize = 256;
/// A report that has nothing new to say waits so long.
const IDLE: Span = Span::from_millis(100);
/// Report intervals that a sender may ask for.
const INTERVALS: core::ops::RangeInclusive<Span> = Span::from_millis(1)..=Span::from_secs(1);

/// The receiver's knowledge of one stream.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Stream {
    /// Where the sender has proved to be.
    pub(super) address: Address,
    pub(super) secret: Secret,
    /// When a challenge was answered last.
    challenged: Option<Time>,
    pub(super) ssrc: u32,
    pub(super) hello: Hello,
    pub(super) timeline: Timeline,
    pub(super) arrivals: [Option<Arrivals>; 2],
    window: Option<Window>,
    decoder: Decoder,
    /// A source packet whose number is too far ahead to be believed alone, and when it came.
    held: Option<(Time, Vec<u8>)>,
    /// When media came last, and whether its absence was told.
    heard: Time,
    silent: bool,
    /// Whether somebody was told that packets are handed out before their time.
    pub(super) told_early: bool,
    /// When the sender said anything last.
    alive: Time,
    /// When the sender said goodbye.
    goodbye: Option<Time>,
    /// The last sender report, and when it came.
    pub(super) sender_report: (NtpShort, Time),
    pub(super) report_at: Time,
    pub(super) full_report_at: Time,
    /// Packets lost for good, and repaired, at the last extended report, with the first packet after it.
    pub(super) post_repair: (u64, u64, u64),
}

impl Stream {
    /// The stream of a candidate whose media comes now.
    pub(super) fn new(now: Time, candidate: Candidate) -> Stream {
        let Candidate { from, greeting: Greeting { ssrc, hello, sent }, secret, came } = candidate;
        let mut stream = Stream {
            address: Address::new(from),
            secret,
            challenged: None,
            ssrc,
            hello,
            timeline: Timeline::new(came, sent),
            arrivals: [None, None],
            window: None,
            decoder: Decoder::default(),
            held: None,
            heard: now,
            silent: false,
            told_early: false,
            alive: now,
            goodbye: None,
            sender_report: (sent.ntp.middle(), came),
            // The first report goes at once: it says that the sender's echo has come.
            report_at: now - IDLE,
            full_report_at: now + REPORT_INTERVAL,
            post_repair: (0, 0, 0),
        };
        stream.on_hello(now, hello);
        stream
    }

    pub(super) fn on_hello(&mut self, now: Time, hello: Hello) {
        self.alive = now;
        // The sender's is the least of late: one hello that says more is damaged, or the next one says so, too.
        let before = core::mem::replace(&mut self.hello, hello).round_trip;
        let known = [before, hello.round_trip].into_iter().filter(|round_trip| *round_trip > Span::ZERO).min();
        self.timeline.set_round_trip(known.unwrap_or(Span::ZERO));
    }

    /// Address of the sender.
    pub(super) fn from(&self) -> SocketAddr {
        self.address.at()
    }

    /// Returns whether it is the stream that began at `from` with `secret`.
    pub(super) fn is_of(&self, from: SocketAddr, secret: Secret) -> bool {
        self.from() == from && self.secret == secret
    }

    /// Returns whether a datagram ends with the sender's proof.
    pub(super) fn is_proved(&self, datagram: &[u8]) -> bool {
        self.secret.proves(End::Sender, datagram)
    }

    /// Returns whether a hello is newer than all that came.
    pub(super) fn is_new(&self, hello: &Hello) -> bool {
        hello.stamp.wrapping_sub(self.hello.stamp) as i32 > 0
    }

    /// Time for an answer to a challenge.
    fn answer_wait(&self) -> Span {
        address::wait(self.timeline.round_trip())
    }

    /// Takes note of new words from the sender's address.
    pub(super) fn confirm(&mut self, now: Time) {
        self.address.confirm(now, self.answer_wait());
    }

    /// The challenge that is due by `now`.
    pub(super) fn poll_challenge(&mut self, now: Time, tokens: &Tokens) -> Option<(SocketAddr, Challenge)> {
        let wait = self.answer_wait();
        self.address.poll_challenge(now, wait, tokens)
    }

    /// Returns whether a challenge from `from` is answered now: only where the sender is, and not too often.
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

    /// Returns whether another sender may take its place: there was no media yet, the stream is over, nothing is heard
    /// of it, or no media for `hold`.
    pub(super) fn is_free(&self, now: Time, hold: Span) -> bool {
        let has_media = self.arrivals.iter().any(Option::is_some);
        !has_media
            || self.goodbye.is_some()
            || now.since(self.alive.max(self.heard)) >= QUIET
            || now.since(self.heard) >= hold
    }

    pub(super) fn on_goodbye(&mut self, now: Time) {
        self.goodbye.get_or_insert(now);
    }

    /// Takes an RTP packet of either stream.
    pub(super) fn on_packet(
        &mut self,
        now: Time,
        header: rtp::Header,
        bytes: &[u8],
        counts: &mut Counts,
    ) -> Result<(), Error> {
        (self.heard, self.silent) = (now, false);
        if header.ssrc == self.ssrc {
            self.on_source(now, header, bytes, counts)?;
        } else {
            self.on_repair(now, header, bytes, counts)?;
        }
        while let Some(adui) = self.decoder.pop_recovered() {
            self.on_recovered(now, &adui, counts);
            self.decoder.recycle(adui);
        }
        Ok(())
    }

    fn on_source(&mut self, now: Time, header: rtp::Header, bytes: &[u8], counts: &mut Counts) -> Result<(), Error> {
        let (adu, id) = if self.hello.payload_ids {
            let (adu, id) = PayloadId::split_source(bytes)?;
            (adu, Some(id))
        } else {
            (bytes, None)
        };
        check_layout(adu)?;
        let arrivals = self.arrivals[0].get_or_insert_with(|| Arrivals::new(now, &header));
        let sequence = match arrivals.note(now, &header) {
            Noted::Number(sequence) => sequence,
            Noted::Suspect => {
                counts.rejected += u64::from(self.held.replace((now, bytes.to_vec())).is_some());
                return Ok(());
            }
            Noted::Confirmed => {
                if let Some((came, held)) = self.held.take() {
                    self.on_source(came, rtp::Packet::parse(&held)?.header, &held, counts)?;
                }
                return self.on_source(now, header, bytes, counts);
            }
        };
        counts.rejected += u64::from(self.held.take().is_some());
        let window = self.window.get_or_insert_with(|| Window::new(sequence));
        self.post_repair.2 = if self.post_repair.2 == 0 { sequence } else { self.post_repair.2 };
        let produced = self.timeline.produced(header.timestamp).min(now);
        let (kept, given_up) = window.insert(now, sequence, adu, produced, Origin::Path);
        counts.sources += 1;
        counts.residual += given_up;
        match kept {
            Kept::New if self.hello.repair => self.decoder.on_source(now, sequence, id, window),
            Kept::New => {}
            Kept::Duplicate => counts.duplicates += 1,
            Kept::Late => counts.late += 1,
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
        counts.repairs += 1;
        // Before the first source packet there is nothing to repair in order.
        let (Some(window), Some(sources)) = (&self.window, &self.arrivals[0]) else { return Ok(()) };
        let bounds = bounds.map(|bounds| (bounds, sources.highest()));
        self.decoder.on_repair(now, id, symbol, bounds, window);
        Ok(())
    }

    /// Puts a recovered packet in its place, if it is one: corrupted symbols recover anything.
    fn on_recovered(&mut self, now: Time, adui: &[u8], counts: &mut Counts) {
        let Ok(Adui { flow: 0, adu }) = Adui::parse(adui) else { return };
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
        counts.recovered += u64::from(kept == Kept::New);
    }

    fn patience(&self) -> Span {
        patience(self.timeline.round_trip())
    }

    /// When a report is due.
    pub(super) fn feedback_due(&self) -> Option<Time> {
        let fresh: usize = self.arrivals.iter().flatten().map(|arrivals| arrivals.fresh).sum();
        match fresh {
            // The sender learns from it that we are still here, and where.
            0 => self.goodbye.is_none().then_some(self.report_at + IDLE),
            EARLY.. => Some(Time::ZERO),
            _ => Some(self.report_at),
        }
    }

    /// How often the sender wants reports.
    pub(super) fn interval(&self) -> Span {
        self.hello.interval.clamp(*INTERVALS.start(), *INTERVALS.end())
    }

    /// When something is to be done next.
    pub(super) fn next(&self, latency: Span, playout: Playout) -> Time {
        let head = self
            .window
            .as_ref()
            .and_then(Window::head)
            .map(|head| if self.is_full() { Time::ZERO } else { self.due(&head, latency, playout) });
        let silence = (!self.silent).then_some(self.heard + SILENCE);
        let end = self.goodbye.map(|goodbye| goodbye + self.patience());
        let end = end.filter(|_| head.is_none());
        let waits = [head, silence, end, self.feedback_due(), self.address.next(), Some(self.gone_at())];
        waits.into_iter().flatten().chain([self.full_report_at]).min().unwrap_or(self.full_report_at)
    }

    /// How the stream ends now, if it does: its sender has said goodbye and nothing waits any more, or it is gone.
    pub(super) fn ending(&self, now: Time) -> Option<Ending> {
        let late = self.goodbye.is_some_and(|goodbye| goodbye + self.patience() <= now);
        if late && self.window.as_ref().and_then(Window::head).is_none() {
            return Some(Ending::Bye);
        }
        (self.gone_at() <= now).then_some(Ending::Silent)
    }

    fn gone_at(&self) -> Time {
        self.alive.max(self.heard) + GONE
    }

    /// Whether the stream falls silent now.
    pub(super) fn falls_silent(&mut self, now: Time) -> bool {
        let falls = !self.silent && now.since(self.heard) >= SILENCE;
        self.silent |= falls;
        falls
    }

    /// Forgets what no packet needs any more.
    pub(super) fn forget(&mut self, now: Time, latency: Span) {
        let keep = if self.hello.repair { latency } else { Span::ZERO };
        if let Some(window) = &mut self.window {
            window.forget(now - keep);
        }
        self.decoder.forget(now - latency);
    }
}

/// The code works on whole RTP packets; those of a Thalweg sender have only the fixed header.
fn check_layout(packet: &[u8]) -> Result<(), Error> {
    let payload = rtp::Packet::parse(packet)?.payload.len();
    if payload + rtp::HEADER_LEN == packet.len() { Ok(()) } else { Err(Error::Malformed) }
}
