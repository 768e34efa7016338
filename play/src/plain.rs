//! Plain reception: RTP within the RTSP connection, each track to access units with their times.

mod order;
mod stream;

use thalweg_core::rng::Rng;
use thalweg_core::session::rtp::report_interval;
use thalweg_core::time::{Span, Time};
use thalweg_core::wire::rtp::is_rtcp;
use thalweg_rtsp::client::Playing;
use thalweg_rtsp::transport::Transport;

use self::order::Interleave;
use self::stream::Stream;
use crate::tracks::{Track, Tracks, Unit};

/// The time without a packet after which a video that is over has ended: not all servers say goodbye.
const SILENCE: Span = Span::from_secs(3);
/// The time before the end of the range within which its last access unit begins.
const LAST: Span = Span::from_secs(1);

/// A plain session from one PLAY to the next.
#[derive(Debug)]
pub(crate) struct Plain {
    streams: Vec<Stream>,
    order: Interleave,
    ssrc: u32,
    next_report: Time,
    rng: Rng,
    end: Option<Span>,
    heard: Time,
    pub(crate) is_paused: bool,
}

impl Plain {
    /// Reception after a PLAY. `transports` are those of the tracks, in their order.
    pub(crate) fn new(
        now: Time,
        tracks: &Tracks,
        transports: &[(usize, Transport)],
        playing: &Playing,
        mut rng: Rng,
    ) -> Plain {
        let start = playing.range.start.unwrap_or(Span::ZERO);
        let stream = |((track, (_, transport)), nth): ((&_, &(usize, Transport)), usize)| {
            let channels = transport.interleaved.unwrap_or_default();
            let info = playing.info.get(nth).copied().unwrap_or_default();
            Stream::new(track, channels, start, info)
        };
        let streams: Vec<Stream> = tracks.tracks.iter().zip(transports).zip(0..).map(stream).collect();
        Plain {
            order: Interleave::new(tracks.tracks.iter().map(Track::is_video)),
            streams,
            ssrc: rng.u32(),
            next_report: now + report_interval(&mut rng),
            rng,
            end: playing.range.end.or(tracks.duration),
            heard: now,
            is_paused: false,
        }
    }

    /// Takes a packet of a channel.
    pub(crate) fn handle_packet(&mut self, now: Time, channel: u8, bytes: &[u8]) {
        self.heard = now;
        let order = &mut self.order;
        for (track, stream) in self.streams.iter_mut().enumerate() {
            // Some servers mix the two up; the type is in the packet (RFC 5761 §4).
            if !stream.has_channel(channel) {
                continue;
            }
            if is_rtcp(bytes) {
                stream.handle_rtcp(now, bytes);
            } else {
                stream.handle_rtp(now, bytes, &mut |data, pts| order.push(track, data, pts));
            }
        }
    }

    /// The next access unit: of all tracks, in the order of decoding.
    pub(crate) fn poll_unit(&mut self) -> Option<Unit> {
        self.order.poll()
    }

    /// The receiver reports that are due, with their channels.
    pub(crate) fn reports(&mut self, now: Time) -> Vec<(u8, Vec<u8>)> {
        if now < self.next_report {
            return Vec::new();
        }
        self.next_report = now + report_interval(&mut self.rng);
        let ssrc = self.ssrc;
        self.streams.iter_mut().filter_map(|stream| stream.report(now, ssrc)).collect()
    }

    /// The time of the next report, or at which the end is looked for.
    pub(crate) fn next(&self) -> Time {
        self.next_report.min(self.heard + SILENCE)
    }

    /// True once nothing more will arrive.
    pub(crate) fn is_over(&self, now: Time) -> bool {
        let is_silent = !self.is_paused && now >= self.heard + SILENCE;
        let is_at_end = self.end.zip(self.order.latest()).is_some_and(|(end, latest)| latest + LAST >= end);
        self.streams.iter().all(|stream| stream.has_ended) || is_silent && is_at_end
    }

    /// Releases the access units that wait for others.
    pub(crate) fn finish(&mut self) {
        let order = &mut self.order;
        for (track, stream) in self.streams.iter_mut().enumerate() {
            stream.finish(&mut |data, pts| order.push(track, data, pts));
        }
        self.order.finish();
    }

    /// Packets received, and packets that are missing.
    pub(crate) fn counts(&self) -> (u64, u64) {
        let counts = self.streams.iter().map(Stream::counts);
        counts.fold((0, 0), |(received, lost), (more, also)| (received + more, lost + also))
    }
}
