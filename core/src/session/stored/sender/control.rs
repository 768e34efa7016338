//! Control messages of a sender: probes and flow control messages in, echoes and reports out.

use core::net::SocketAddr;

use super::resends::Lost;
use super::{Event, Request, Sender, Stream};
use crate::session::Transmit;
use crate::session::rtp::cname;
use crate::session::stored::Media;
use crate::time::{Span, Time};
use crate::wire;
use crate::wire::rtcp::{App, Compound, Goodbye, Packet, Writer};
use crate::wire::stored::{Echo, FlowControl, Message, Mode, NAME};

/// The answers to probes that wait at most: a receiver sends ten.
const MAX_ECHOES: usize = 16;

impl<M: Media> Sender<M> {
    pub(super) fn on_control(&mut self, now: Time, from: SocketAddr, bytes: &[u8]) -> Result<(), wire::Error> {
        let compound = Compound::parse(bytes)?;
        let mut flow_control = None;
        let mut lost = Vec::new();
        for frame in compound.frames() {
            match Packet::parse(frame)? {
                Packet::App(app) => match Message::parse(&app)? {
                    Some(Message::Probe(probe)) if probe.key == self.config.key => {
                        self.echoes.push_back((from, probe.number));
                        self.echoes.truncate(MAX_ECHOES);
                    }
                    Some(Message::FlowControl(message)) if message.token == self.token(from) => {
                        flow_control = Some(message);
                    }
                    Some(_) => return Err(wire::Error::Forged),
                    None => {}
                },
                Packet::Nack(nack) => {
                    if let Some(track) = self.streams.iter().position(|stream| stream.ssrc == nack.media_ssrc) {
                        lost.extend(nack.sequences().map(|sequence| Lost { track: track as u8, sequence }));
                    }
                }
                Packet::Report(report) if Some(from) == self.peer => {
                    for block in report.blocks() {
                        let stream = self.streams.iter_mut().find(|stream| stream.ssrc == block.ssrc);
                        stream.into_iter().for_each(|stream| stream.outbound.on_report(now, &block));
                    }
                }
                Packet::Goodbye(_) if Some(from) == self.peer => {
                    self.events.push_back(Event::Ended);
                    self.goodbyes = Some(0);
                }
                _ => {}
            }
        }
        if let Some(message) = flow_control {
            self.on_flow_control(now, from, message, lost);
        }
        Ok(())
    }

    fn token(&self, address: SocketAddr) -> u64 {
        self.tokens.of(address, &[self.config.key])
    }

    /// Applies a message. One that is older than the last is ignored; a repetition is answered, but asks for nothing new.
    fn on_flow_control(&mut self, now: Time, from: SocketAddr, message: FlowControl, lost: Vec<Lost>) {
        let newest = self.groups.newest();
        if newest.is_some_and(|newest| message.number < newest) {
            return;
        }
        self.is_report_due = true;
        if self.peer != Some(from) {
            self.peer = Some(from);
            self.events.push_back(Event::Started { to: from });
        }
        self.forget(message.playout);
        let asked = self.resend(lost);
        if newest == Some(message.number) {
            if let Some(request) = &mut self.request {
                request.received = now;
            }
            return;
        }
        let start = self.media.frame(self.due.next()).map_or(Span::ZERO, |frame| frame.decode);
        let origin = self.request.map_or((now, start), |request| request.origin);
        self.request = Some(Request { message, received: now, covered: now + message.period, origin });
        self.groups.begin(message.number, &self.due, self.streams.iter().map(Stream::next));
        if message.mode != Mode::Nominal {
            self.due.take_share(&self.media, &message, message.period, asked);
        }
        self.groups.extend(&self.due);
    }

    /// Plans retransmissions of packets that are still known; returns their number.
    fn resend(&mut self, lost: Vec<Lost>) -> usize {
        let Sender { streams, resends, .. } = self;
        let is_known = |lost: &Lost| streams[usize::from(lost.track)].place_of(lost.sequence).is_some();
        lost.into_iter().filter(is_known).filter(|lost| resends.push(*lost)).count()
    }

    /// Forgets packets of frames that are displayed before `playout`. Controls that send late frames too have zero here.
    fn forget(&mut self, playout: Span) {
        let Sender { media, streams, .. } = self;
        let is_over = |frame| media.frame(frame).is_some_and(|frame| frame.display < playout);
        streams.iter_mut().for_each(|stream| stream.forget(is_over));
    }

    /// Writes the control packet that is due, if any.
    pub(super) fn transmit_control(&mut self, now: Time, buf: &mut [u8]) -> Option<Transmit> {
        let mut writer = Writer::new(buf);
        let ssrc = self.ssrc;
        if let Some((to, number)) = self.echoes.pop_front() {
            let (subtype, data) = Message::Echo(Echo { token: self.token(to), number }).emit();
            writer.push(&App { subtype, ssrc, name: NAME, data: &data }).ok()?;
            return Some(Transmit { to, len: writer.len() });
        }
        let to = self.peer?;
        if let Some(left @ 1..) = self.goodbyes {
            self.goodbyes = Some(left - 1);
            let sources: Vec<[u8; 4]> = self.streams.iter().map(|stream| stream.ssrc.to_be_bytes()).collect();
            writer.push(&Goodbye { sources: &sources, reason: b"" }).ok()?;
            return Some(Transmit { to, len: writer.len() });
        }
        if core::mem::take(&mut self.is_report_due) {
            // Older reports are left out where a datagram has no space for them.
            for (subtype, data) in self.groups.reports(&self.due) {
                let _ = writer.push(&App { subtype, ssrc, name: NAME, data: &data });
            }
            return (!writer.is_empty()).then(|| Transmit { to, len: writer.len() });
        }
        // A receiver that is silent has paused.
        self.request?;
        let media_time = self.due.media_time();
        let stream = self.streams.iter_mut().find(|stream| stream.outbound.next_report() <= now)?;
        // Deviation(RFC 3550 §6.4.1): stored media has no sampling instant. The timestamp is that of the position in the
        // video; a receiver takes times from the places of packets.
        let timestamp = stream.timestamp_of(media_time);
        stream.outbound.write_report(now, timestamp, &cname(ssrc), &mut self.reports, &mut writer).ok()?;
        Some(Transmit { to, len: writer.len() })
    }
}
