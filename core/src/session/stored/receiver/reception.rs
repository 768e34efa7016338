//! RTCP receiver reports on the tracks (RFC 3550 §6.4), beside the flow control messages.

use crate::rng::Rng;
use crate::session::rtp::{Inbound, cname, report_interval};
use crate::session::stored::Track;
use crate::time::Time;
use crate::wire::ntp::NtpTime;
use crate::wire::rtcp::{Full, Report, ReportBlock, Source, Writer};
use crate::wire::rtp::Header;

/// The RTP stream of a track, once a packet of it arrived.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Stream {
    ssrc: u32,
    highest: u64,
    inbound: Inbound,
}

/// The streams, and the time of the next report on them.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Reception {
    streams: Vec<Option<Stream>>,
    next: Time,
    rng: Rng,
}

impl Reception {
    pub(super) fn new(tracks: usize, start: Time, mut rng: Rng) -> Reception {
        Reception { streams: vec![None; tracks], next: start + report_interval(&mut rng), rng }
    }

    /// Takes note of a packet of `track` with its extended sequence number.
    pub(super) fn on_packet(&mut self, now: Time, track: usize, of: Track, header: &Header, number: u64) {
        let Header { ssrc, timestamp, .. } = *header;
        let new = || Stream { ssrc, highest: number, inbound: Inbound::new(of.clock_rate, number) };
        let stream = self.streams[track].get_or_insert_with(new);
        stream.highest = stream.highest.max(number);
        stream.inbound.on_packet(now, timestamp);
    }

    /// The SSRC of a track.
    pub(super) fn ssrc(&self, track: usize) -> Option<u32> {
        self.streams[track].map(|stream| stream.ssrc)
    }

    /// True if `is_named` holds for the SSRC of a track.
    pub(super) fn any(&self, is_named: impl Fn(u32) -> bool) -> bool {
        self.streams.iter().flatten().any(|stream| is_named(stream.ssrc))
    }

    pub(super) fn on_sender_report(&mut self, now: Time, ssrc: u32, ntp: NtpTime) {
        if let Some(stream) = self.streams.iter_mut().flatten().find(|stream| stream.ssrc == ssrc) {
            stream.inbound.on_sender_report(now, ntp);
        }
    }

    /// Writes the report that is due, if any.
    ///
    /// # Errors
    /// The buffer has no space for it.
    pub(super) fn write(&mut self, now: Time, ssrc: u32, writer: &mut Writer<'_>) -> Result<(), Full> {
        if now < self.next {
            return Ok(());
        }
        self.next = now + report_interval(&mut self.rng);
        let block = |stream: &mut Stream| stream.inbound.report(now, stream.ssrc, stream.highest).emit();
        let blocks: Vec<[u8; ReportBlock::LEN]> = self.streams.iter_mut().flatten().map(block).collect();
        writer.push(&Report { ssrc, sender: None, raw_blocks: &blocks })?;
        writer.push(&Source { ssrc, cname: cname(ssrc).as_bytes() })
    }
}
