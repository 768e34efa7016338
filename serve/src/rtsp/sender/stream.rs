//! The RTP stream of one track: headers, counts, reports.

use thalweg_core::law::breaker::{Breaker, Cause, Config, Report as Measured};
use thalweg_core::rng::Rng;
use thalweg_core::time::{Span, Time};
use thalweg_core::units::Bytes;
use thalweg_core::wire::ntp::{NtpShort, NtpTime};
use thalweg_core::wire::rtcp::{Goodbye, Report, ReportBlock, SenderInfo, Source, Writer};
use thalweg_core::wire::rtp::Header;

use crate::catalog::frames::Track;
use crate::rtsp::describe::payload_type;
use crate::rtsp::transport::Delivery;

/// The mean interval of sender reports in seconds (RFC 3550 §6.2).
const REPORT_INTERVAL: f64 = 5.0;
/// Bytes of UDP and IPv4 headers, which the breaker counts.
const LOWER_HEADERS: u64 = 28;

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
    packets: u32,
    octets: u32,
    next_report: Time,
    /// Breaks datagrams off if the path does not carry them. A connection of TCP has its own control.
    breaker: Option<Breaker>,
}

impl Stream {
    pub(crate) fn new(number: usize, track: &Track, delivery: Delivery, rng: &mut Rng) -> Stream {
        let breaker = matches!(delivery, Delivery::Udp { .. }).then(|| Breaker::new(breaker_config(track)));
        let offset = rng.u32();
        Stream {
            track: number,
            delivery,
            ssrc: rng.u32(),
            payload_type: payload_type(number, track),
            clock: track.clock,
            timescale: track.timescale.max(1),
            sequence: rng.u32() as u16,
            offset,
            latest: offset,
            packets: 0,
            octets: 0,
            next_report: Time::ZERO,
            breaker,
        }
    }

    /// Begins at another position: timestamps go on behind the latest one, since receivers take a step back for a
    /// wrapped counter. A report is due at once, for a player to relate its tracks.
    pub(crate) fn begin(&mut self, now: Time) {
        if self.packets > 0 {
            self.offset = self.latest.wrapping_add(self.clock / 10);
        }
        self.next_report = now;
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
        self.packets = self.packets.wrapping_add(1);
        self.octets = self.octets.wrapping_add(octets as u32);
        if (timestamp.wrapping_sub(self.latest) as i32) > 0 {
            self.latest = timestamp;
        }
        if let Some(breaker) = &mut self.breaker {
            breaker.on_sent(now, Bytes(octets as u64 + Header::len(&[]) as u64 + LOWER_HEADERS));
        }
        header
    }

    /// The time of the next sender report.
    pub(crate) fn next_report(&self) -> Time {
        self.next_report
    }

    /// Writes a sender report with the name of the source, and a goodbye if the stream ends; returns the length.
    pub(crate) fn report(&mut self, now: Time, since: Time, is_end: bool, rng: &mut Rng, buf: &mut [u8]) -> usize {
        // Reports of many sessions must not fall together: the interval is spread from a half to one and a half.
        self.next_report = now + Span::from_secs_f64(REPORT_INTERVAL * (0.5 + rng.unit()));
        let rtp = self.timestamp_after(now.since(since));
        let sender = SenderInfo { ntp: NtpTime::from(now), rtp, packets: self.packets, octets: self.octets };
        let report = Report { ssrc: self.ssrc, sender: Some(sender), raw_blocks: &[] };
        let cname = format!("{:08x}", self.ssrc);
        let mut writer = Writer::new(buf);
        // Ninety bytes fit every datagram.
        let _ = writer.push(&report);
        let _ = writer.push(&Source { ssrc: self.ssrc, cname: cname.as_bytes() });
        if is_end {
            let _ = writer.push(&Goodbye { sources: &[self.ssrc.to_be_bytes()], reason: b"" });
        }
        writer.len()
    }

    /// Takes a receiver's report about this stream.
    pub(crate) fn on_report(&mut self, now: Time, block: &ReportBlock) {
        let Some(breaker) = &mut self.breaker else { return };
        let rtt = match block.last_report {
            NtpShort(0) => Span::ZERO,
            last => NtpShort::from(now).since(last).to_span().saturating_sub(block.delay.to_span()),
        };
        let fraction_lost = f64::from(block.fraction_lost) / 256.0;
        breaker.on_report(now, &Measured { highest: block.highest.into(), fraction_lost, rtt });
    }

    /// The reason that the stream must end (RFC 8083).
    pub(crate) fn verdict(&self, now: Time) -> Option<Cause> {
        self.breaker.as_ref()?.verdict(now)
    }

    /// Records that nothing is sent for a while, so that no report is missed.
    pub(crate) fn cease(&mut self) {
        if let Some(breaker) = &mut self.breaker {
            breaker.cease();
        }
    }
}

/// Intervals of frames and of groups of pictures, which the breaker depends on.
fn breaker_config(track: &Track) -> Config {
    let frames = track.frames.len().max(1) as u64;
    let groups = track.frames.iter().filter(|frame| frame.is_random_access()).count().max(1) as u64;
    let g = u32::try_from(frames / groups).unwrap_or(u32::MAX).max(1);
    Config { tf: track.length() / frames, g, ..Config::default() }
}
