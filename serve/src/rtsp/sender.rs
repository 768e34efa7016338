//! The sender of a plain stream: the frames of a video at its nominal pace as RTP, with RTCP, without I/O.
//!
//! The caller drives it as a [`Playback`](super::playback::Playback).

mod cursor;
mod play;
mod playback;
mod queue;
mod stream;

use std::net::{IpAddr, SocketAddr};
use std::ops::Range;
use std::sync::Arc;

use thalweg_core::rng::Rng;
use thalweg_core::time::{Span, Time};
use thalweg_core::wire::rtcp::{Compound, Packet, ReportBlock};
use thalweg_core::wire::rtp;

use self::cursor::Cursor;
use self::play::Play;
use self::stream::Stream;
use super::playback::{End, Route, Transmit};
use super::stored::Stored;
use super::transport::Delivery;
use crate::catalog::frames::{Frame, Kind};

/// Time by which a packet may leave early, so that several leave at each turn. Turns are at its multiples, the same ones for all
/// viewers: with 20 viewers of 1.2 Mb/s a third of the CPU time went into waking up for one packet. A longer time would send
/// more than ten packets of a viewer of 10 Mb/s at once (RFC 9002 §7.7).
const SLACK: Span = Span::from_millis(6);

/// The frame that a packet belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct FrameTag {
    /// The place of the frame in its track.
    pub(crate) place: usize,
    pub(crate) kind: Kind,
    pub(crate) is_audio: bool,
    /// The duration of the frame.
    pub(crate) length: Span,
}

impl FrameTag {
    /// True if both are of the same frame.
    pub(crate) fn is_same(self, other: FrameTag) -> bool {
        (self.is_audio, self.place) == (other.is_audio, other.place)
    }
}

/// The start of a play, for the response.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Started {
    /// The range that is played.
    range: (Span, Span),
    /// Of each stream, its track, the number of the first packet, and the timestamp of the start.
    streams: Vec<(usize, u16, u32)>,
}

/// A sender of one video to one client.
#[derive(Debug)]
pub(crate) struct Sender {
    stored: Arc<Stored>,
    /// The address of the client.
    peer: IpAddr,
    streams: Vec<Stream>,
    rng: Rng,
    /// The number of the play; frames read for an earlier one are dropped.
    play: u64,
    playing: Option<Play>,
    /// Time at which the play was paused.
    paused: Option<Time>,
    ended: Option<End>,
    /// The streams that are to say goodbye, after a play that was broken off: the player must not wait.
    partings: Range<usize>,
}

impl Sender {
    pub(crate) fn new(stored: Arc<Stored>, peer: IpAddr, rng: Rng) -> Sender {
        let (streams, partings) = (Vec::new(), 0..0);
        Sender { stored, peer, streams, rng, play: 0, playing: None, paused: None, ended: None, partings }
    }

    /// Adds the stream of a track, which must exist, or changes its delivery.
    fn add(&mut self, number: usize, delivery: Delivery) -> Option<&Stream> {
        let track = self.stored.track(number)?;
        let stream = Stream::new(number, track, delivery, &mut self.rng);
        self.streams.retain(|other| other.track != number);
        self.streams.push(stream);
        self.streams.last()
    }

    /// Begins at `from`, or at the random access point before it.
    fn start(&mut self, now: Time, from: Span, until: Option<Span>) -> Started {
        let cursor = Cursor::new(&self.stored, self.streams.iter().map(|stream| stream.track), from, until);
        // No other play of this connection has the number, also of an earlier session.
        self.play = self.rng.u64();
        self.partings = 0..0;
        self.paused = None;
        self.ended = None;
        let until = until.unwrap_or(self.stored.length).min(self.stored.length);
        self.streams.iter_mut().for_each(|stream| stream.begin(now));
        let from = cursor.from();
        self.playing = Some(Play::new(now, cursor, until));
        self.started(from, Span::ZERO, until)
    }

    /// Goes on where a play was paused; none if there is none.
    fn resume(&mut self, now: Time) -> Option<Started> {
        let play = self.playing.as_mut()?;
        if let Some(paused) = self.paused.take() {
            play.since += now.since(paused);
        }
        let (after, until, from) = (now.since(play.since), play.until, play.cursor.from());
        Some(self.started(from + after, after, until))
    }

    fn started(&self, from: Span, after: Span, until: Span) -> Started {
        let stream = |stream: &Stream| (stream.track, stream.next_sequence(), stream.timestamp_after(after));
        Started { range: (from, until.max(from)), streams: self.streams.iter().map(stream).collect() }
    }

    /// Takes an RTCP packet of the client; true if it reports about one of the streams.
    fn on_rtcp(&mut self, now: Time, bytes: &[u8]) -> bool {
        let Ok(compound) = Compound::parse(bytes) else { return false };
        let mut is_ours = false;
        for packet in compound.frames().filter_map(|frame| Packet::parse(frame).ok()) {
            if let Packet::Report(report) = packet {
                for block in report.blocks() {
                    is_ours |= self.on_report(now, &block);
                }
            }
        }
        is_ours
    }

    /// Takes a report about one stream; true if it is one of these.
    fn on_report(&mut self, now: Time, block: &ReportBlock) -> bool {
        let Some(stream) = self.streams.iter_mut().find(|stream| stream.ssrc == block.ssrc) else { return false };
        stream.outbound.on_report(now, block);
        true
    }

    fn report(&mut self, now: Time, nth: usize, is_end: bool, buf: &mut [u8]) -> Option<Transmit> {
        let since = self.playing.as_ref()?.since;
        let len = self.streams[nth].report(now, since, is_end, &mut self.rng, buf);
        Some(Transmit { route: self.route(nth, true), len, frame: None })
    }

    fn media(&mut self, now: Time, buf: &mut [u8]) -> Option<Transmit> {
        let play = self.playing.as_mut()?;
        let from = play.cursor.from();
        let queue = play.due(now + SLACK)?;
        let (due, bytes) = queue.front()?;
        let (due, track) = (*due, self.stored.track(due.track)?);
        let entry: &Frame = track.frames.get(due.place)?;
        if !queue.has_begun() {
            let Some(payloads) = self.stored.packetize(due.track, bytes) else {
                self.break_off(End::Changed);
                return self.part(now, buf);
            };
            queue.begin(payloads);
        }
        let nth = self.streams.iter().position(|stream| stream.track == due.track)?;
        let stream = &mut self.streams[nth];
        let (mut len, mut frame) = (0, None);
        if let (Some(payload), Some((_, bytes))) = (queue.payload(), queue.front()) {
            let timestamp = stream.timestamp(entry.display(), from);
            let header = stream.header(now, timestamp, payload.marker, payload.payload_len());
            len = header.emit(&[], buf);
            len += payload.emit(bytes, &mut buf[rtp::HEADER_LEN..]);
            let is_audio = due.track > 0;
            frame = Some(FrameTag { place: due.place, kind: entry.kind, is_audio, length: due.length });
        }
        if let Some(sent) = queue.advance() {
            play.end = play.end.max(sent.end);
        }
        Some(Transmit { route: self.route(nth, false), len, frame })
    }

    fn finish(&mut self, end: End) {
        self.playing = None;
        self.paused = None;
        self.ended = Some(end);
    }

    /// Ends the play with a goodbye in each stream.
    fn break_off(&mut self, end: End) {
        self.finish(end);
        self.partings = 0..self.streams.len();
    }

    /// Writes the next goodbye of a play that was broken off.
    fn part(&mut self, now: Time, buf: &mut [u8]) -> Option<Transmit> {
        let nth = self.partings.next()?;
        let len = self.streams.get_mut(nth)?.report(now, now, true, &mut self.rng, buf);
        Some(Transmit { route: self.route(nth, true), len, frame: None })
    }

    /// The way of the packets of a stream, or of its reports.
    fn route(&self, nth: usize, is_rtcp: bool) -> Route {
        match (self.streams[nth].delivery, is_rtcp) {
            (Delivery::Udp { rtp, .. }, false) => Route::Rtp(SocketAddr::new(self.peer, rtp)),
            (Delivery::Udp { rtcp, .. }, true) => Route::Rtcp(SocketAddr::new(self.peer, rtcp)),
            (Delivery::Interleaved { rtp, .. }, false) => Route::Channel(rtp),
            (Delivery::Interleaved { rtcp, .. }, true) => Route::Channel(rtcp),
        }
    }
}

#[cfg(test)]
mod tests;
