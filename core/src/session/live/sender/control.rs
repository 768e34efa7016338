//! What a sender says in RTCP, and what it hears.

use core::net::SocketAddr;

use super::Sender;
use super::history::Stream;
use super::peer::{Change, Word};
use super::reports::Reports;
use crate::session::live::sender::Event;
use crate::session::live::{Media, cname, patience};
use crate::time::{Span, Time};
use crate::wire::Error;
use crate::wire::feedback::Feedback;
use crate::wire::hello::{self, Answer, Hello};
use crate::wire::ntp::NtpTime;
use crate::wire::rtcp::{App, Compound, Full, Goodbye, Packet, Report, SenderInfo, Source, Writer};
use crate::wire::rtp;
use crate::wire::sequence::nearest;

impl Sender {
    /// A compound packet of sender report, name and hello, or goodbye if `goodbye`.
    pub(super) fn emit_control(&self, now: Time, to: SocketAddr, goodbye: bool, buf: &mut [u8]) -> Result<usize, Full> {
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
        if goodbye {
            writer.push(&Goodbye { sources: &[ssrc, self.repair.ssrc].map(u32::to_be_bytes), reason: b"" })?;
        } else {
            let data = self.hello(now, to).emit();
            writer.push(&App { subtype: Hello::SUBTYPE, ssrc, name: hello::NAME, data: &data })?;
        }
        Ok(writer.len())
    }

    fn hello(&self, now: Time, to: SocketAddr) -> Hello {
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
            token: self.peer.token(to),
            echo: self.peer.echo(),
        }
    }

    /// Takes a datagram of RTCP.
    pub(super) fn on_control(&mut self, now: Time, from: SocketAddr, bytes: &[u8]) -> Result<(), Error> {
        for frame in Compound::parse(bytes)?.frames() {
            match Packet::parse(frame)? {
                Packet::App(App { subtype: Answer::SUBTYPE, ssrc, name: hello::NAME, data }) => {
                    self.on_answer(now, from, ssrc, &Answer::parse(data)?);
                }
                Packet::Feedback(feedback) => self.on_feedback(now, from, &feedback),
                Packet::Report(report) => self.on_receiver_report(now, from, &report),
                Packet::Goodbye(goodbye) if self.peer.is_goodbye(from, &goodbye) => self.fall_silent(),
                _ => {}
            }
        }
        Ok(())
    }

    fn on_answer(&mut self, now: Time, from: SocketAddr, ssrc: u32, answer: &Answer) {
        let was_busy = self.peer.is_busy();
        let change = self.peer.on_answer(now, from, ssrc, answer);
        if self.peer.is_busy() && !was_busy && self.peer.knocking_since().is_some() {
            self.events.push_back(Event::Busy);
        }
        self.fit_latency();
        let to = self.peer.to();
        match change {
            Some(Change::Connected) => {
                // Another receiver counts its reports by another clock.
                self.reports = Reports::default();
                self.events.push_back(Event::Connected { to, latency: self.latency() });
            }
            Some(Change::Moved) => self.events.push_back(Event::Moved { to }),
            Some(Change::Refused) => self.fall_silent(),
            None => {}
        }
    }

    fn on_feedback(&mut self, now: Time, from: SocketAddr, feedback: &Feedback<'_>) {
        if !self.believes(now, from, feedback.sender_ssrc) || !self.reports.is_news(now, feedback.timestamp) {
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

    /// Whether a report of receiver `ssrc` is to be believed.
    pub(super) fn believes(&mut self, now: Time, from: SocketAddr, ssrc: u32) -> bool {
        let word = self.peer.on_report(now, from, ssrc);
        if word == Word::Back {
            self.events.push_back(Event::Connected { to: from, latency: self.latency() });
        }
        word != Word::Strange
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
