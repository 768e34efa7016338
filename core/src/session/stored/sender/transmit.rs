//! Packets of media: their pace, and their bytes.

use super::due::Next;
use super::resends::Lost;
use super::{LATENESS, Sender};
use crate::session::stored::Media;
use crate::time::{Span, Time};
use crate::wire::rtp::Header;
use crate::wire::stored::{self, FlowControl, Mode, Place};

/// Media time that is taken on when a message is late and all of its period is sent: as short as a period can be.
const EXTENSION: Span = Span::from_millis(100);

/// The time behind the video's own pace from which on packets leave at twice that pace: event loops wake up late, and without
/// control nothing else makes up for it. Ours.
const BEHIND: Span = Span::from_millis(100);

impl<M: Media> Sender<M> {
    /// Writes the next packet of media, if one may leave now.
    pub(super) fn transmit_media(&mut self, now: Time, buf: &mut [u8]) -> Option<usize> {
        let request = self.request.filter(|request| now < request.expires())?;
        if now < self.next || self.is_starved {
            return None;
        }
        self.extend(now);
        let FlowControl { rho, mode, .. } = request.message;
        if mode != Mode::Nominal && rho <= 0.0 {
            return None;
        }
        let nominal = self.nominal_interval(now.since(request.origin.0) + request.origin.1);
        let streams = &self.streams;
        let len = match self.resends.first(|lost| streams[usize::from(lost.track)].place_of(lost.sequence).is_some()) {
            Some(lost) => self.write_resend(lost, buf),
            None => self.due.peek().and_then(|next| self.write(now, &next, buf)),
        }?;
        let interval = match mode {
            Mode::Nominal => nominal,
            _ => Span::from_secs_f64(self.config.unit.of_datagram(len) / rho),
        };
        // A packet that leaves late does not delay those after it, but no more is made up for.
        self.next = (self.next + interval).max(now - LATENESS);
        Some(len)
    }

    /// Writes the next packet that was not sent before.
    fn write(&mut self, now: Time, next: &Next, buf: &mut [u8]) -> Option<usize> {
        let group = (self.request?.message.number as u16).to_be_bytes();
        let place = place(next).emit();
        let elements = stored::elements(&group, &place);
        let head = Header::len(&elements);
        let Some(payload) = self.media.payload(next.index, next.packet, &mut buf[head..]) else {
            self.is_starved = true;
            return None;
        };
        let stream = &mut self.streams[usize::from(next.frame.track)];
        stream.header(next.frame.display, payload.marker).emit(&elements, buf);
        stream.record((next.index, next.packet));
        stream.outbound.on_sent(now, payload.len);
        self.due.pop();
        self.sent += 1;
        Some(head + payload.len)
    }

    /// Writes a retransmission: its payload begins with the sequence number of the original (RFC 4588 §4).
    fn write_resend(&mut self, Lost { track, sequence }: Lost, buf: &mut [u8]) -> Option<usize> {
        let stream = &mut self.streams[usize::from(track)];
        let (index, packet) = stream.place_of(sequence)?;
        let frame = self.media.frame(index)?;
        let group = (self.request?.message.number as u16).to_be_bytes();
        let place = place(&Next { index, frame, packet }).emit();
        let elements = stored::elements(&group, &place);
        let head = Header::len(&elements);
        let Some(payload) = self.media.payload(index, packet, &mut buf[head + 2..]) else {
            self.is_starved = true;
            return None;
        };
        stream.rtx_header(frame.display, payload.marker).emit(&elements, buf);
        buf[head..head + 2].copy_from_slice(&sequence.to_be_bytes());
        self.resends.pop();
        self.resent += 1;
        Some(head + 2 + payload.len)
    }

    /// The time from one packet to the next at the video's pace, by which the media time `due` would be reached: those of a
    /// frame leave evenly within the time to the next.
    fn nominal_interval(&self, due: Span) -> Span {
        let Some(next) = self.due.peek() else { return Span::ZERO };
        let following = self.media.frame(next.index + 1).map_or(next.frame.decode, |frame| frame.decode);
        let pace = if next.frame.decode + BEHIND < due { 2 } else { 1 };
        following.saturating_sub(next.frame.decode).mul_div(1, pace * u64::from(next.frame.packets))
    }

    /// Takes on more frames where the message in force does not suffice, since the next one is late.
    fn extend(&mut self, now: Time) {
        let Some(request) = &mut self.request else { return };
        if request.message.mode == Mode::Nominal {
            self.due.take_on_until(&self.media, request.origin.1 + now.since(request.origin.0));
        } else if now >= request.covered && self.due.peek().is_none() && self.resends.is_empty() {
            request.covered = now + EXTENSION;
            self.due.take_share(&self.media, &request.message, EXTENSION, 0);
        } else {
            return;
        }
        self.groups.extend(&self.due);
    }

    /// The time of the next packet of media, if one will leave.
    pub(super) fn next_media(&self) -> Option<Time> {
        let request = self.request.as_ref().filter(|_| !self.is_starved && self.goodbyes.is_none())?;
        let waits = self.due.peek().is_some() || !self.resends.is_empty();
        match request.message.mode {
            Mode::Nominal if !waits => {
                let frame = self.media.frame(self.due.next())?;
                Some((request.origin.0 + frame.decode.saturating_sub(request.origin.1)).max(self.next))
            }
            Mode::Nominal => Some(self.next),
            _ if request.message.rho <= 0.0 => None,
            _ if waits => Some(self.next),
            _ => (!self.due.is_end()).then_some(self.next.max(request.covered)),
        }
    }
}

/// The place of a packet, for its header.
fn place(next: &Next) -> Place {
    let Next { index, frame, packet } = *next;
    let lead = frame.display.saturating_sub(frame.decode);
    Place { frame: index, packet, packets: frame.packets, class: frame.class, decode: frame.decode, lead }
}
