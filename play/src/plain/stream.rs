//! The RTP stream of one track.

use thalweg_core::session::rtp::{Inbound, cname};
use thalweg_core::time::{Span, Time};
use thalweg_core::wire::payload::{Depacketizer, Frame, Packet};
use thalweg_core::wire::rtcp::{self, Compound, Report, Source, Writer};
use thalweg_core::wire::rtp;
use thalweg_core::wire::sequence::{Unwrapper, nearest};
use thalweg_rtsp::client::RtpInfo;

use crate::source::MAX_UNIT;
use crate::tracks::Track;

/// The longest report.
const REPORT: usize = 256;
/// The cycle of sequence numbers with which [`Unwrapper`] begins; in a report they begin with none.
const CYCLE: u64 = 1 << 16;

/// The RTP stream of one track.
#[derive(Debug)]
pub(super) struct Stream {
    track: Track,
    /// The channels of RTP and RTCP.
    channels: (u16, u16),
    /// The media time of the timestamp below.
    start: Span,
    /// The timestamp at the start; that of the first packet if the server names none.
    base: Option<u64>,
    info: RtpInfo,
    ssrc: Option<u32>,
    depacketizer: Depacketizer,
    sequences: Unwrapper<16>,
    /// None before the first packet.
    inbound: Option<Inbound>,
    pub(super) has_ended: bool,
}

impl Stream {
    pub(super) fn new(track: &Track, channels: (u16, u16), start: Span, info: RtpInfo) -> Stream {
        Stream {
            track: track.clone(),
            channels,
            start,
            base: info.timestamp.map(extended),
            info,
            ssrc: None,
            depacketizer: Depacketizer::new(track.format, MAX_UNIT),
            sequences: Unwrapper::default(),
            inbound: None,
            has_ended: false,
        }
    }

    pub(super) fn has_channel(&self, channel: u8) -> bool {
        [self.channels.0, self.channels.1].contains(&channel.into())
    }

    /// Takes an RTP packet, and delivers the access units that it completes with their media times.
    pub(super) fn handle_rtp(&mut self, now: Time, bytes: &[u8], deliver: &mut dyn FnMut(Vec<u8>, Span)) {
        let Ok(packet) = rtp::Packet::parse(bytes) else { return };
        let rtp::Header { payload_type, sequence, timestamp, marker, ssrc } = packet.header;
        if payload_type != self.track.payload_type || *self.ssrc.get_or_insert(ssrc) != ssrc {
            return;
        }
        // Packets of the position before may still arrive after a seek.
        if let Some(first) = self.info.sequence {
            if sequence.wrapping_sub(first) >= 1 << 15 {
                return;
            }
            self.info.sequence = None;
        }
        let after_loss = self.count(now, sequence, timestamp);
        let base = *self.base.get_or_insert(extended(timestamp));
        let packet = Packet { timestamp, marker, after_loss, payload: packet.payload };
        let mut deliver = self.timed(base, deliver);
        // A malformed payload has damaged its frame alone.
        let _ = self.depacketizer.push(packet, &mut deliver);
    }

    /// Counts a packet. Returns true if the one before it has not arrived.
    fn count(&mut self, now: Time, sequence: u16, timestamp: u32) -> bool {
        let highest = self.sequences.highest();
        let number = self.sequences.unwrap(sequence.into());
        let clock_rate = self.track.clock_rate;
        let inbound = self.inbound.get_or_insert_with(|| Inbound::new(clock_rate, number - CYCLE));
        inbound.on_packet(now, timestamp);
        highest.is_some_and(|highest| number != highest + 1)
    }

    /// Takes an RTCP packet.
    pub(super) fn handle_rtcp(&mut self, now: Time, bytes: &[u8]) {
        let Ok(compound) = Compound::parse(bytes) else { return };
        for frame in compound.frames() {
            match rtcp::Packet::parse(frame) {
                Ok(rtcp::Packet::Report(Report { sender: Some(info), .. })) => {
                    if let Some(inbound) = &mut self.inbound {
                        inbound.on_sender_report(now, info.ntp);
                    }
                }
                Ok(rtcp::Packet::Goodbye(goodbye)) => {
                    self.has_ended |= self.ssrc.is_none_or(|ssrc| goodbye.names(ssrc));
                }
                _ => {}
            }
        }
    }

    /// A receiver report and its channel; none before the first packet.
    pub(super) fn report(&mut self, now: Time, own: u32) -> Option<(u8, Vec<u8>)> {
        let highest = self.sequences.highest()? - CYCLE;
        let block = self.inbound.as_mut()?.report(now, self.ssrc?, highest);
        let mut buf = [0; REPORT];
        let mut writer = Writer::new(&mut buf);
        writer.push(&Report { ssrc: own, sender: None, raw_blocks: &[block.emit()] }).ok()?;
        writer.push(&Source { ssrc: own, cname: cname(own).as_bytes() }).ok()?;
        let len = writer.len();
        Some((self.channels.1 as u8, buf[..len].to_vec()))
    }

    /// Delivers a last access unit, if it is whole.
    pub(super) fn finish(&mut self, deliver: &mut dyn FnMut(Vec<u8>, Span)) {
        if let Some(base) = self.base {
            let mut deliver = self.timed(base, deliver);
            self.depacketizer.finish(&mut deliver);
        }
    }

    /// Packets received, and packets that are missing.
    pub(super) fn counts(&self) -> (u64, u64) {
        let both = self.inbound.zip(self.sequences.highest());
        both.map_or((0, 0), |(inbound, highest)| {
            (inbound.received(), inbound.cumulative_lost(highest - CYCLE).max(0) as u64)
        })
    }

    /// Delivery of whole frames with their media times. A damaged one is left out: it would show as an error.
    fn timed<'a>(&self, base: u64, deliver: &'a mut dyn FnMut(Vec<u8>, Span)) -> impl FnMut(Frame) + use<'a> {
        let (start, rate) = (self.start, u64::from(self.track.clock_rate));
        move |frame: Frame| {
            let ticks = nearest::<32>(base, frame.timestamp);
            let time = |ticks: u64| Span::from_secs(1).mul_div(ticks, rate);
            let media = match ticks.checked_sub(base) {
                Some(after) => start + time(after),
                None => start.saturating_sub(time(base - ticks)),
            };
            if frame.is_whole && !frame.data.is_empty() {
                deliver(frame.data, media);
            }
        }
    }
}

/// A timestamp with a cycle before it.
fn extended(timestamp: u32) -> u64 {
    (1 << 32) + u64::from(timestamp)
}

#[cfg(test)]
mod tests {
    use thalweg_core::wire::rtcp::ReportBlock;
    use thalweg_core::wire::sdp::stored::Presentation;

    use super::*;
    use crate::tracks::Tracks;

    /// RFC 3550 A.3.
    #[test]
    fn report_counts_across_the_wrap_of_sequence_numbers() {
        let text = "v=0\r\ns=-\r\nm=audio 0 RTP/AVP 14\r\n";
        let tracks = Tracks::choose(&Presentation::parse(text).expect("a description")).expect("tracks");
        let mut stream = Stream::new(&tracks.tracks[0], (0, 1), Span::ZERO, RtpInfo::default());
        let at = |n: u16| Time::ZERO + Span::from_millis(20 * u64::from(n));
        assert_eq!(stream.report(at(0), 9), None, "nothing has arrived");
        // 20 ms are 1800 ticks of 90 kHz. Two of ten are lost.
        for n in (0..10).filter(|n| ![4, 7].contains(n)) {
            let (sequence, timestamp) = (65_533u16.wrapping_add(n), 1800 * u32::from(n));
            let header = rtp::Header { marker: true, payload_type: 14, sequence, timestamp, ssrc: 5 };
            let mut bytes = [0; 64];
            assert_eq!(header.emit(&[], &mut bytes), rtp::HEADER_LEN);
            stream.handle_rtp(at(n), &bytes, &mut |_, _| {});
        }
        let (channel, report) = stream.report(at(10), 9).expect("a report");
        let block =
            Compound::parse(&report).expect("RTCP").frames().find_map(|frame| match rtcp::Packet::parse(frame) {
                Ok(rtcp::Packet::Report(Report { ssrc: 9, raw_blocks, .. })) => {
                    raw_blocks.first().map(ReportBlock::parse)
                }
                _ => None,
            });
        let block = block.expect("a block");
        // 2/10 of 256; the extended number is one cycle and 6.
        assert_eq!((channel, block.ssrc, block.fraction_lost, block.cumulative_lost), (1, 5, 51, 2));
        assert_eq!((block.highest, block.jitter), (65_536 + 6, 0));
        assert_eq!(stream.counts(), (8, 2));
    }
}
