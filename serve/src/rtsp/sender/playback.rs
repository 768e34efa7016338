//! A plain stream as its connection drives it.

use std::sync::Arc;

use thalweg_core::time::{Span, Time};
use thalweg_core::wire::npt::NptRange;
use thalweg_rtsp::message::{Fields, Response};
use thalweg_rtsp::transport::Transport;

use super::{SLACK, Sender, Started};
use crate::rtsp::describe::control;
use crate::rtsp::playback::{Arrival, Claim, End, Playback, Transmit};
use crate::rtsp::reading::{Batch, Wanted};
use crate::rtsp::stored::Stored;
use crate::rtsp::transport::Delivery;

impl Playback for Sender {
    fn stored(&self) -> &Arc<Stored> {
        &self.stored
    }

    fn set_up(&mut self, track: usize, delivery: Delivery, server_ports: (u16, u16)) -> Result<Fields, Response> {
        if self.streams.iter().any(|stream| clashes(stream.delivery, delivery) && stream.track != track) {
            let why = "another track has these ports or channels, or another kind of transport";
            return Err(Response::refusal(461, why));
        }
        let Some(stream) = self.add(track, delivery) else { return Err(Response::new(500)) };
        let ssrc = Some(stream.ssrc);
        let mut fields = Fields::default();
        fields.push("Transport", Transport { ssrc, ..delivery.chosen(server_ports) });
        Ok(fields)
    }

    fn tracks(&self) -> usize {
        self.streams.len()
    }

    fn is_interleaved(&self) -> bool {
        self.streams.iter().any(|stream| matches!(stream.delivery, Delivery::Interleaved { .. }))
    }

    fn play(&mut self, now: Time, range: Option<NptRange>, base: &str) -> Fields {
        let started = match range {
            Some(NptRange { start: Some(start), end }) => self.start(now, start, end),
            // From the present position; after the end of the video, and at first, from its start.
            _ => match self.resume(now) {
                Some(started) => started,
                None => self.start(now, Span::ZERO, range.and_then(|range| range.end)),
            },
        };
        let (start, end) = started.range;
        let mut fields = Fields::default();
        fields.push("Range", NptRange { start: Some(start), end: Some(end) });
        fields.push("RTP-Info", rtp_info(&started, base));
        fields
    }

    fn pause(&mut self, now: Time) {
        if self.is_playing() {
            self.paused = Some(now);
            self.streams.iter_mut().for_each(|stream| stream.outbound.cease());
        }
    }

    fn is_playing(&self) -> bool {
        self.playing.is_some() && self.paused.is_none()
    }

    fn claims(&self) -> Vec<Claim> {
        self.streams.iter().map(|stream| Claim::Stream(stream.ssrc)).collect()
    }

    fn handle(&mut self, now: Time, arrival: &Arrival) -> bool {
        match arrival {
            Arrival::Report(block) => self.on_report(now, block),
            Arrival::Interleaved(bytes) => self.on_rtcp(now, bytes),
            Arrival::Datagram { .. } => false,
        }
    }

    fn wanted(&mut self) -> Option<Wanted> {
        let play = self.playing.as_mut()?;
        play.wanted(&self.stored, self.play)
    }

    fn supply(&mut self, batch: Option<Batch>) {
        match (batch, &mut self.playing) {
            (Some(batch), Some(play)) if batch.play == self.play => play.supply(batch.frames),
            (Some(_), _) => {}
            (None, _) => self.break_off(End::Changed),
        }
    }

    fn poll_transmit(&mut self, now: Time, buf: &mut [u8]) -> Option<Transmit> {
        if !self.is_playing() {
            return self.part(now, buf);
        }
        if let Some(nth) = self.streams.iter().position(|stream| stream.outbound.next_report() <= now) {
            if let Some(cause) = self.streams[nth].outbound.verdict(now) {
                self.break_off(End::Breaker(cause));
                return self.part(now, buf);
            }
            return self.report(now, nth, false, buf);
        }
        let play = self.playing.as_mut()?;
        if play.goodbye().is_some_and(|at| at <= now) {
            // One goodbye each: ffmpeg ends once it has those of all streams.
            let nth = play.goodbyes;
            if nth == self.streams.len() {
                self.finish(End::Complete);
                return None;
            }
            play.goodbyes += 1;
            return self.report(now, nth, true, buf);
        }
        self.media(now, buf)
    }

    fn poll_timeout(&self) -> Option<Time> {
        let play = self.playing.as_ref().filter(|_| self.paused.is_none())?;
        let report = self.streams.iter().map(|stream| stream.outbound.next_report()).min()?;
        let turn = |due: Time| Time::from_nanos(due.as_nanos() / SLACK.as_nanos() * SLACK.as_nanos());
        let media = play.next_packet().map(turn).or_else(|| play.goodbye());
        Some(media.map_or(report, |media| media.min(report)))
    }

    fn poll_end(&mut self) -> Option<End> {
        self.ended.take()
    }
}

/// True if two tracks cannot have these transports at once.
fn clashes(one: Delivery, other: Delivery) -> bool {
    match (one, other) {
        (Delivery::Udp { rtp, rtcp }, Delivery::Udp { rtp: other_rtp, rtcp: other_rtcp }) => {
            rtp == other_rtp || rtcp == other_rtcp
        }
        (Delivery::Interleaved { rtp, rtcp }, Delivery::Interleaved { rtp: other_rtp, rtcp: other_rtcp }) => {
            [other_rtp, other_rtcp].iter().any(|channel| [rtp, rtcp].contains(channel))
        }
        _ => true,
    }
}

fn rtp_info(started: &Started, base: &str) -> String {
    let stream = |&(track, sequence, timestamp): &(usize, u16, u32)| {
        format!("url={base}/{};seq={sequence};rtptime={timestamp}", control(track))
    };
    started.streams.iter().map(stream).collect::<Vec<_>>().join(",")
}
