//! The RTP stream of one track: headers, counts, reports.

use thalweg_core::law::breaker::Config;
use thalweg_core::rng::Rng;
use thalweg_core::session::rtp::{Outbound, cname};
use thalweg_core::time::{Span, Time};
use thalweg_core::wire::rtcp::{Goodbye, Writer};
use thalweg_core::wire::rtp::Header;

use crate::catalog::frames::Track;
use crate::rtsp::describe::payload_type;
use crate::rtsp::transport::Delivery;

/// The RTP stream of one track.
#[derive(Debug)]
pub(crate) struct Stream {
    /// The number of the track.
    pub(crate) track: usize,
    pub(crate) delivery: Delivery,
    pub(crate) ssrc: u32,
    payload_type: u8,
    clock: u32,
    timescale: u32,
    sequence: u16,
    /// The timestamp at the start of the present play.
    offset: u32,
    /// The latest timestamp of all.
    latest: u32,
    pub(crate) outbound: Outbound,
}

impl Stream {
    pub(crate) fn new(number: usize, track: &Track, delivery: Delivery, rng: &mut Rng) -> Stream {
        // Breakers end datagrams if the path does not carry them. A connection of TCP has its own control.
        let breaker = matches!(delivery, Delivery::Udp { .. }).then(Config::default);
        let (offset, ssrc) = (rng.u32(), rng.u32());
        Stream {
            track: number,
            delivery,
            ssrc,
            payload_type: payload_type(number, track),
            clock: track.clock,
            timescale: track.timescale.max(1),
            sequence: rng.u32() as u16,
            offset,
            latest: offset,
            outbound: Outbound::new(ssrc, breaker),
        }
    }

    /// Begins at another position: timestamps go on behind the latest one, since receivers take a step back for a
    /// wrapped counter. A report is due at once, for a player to relate its tracks.
    pub(crate) fn begin(&mut self, now: Time) {
        if self.outbound.packets() > 0 {
            self.offset = self.latest.wrapping_add(self.clock / 10);
        }
        self.outbound.report_at(now);
    }

    /// The number of the next packet, for `RTP-Info`.
    pub(crate) fn next_sequence(&self) -> u16 {
        self.sequence
    }

    /// The timestamp of the instant `span` after the start of the present play.
    pub(crate) fn timestamp_after(&self, span: Span) -> u32 {
        self.offset.wrapping_add((u128::from(span.as_nanos()) * u128::from(self.clock) / 1_000_000_000) as u32)
    }

    /// The timestamp of a frame displayed at `ticks` of the track, if the present play starts at `from`.
    pub(crate) fn timestamp(&self, ticks: i64, from: Span) -> u32 {
        let at = i128::from(ticks) * i128::from(self.clock) / i128::from(self.timescale);
        let start = i128::from(from.as_nanos()) * i128::from(self.clock) / 1_000_000_000;
        self.offset.wrapping_add((at - start) as u32)
    }

    /// The header of the next packet, whose payload has `octets` bytes.
    pub(crate) fn header(&mut self, now: Time, timestamp: u32, marker: bool, octets: usize) -> Header {
        let Stream { sequence, payload_type, ssrc, .. } = *self;
        let header = Header { marker, payload_type, sequence, timestamp, ssrc };
        self.sequence = sequence.wrapping_add(1);
        if (timestamp.wrapping_sub(self.latest) as i32) > 0 {
            self.latest = timestamp;
        }
        self.outbound.on_sent(now, octets);
        header
    }

    /// Writes a sender report with the name of the source, and a goodbye if the stream ends; returns the length.
    pub(crate) fn report(&mut self, now: Time, since: Time, is_end: bool, rng: &mut Rng, buf: &mut [u8]) -> usize {
        let timestamp = self.timestamp_after(now.since(since));
        let mut writer = Writer::new(buf);
        // Deviation(RFC 3550 §6.5.1): each stream has a name of its own. With one name for both, GStreamer 1.22 sometimes loses
        // a picture when it aligns the streams; players align them by RTP-Info (RFC 2326 §12.33). A hundred bytes fit every
        // datagram.
        let _ = self.outbound.write_report(now, timestamp, &cname(self.ssrc), rng, &mut writer);
        if is_end {
            let _ = writer.push(&Goodbye { sources: &[self.ssrc.to_be_bytes()], reason: b"" });
        }
        writer.len()
    }
}
