//! What a sender says in RTCP, and what it hears.

use core::net::SocketAddr;

use super::Sender;
use super::history::Stream;
use super::peer::{Call, Change, Word};
use super::reports::Reports;
use crate::session::live::sender::Event;
use crate::session::live::{End, Ending, Media, cname, patience};
use crate::time::{Span, Time};
use crate::wire::Error;
use crate::wire::feedback::Feedback;
use crate::wire::hello::{self, Answer, Challenge, Hello, Refusal};
use crate::wire::ntp::NtpTime;
use crate::wire::rtcp::{App, Compound, Full, Goodbye, Packet, Report, SenderInfo, Source, Writer};
use crate::wire::rtp;
use crate::wire::sequence::nearest;

/// A datagram of control: its source, its length, and whether it is under the receiver's secret.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Origin {
    from: SocketAddr,
    len: usize,
    is_proved: bool,
}

impl Sender {
    /// A compound packet of sender report, name and the hello of `call`, or a goodbye without one; under the secret,
    /// where there is one.
    pub(super) fn emit_control(&self, now: Time, call: Option<Call>, buf: &mut [u8]) -> Result<usize, Full> {
        let len = self.emit_words(now, call, buf)?;
        match self.peer.secret() {
            Some(secret) => secret.prove(End::Sender, self.source.ssrc, buf, len),
            None => Ok(len),
        }
    }

    fn emit_words(&self, now: Time, call: Option<Call>, buf: &mut [u8]) -> Result<usize, Full> {
        let ssrc = self.source.ssrc;
        let mut writer = Writer::new(buf);
        let sender = SenderInfo {
            ntp: NtpTime::from(now),
            rtp: self.timestamp(now),
            packets: self.counts.sources as u32,
            octets: self.counts.source_bytes as u32,
        };
        writer.push(&Report { ssrc, sender: Some(sender), raw_blocks: &[] })?;
        writer.push(&Source { ssrc, cname: cname(ssrc).as_bytes() })?;
        if let Some(call) = call {
            let data = self.hello(now, call).emit();
            writer.push(&App { subtype: Hello::SUBTYPE, ssrc, name: hello::NAME, data: &data })?;
        } else {
            writer.push(&Goodbye { sources: &[ssrc, self.repair.ssrc].map(u32::to_be_bytes), reason: b"" })?;
        }
        Ok(writer.len())
    }

    fn hello(&self, now: Time, call: Call) -> Hello {
        Hello {
            mp2t: self.config.media == Media::Mp2t,
            payload_ids: self.has_payload_ids(),
            repair: !self.protection.is_none(),
            payload_types: [self.source.payload_type, self.repair.payload_type],
            repair_ssrc: self.repair.ssrc,
            latency: self.config.latency,
            round_trip: self.peer.round_trip().unwrap_or(Span::ZERO),
            spread: self.protection.spread(),
            interval: self.protection.interval(),
            stamp: (now.as_nanos() / 1_000) as u32,
            token: call.token,
            echo: call.echo,
            half: call.half,
        }
    }

    /// Takes a datagram of RTCP.
    pub(super) fn on_control(&mut self, now: Time, from: SocketAddr, bytes: &[u8]) -> Result<(), Error> {
        let origin = Origin { from, len: bytes.len(), is_proved: self.peer.is_proved(bytes) };
        for frame in Compound::parse(bytes)?.frames() {
            match Packet::parse(frame)? {
                Packet::App(App { subtype, ssrc, name: hello::NAME, data }) => match subtype {
                    Answer::SUBTYPE => self.on_answer(now, from, (ssrc, &Answer::parse(data)?), bytes),
                    Challenge::SUBTYPE => self.peer.on_challenge(now, from, Challenge::parse(data)?),
                    Refusal::SUBTYPE => self.on_refusal(now, from, &Refusal::parse(data)?),
                    _ => {}
                },
                Packet::Feedback(feedback) => self.on_feedback(now, origin, &feedback),
                Packet::Report(report) => self.on_receiver_report(now, origin, &report),
                Packet::Goodbye(goodbye) if self.peer.is_goodbye(from, &goodbye, origin.is_proved) => {
                    self.peer.forget();
                    self.fall_silent(Event::Left);
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn on_refusal(&mut self, now: Time, from: SocketAddr, refusal: &Refusal) {
        if self.peer.is_refused(from, refusal) {
            self.part(now, Ending::Version(refusal.version));
        }
    }

    fn on_answer(&mut self, now: Time, from: SocketAddr, answer: (u32, &Answer), datagram: &[u8]) {
        let was_busy = self.peer.is_busy();
        let change = self.peer.on_answer(now, from, answer, datagram);
        if self.peer.is_busy() && !was_busy && self.peer.knocking_since().is_some() {
            self.events.push_back(Event::Busy);
        }
        let to = self.peer.to();
        match change {
            Some(Change::Connected) => {
                // Another receiver counts its reports by another clock.
                self.reports = Reports::default();
                self.restart_breaker();
                self.events.push_back(Event::Connected { to, latency: self.latency() });
            }
            Some(Change::Moved) => self.events.push_back(Event::Moved { to }),
            Some(Change::Refused) => self.fall_silent(Event::Silent),
            None => {}
        }
        self.fit_latency();
    }

    fn on_feedback(&mut self, now: Time, origin: Origin, feedback: &Feedback<'_>) {
        if !self.believes(now, origin, feedback.sender_ssrc) {
            return;
        }
        if !self.reports.is_news(now, feedback.timestamp) {
            self.counts.rejected += 1;
            return;
        }
        for block in feedback.streams() {
            let stream = match block.ssrc {
                ssrc if ssrc == self.source.ssrc => Stream::Source,
                ssrc if ssrc == self.repair.ssrc => Stream::Repair,
                _ => continue,
            };
            let Some(last) = self.history.last(stream) else { continue };
            for (sequence, arrival) in block.reports() {
                let held = arrival.map(|arrival| arrival.offset.to_span().unwrap_or(Span::ZERO));
                self.history.reported(now, stream, nearest::<16>(last, sequence.into()), held);
            }
        }
        if self.reports.are_due(now, self.protection.interval()) {
            self.settle(now);
        }
    }

    /// Returns whether a regular report of receiver `ssrc` is to be believed. Receivers that know no hello show no
    /// secret: those of plain RTP are taken at the word of the destination's host, or of anybody where that is a group.
    pub(super) fn believes_report(&mut self, now: Time, origin: Origin, ssrc: u32) -> bool {
        let to = self.config.to.ip();
        let is_plain = self.is_plain() && self.peer.secret().is_none();
        is_plain && (to.is_multicast() || to == origin.from.ip()) || self.believes(now, origin, ssrc)
    }

    fn believes(&mut self, now: Time, Origin { from, len, is_proved }: Origin, ssrc: u32) -> bool {
        match self.peer.on_report(now, from, len, ssrc, is_proved) {
            Word::Strange => self.counts.rejected += 1,
            Word::Astray => self.counts.stray += 1,
            Word::Known => return true,
            Word::Back => {
                self.restart_breaker();
                self.events.push_back(Event::Connected { to: from, latency: self.latency() });
                return true;
            }
        }
        false
    }

    fn settle(&mut self, now: Time) {
        let patience = patience(self.peer.round_trip().unwrap_or(Span::ZERO));
        let settled = self.history.settle(now, patience);
        self.counts.lost += u64::from(settled.lost);
        self.counts.delivered += u64::from(settled.delivered);
        self.protection.on_report(now, settled.lost, settled.delivered, settled.round_trip);
        self.brake(now, &settled);
    }

    /// The RTP timestamp of `now`.
    pub(super) fn timestamp(&self, now: Time) -> u32 {
        rtp::timestamp(now).wrapping_add(self.timestamp_base)
    }
}
