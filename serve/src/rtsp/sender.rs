//! The sender of a plain stream: the frames of a video at its nominal pace as RTP, with RTCP, without I/O.
//!
//! The caller reads the frames that [`Sender::wanted`] names, gives them to [`Sender::supply`], and sends what
//! [`Sender::poll_transmit`] writes, at the times of [`Sender::poll_timeout`].

mod cursor;
mod play;
mod queue;
mod stream;

use std::sync::Arc;

use thalweg_core::law::breaker::Cause;
use thalweg_core::rng::Rng;
use thalweg_core::time::{Span, Time};
use thalweg_core::wire::rtcp::{Compound, Packet, ReportBlock};
use thalweg_core::wire::rtp;

use self::cursor::Cursor;
use self::play::Play;
pub(crate) use self::play::{Batch, Wanted};
pub(crate) use self::stream::Stream;
use super::stored::Stored;
use crate::catalog::frames::{Frame, Kind};

/// The longest payload of a packet: within 1500 bytes with the headers of RTP, UDP and IPv6.
const PAYLOAD: usize = 1400;
/// Time by which a packet may leave early, so that several leave at each turn.
const SLACK: Span = Span::from_millis(4);

/// A datagram or an interleaved packet that is to be sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transmit {
    /// The stream, in the order of their setup.
    pub(crate) stream: usize,
    pub(crate) len: usize,
    /// The frame of an RTP packet; none of an RTCP packet.
    pub(crate) frame: Option<FrameTag>,
}

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
pub(crate) struct Started {
    /// The range that is played.
    pub(crate) range: (Span, Span),
    /// Of each stream, its track, the number of the first packet, and the timestamp of the start.
    pub(crate) streams: Vec<(usize, u16, u32)>,
}

/// The reason that a play has ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum End {
    /// The video is over.
    Complete,
    /// A breaker of RFC 8083 has opened.
    Breaker(Cause),
    /// The file is not what it was.
    Changed,
}

/// A sender of one video to one client.
#[derive(Debug)]
pub(crate) struct Sender {
    stored: Arc<Stored>,
    streams: Vec<Stream>,
    rng: Rng,
    /// The number of the play; frames read for an earlier one are dropped.
    play: u64,
    playing: Option<Play>,
    /// Time at which the play was paused.
    paused: Option<Time>,
    ended: Option<End>,
}

impl Sender {
    pub(crate) fn new(stored: Arc<Stored>, rng: Rng) -> Sender {
        Sender { stored, streams: Vec::new(), rng, play: 0, playing: None, paused: None, ended: None }
    }

    /// Adds the stream of a track, which must exist, or changes its delivery.
    pub(crate) fn add(&mut self, number: usize, delivery: super::transport::Delivery) -> Option<&Stream> {
        let track = self.stored.track(number)?;
        let stream = Stream::new(number, track, delivery, &mut self.rng);
        self.streams.retain(|other| other.track != number);
        self.streams.push(stream);
        self.streams.last()
    }

    pub(crate) fn streams(&self) -> &[Stream] {
        &self.streams
    }

    pub(crate) fn stored(&self) -> &Arc<Stored> {
        &self.stored
    }

    /// True if packets are being sent.
    pub(crate) fn is_playing(&self) -> bool {
        self.playing.is_some() && self.paused.is_none()
    }

    /// Begins at `from`, or at the random access point before it.
    pub(crate) fn start(&mut self, now: Time, from: Span, until: Option<Span>) -> Started {
        let cursor = Cursor::new(&self.stored, self.streams.iter().map(|stream| stream.track), from, until);
        self.play += 1;
        self.paused = None;
        self.ended = None;
        let until = until.unwrap_or(self.stored.length).min(self.stored.length);
        self.streams.iter_mut().for_each(|stream| stream.begin(now));
        let from = cursor.from();
        self.playing = Some(Play::new(now, cursor, until));
        self.started(from, Span::ZERO, until)
    }

    /// Goes on where a play was paused; none if there is none.
    pub(crate) fn resume(&mut self, now: Time) -> Option<Started> {
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

    pub(crate) fn pause(&mut self, now: Time) {
        if self.is_playing() {
            self.paused = Some(now);
            self.streams.iter_mut().for_each(Stream::cease);
        }
    }

    /// The frames to be read next, at most once until they are supplied.
    pub(crate) fn wanted(&mut self) -> Option<Wanted> {
        let play = self.playing.as_mut()?;
        play.wanted(&self.stored, self.play)
    }

    /// Takes the frames that were read; none of them if they cannot be read.
    pub(crate) fn supply(&mut self, batch: Option<Batch>) {
        match (batch, &mut self.playing) {
            (Some(batch), Some(play)) if batch.play == self.play => play.supply(batch),
            (Some(_), _) => {}
            (None, _) => self.finish(End::Changed),
        }
    }

    /// Takes an RTCP datagram of the client; true if it reports about one of the streams.
    pub(crate) fn on_rtcp(&mut self, now: Time, bytes: &[u8]) -> bool {
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
    pub(crate) fn on_report(&mut self, now: Time, block: &ReportBlock) -> bool {
        let Some(stream) = self.streams.iter_mut().find(|stream| stream.ssrc == block.ssrc) else { return false };
        stream.on_report(now, block);
        true
    }

    /// The end of the play, once.
    pub(crate) fn poll_end(&mut self) -> Option<End> {
        self.ended.take()
    }

    /// The time of the next packet; none while nothing plays or the next frame is being read.
    pub(crate) fn poll_timeout(&self) -> Option<Time> {
        let play = self.playing.as_ref().filter(|_| self.paused.is_none())?;
        let report = self.streams.iter().map(Stream::next_report).min()?;
        let media = play.next_packet().or_else(|| play.goodbye());
        Some(media.map_or(report, |media| media.min(report)))
    }

    /// Writes the next packet that is due.
    pub(crate) fn poll_transmit(&mut self, now: Time, buf: &mut [u8]) -> Option<Transmit> {
        if !self.is_playing() {
            return None;
        }
        if let Some(nth) = self.streams.iter().position(|stream| stream.next_report() <= now) {
            if let Some(cause) = self.streams[nth].verdict(now) {
                self.finish(End::Breaker(cause));
                return None;
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

    fn report(&mut self, now: Time, nth: usize, is_end: bool, buf: &mut [u8]) -> Option<Transmit> {
        let since = self.playing.as_ref()?.since;
        let len = self.streams[nth].report(now, since, is_end, &mut self.rng, buf);
        Some(Transmit { stream: nth, len, frame: None })
    }

    fn media(&mut self, now: Time, buf: &mut [u8]) -> Option<Transmit> {
        let play = self.playing.as_mut()?;
        let from = play.cursor.from();
        let queue = play.due(now + SLACK)?;
        let (due, bytes) = queue.front()?;
        let (due, track) = (*due, self.stored.track(due.track)?);
        let entry: &Frame = track.frames.get(due.place)?;
        if !queue.has_begun() {
            let Ok(payloads) = track.stored(bytes).packetize(PAYLOAD).map(Iterator::collect) else {
                self.finish(End::Changed);
                return None;
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
        Some(Transmit { stream: nth, len, frame })
    }

    fn finish(&mut self, end: End) {
        self.playing = None;
        self.paused = None;
        self.ended = Some(end);
    }

    /// Writes the goodbyes of a play that was broken off.
    pub(crate) fn goodbye(&mut self, now: Time, nth: usize, buf: &mut [u8]) -> Option<usize> {
        let stream = self.streams.get_mut(nth)?;
        Some(stream.report(now, now, true, &mut self.rng, buf))
    }
}

#[cfg(test)]
mod tests;
