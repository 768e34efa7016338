//! The RTP stream of one track.

use thalweg_core::time::{Span, Time};
use thalweg_core::wire::payload::{Depacketizer, Frame, Packet};
use thalweg_core::wire::rtcp::{self, Compound, Report, Source, Writer};
use thalweg_core::wire::rtp;
use thalweg_core::wire::sequence::nearest;
use thalweg_rtsp::client::RtpInfo;

use super::reception::Reception;
use crate::source::MAX_UNIT;
use crate::tracks::Track;

/// The longest report.
const REPORT: usize = 256;
/// The name of this receiver (RFC 3550 §6.5.1); nothing is said about the user.
const CNAME: &[u8] = b"thalweg";

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
    reception: Reception,
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
            reception: Reception::default(),
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
        let (_, after_loss) = self.reception.count(now, &packet.header, self.track.clock_rate);
        let base = *self.base.get_or_insert(extended(timestamp));
        let packet = Packet { timestamp, marker, after_loss, payload: packet.payload };
        let mut deliver = self.timed(base, deliver);
        // A malformed payload has damaged its frame alone.
        let _ = self.depacketizer.push(packet, &mut deliver);
    }

    /// Takes an RTCP packet.
    pub(super) fn handle_rtcp(&mut self, now: Time, bytes: &[u8]) {
        let Ok(compound) = Compound::parse(bytes) else { return };
        for frame in compound.frames() {
            match rtcp::Packet::parse(frame) {
                Ok(rtcp::Packet::Report(Report { sender: Some(info), .. })) => {
                    self.reception.on_sender_report(now, &info);
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
        let block = self.reception.block(now, self.ssrc?)?;
        let mut buf = [0; REPORT];
        let mut writer = Writer::new(&mut buf);
        writer.push(&Report { ssrc: own, sender: None, raw_blocks: &[block.emit()] }).ok()?;
        writer.push(&Source { ssrc: own, cname: CNAME }).ok()?;
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

    pub(super) fn counts(&self) -> (u64, u64) {
        self.reception.counts()
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
